package fine_test

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestSiblings visits all matches of patterns of five and six vertices, whose last
// levels are tested for siblings together, and compares with the host engine.
func TestSiblings(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 6, M: 260, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		if !long.Asked() {
			t.Log("without WEFT_LONG: q3 alone, since each pattern is compiled")
		}
		for i, c := range []struct {
			name    string
			induced bool
		}{{"stmatch:q3", true}, {"stmatch:q1", false}, {"stmatch:q11", true}, {"star(4)", false}} {
			if !long.Asked() && i > 0 {
				break
			}
			ps, err := pattern.ByName(c.name)
			if err != nil {
				t.Fatal(err)
			}
			ps[0].Induced = c.induced
			p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot, NoTail: true})
			if err != nil {
				t.Fatal(err)
			}
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			for _, opt := range []map[string]string{
				{"fine.siblings": "on", "fine.pool": "100"},
				{"fine.siblings": "on", "fine.pool": "0", "fine.lookup": "hash"},
			} {
				got, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: opt}, engine.Goal{})
				what := fmt.Sprintf("%s, induced %v, %v", c.name, c.induced, opt)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if got.Matches != want.Matches || !got.Complete {
					t.Errorf("%s: %v (complete: %v), the host says %v", what, got.Matches, got.Complete, want.Matches)
				}
			}
		}
	})
}
