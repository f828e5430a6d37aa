package cost_test

import (
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestLongConditions counts how often walks evaluate a condition: as often as before where it is short, and for one walk
// where it has 100,000 comparisons.
func TestLongConditions(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 2000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse("MATCH (a)--(b)--(c) WHERE id(a) + id(b) < id(c) OR id(a) = 7")
	if err != nil {
		t.Fatal(err)
	}
	for _, walk := range []struct {
		name string
		run  func(pl *plan.Plan)
	}{
		{"Walk", func(pl *plan.Plan) { cost.Walk(pl, &plan.Options{}, 120) }},
		{"Tests", func(pl *plan.Plan) { cost.Tests(pl, &plan.Options{}, 1, 120) }},
	} {
		evaluated := func(comparisons int) int64 {
			pl, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: "nest", Order: "ri"})
			if err != nil {
				t.Fatal(err)
			}
			var n atomic.Int64
			found := false
			for l := range pl.Levels {
				for i := range pl.Levels[l].Checks {
					c := &pl.Levels[l].Checks[i]
					if c.Cost != 8 {
						t.Errorf("%s has a cost of %d", c.Text, c.Cost)
					}
					eval := c.Eval
					c.Eval = func(m []uint32, e []uint64) bool { n.Add(1); return eval(m, e) }
					c.Cost, found = max(c.Cost, comparisons), true
				}
			}
			if !found {
				t.Fatal("the plan has no check")
			}
			walk.run(pl)
			return n.Load()
		}
		if short, long := evaluated(0), evaluated(100_000); short < 500 || long < 1 || long > 32 {
			t.Errorf("%s: %d evaluations of a short condition, %d of one with 100,000 comparisons", walk.name, short, long)
		}
	}
}
