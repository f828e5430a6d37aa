package papers

import (
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/pattern"
)

// TestExperiments: every experiment has queries that there are, and versions that are compared with earlier ones.
func TestExperiments(t *testing.T) {
	var programs []string
	for _, e := range library.Entries() {
		programs = append(programs, e.Name)
	}
	for _, system := range Systems() {
		all, err := Of(system, nil)
		for i, e := range all {
			if slices.ContainsFunc(all[:i], func(o Experiment) bool { return o.Name == e.Name }) {
				t.Errorf("%s has %s twice", system, e.Name)
			}
		}
		if err != nil || len(all) < 3 {
			t.Errorf("%s: %d experiments, %v", system, len(all), err)
		}
		for _, e := range all {
			for _, q := range e.Queries {
				if _, err := pattern.Lookup(q); !e.Programs && err != nil || e.Programs && !slices.Contains(programs, q) {
					t.Errorf("%s, %s: there is no %s", system, e.Name, q)
				}
			}
			for i, v := range e.Versions {
				if v.Program != "" && !slices.Contains(programs, v.Program) {
					t.Errorf("%s, %s, %s: there is no program %s", system, e.Name, v.Name, v.Program)
				}
				if i > 0 && v.Devices < e.Versions[i-1].Devices {
					t.Errorf("%s, %s, %s is on fewer devices than the one before", system, e.Name, v.Name)
				}
				if v.Than >= i || i == 0 && v.Than != -1 || v.Gains != nil && len(v.Gains) != len(e.Queries) {
					t.Errorf("%s, %s, %s is compared with version %d, %d gains for %d queries", system, e.Name, v.Name, v.Than, len(v.Gains), len(e.Queries))
				}
			}
		}
	}
	if all, err := Of("gmatch", []string{"Table 8"}); err != nil || len(all) != 1 {
		t.Errorf("%d, %v", len(all), err)
	}
	if _, err := Of("gmatch", []string{"Table 9"}); err == nil {
		t.Error("there is a Table 9")
	}
}
