package cost_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestLocalOrder: the order for the local method is cheaper, by many more walks
// than it was chosen by, than the one that the cost model takes for the best.
func TestLocalOrder(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 11, M: 40_000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	gained := 0.0
	for _, name := range []string{"stmatch:q3", "stmatch:q6", "stmatch:q14", "stmatch:q15"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		ps[0].Induced = true
		price := func(quick bool) float64 {
			p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1, Quick: quick})
			if err != nil {
				t.Fatal(err)
			}
			cost.Walk(p, &plan.Options{Seed: 7}, 3000)
			return cost.LocalPrice(p, cost.NewSurvey(g, p.Adjs[0].Lists, &plan.Options{}))
		}
		walked, model := price(false), price(true)
		t.Logf("%s: %.2g, by the model %.2g", name, walked, model)
		if walked > 1.2*model {
			t.Errorf("%s: walks chose an order of price %.2g, the model one of %.2g", name, walked, model)
		}
		gained = max(gained, model/walked)
	}
	if gained < 2 {
		t.Errorf("at best %.2g times as cheap", gained)
	}
}
