package fine_test

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/faulty"
)

// TestFaults lets the device refuse any one call, in a search over the plan's lists and in one
// over a candidate graph. The run has an error and no number, or the right number. Nothing is
// left on the device.
func TestFaults(t *testing.T) {
	g := denseGraph(t)
	ps, err := pattern.ByName("diamond")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]func(n int) *cuda.Faults{
		"alloc":  func(n int) *cuda.Faults { return &cuda.Faults{FailAlloc: n} },
		"launch": func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} },
		"skip":   func(n int) *cuda.Faults { return &cuda.Faults{SkipFrom: n} },
		"gap":    func(n int) *cuda.Faults { return &cuda.Faults{SkipOne: n} },
		"copy":   func(n int) *cuda.Faults { return &cuda.Faults{FailCopy: n} },
		"look":   func(n int) *cuda.Faults { return &cuda.Faults{FailWork: n} },
	}
	for _, index := range []string{"none", "bitmap"} {
		for what, fault := range faults {
			t.Run(fmt.Sprintf("%s with index %s", what, index), func(t *testing.T) {
				failed := 0
				for n := 1; n <= 40; n++ {
					err := faulty.Count(t, fault(n), want.Matches, func(s *session.Session) (engine.Result, error) {
						return engine.Once(t.Context(), fine.New(s), g, p, engine.Options{Opt: map[string]string{"fine.index": index}}, engine.Goal{})
					})
					if err == nil && what == "gap" {
						continue // nothing was lost with that launch
					}
					if err == nil {
						break // there is no n-th call
					}
					failed++
				}
				if failed == 0 {
					t.Error("no call failed")
				}
			})
		}
	}
}
