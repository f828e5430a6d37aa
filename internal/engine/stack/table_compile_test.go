package stack

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestTableCompilesForGPUs compiles the search over a table, with and without
// memory for all sets.
func TestTableCompilesForGPUs(t *testing.T) {
	g := rmat(t, 5, 100)
	for _, roomy := range []bool{false, true} {
		ps, err := pattern.ByName("gmatch:P5")
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest"})
		if err != nil {
			t.Fatal(err)
		}
		s, _, _, err := parse(engine.Options{Opt: map[string]string{"stack.program": "table"}})
		if err != nil {
			t.Fatal(err)
		}
		code, err := lower.Table(p, lower.Options{Roomy: roomy})
		if err != nil {
			t.Fatal(err)
		}
		r := &search{switches: s, code: code}
		check.CompileCheck(t, r.source())
	}
}
