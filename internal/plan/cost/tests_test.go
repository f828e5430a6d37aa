package cost_test

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestFewerTests counts gMatch's patterns in a graph with hubs: no order tests more
// candidates than RI's, and of P6, where RI leaves the clique for a wedge, there are fewer than half.
func TestFewerTests(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 9, M: 4000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 9; i++ {
		ps, err := pattern.ByName(fmt.Sprintf("gmatch:P%d", i))
		if err != nil {
			t.Fatal(err)
		}
		tests := map[string]float64{}
		for _, order := range []string{"ri", "tests"} {
			pl, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: order})
			if err != nil {
				t.Fatal(err)
			}
			tests[order] = cost.CountTests(pl)
			t.Logf("P%d, %s: %.0f tests in order %v, tail %d", i, order, tests[order], pl.Order, pl.Tail.K)
		}
		if tests["tests"] > tests["ri"] {
			t.Errorf("P%d: %.0f tests, RI has %.0f", i, tests["tests"], tests["ri"])
		}
		if i == 6 && tests["tests"] > tests["ri"]/2 {
			t.Errorf("P%d: %.0f tests are not half of RI's %.0f", i, tests["tests"], tests["ri"])
		}
	}
}

// TestChanceOrders: on a skewed graph, where walks seldom meet the hubs that most
// tests are at, no seed takes an order in place of RI's that tests more.
func TestChanceOrders(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 17, M: 1_280_000, Seed: 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	tests := func(pl *plan.Plan) float64 {
		return cost.Tests(pl, &plan.Options{}, 99, 100_000)
	}
	for _, name := range []string{"gmatch:P5", "gmatch:P7"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		planned := func(order string, seed uint64) *plan.Plan {
			pl, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: order, Seed: seed, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			return pl
		}
		ri := tests(planned("ri", 0))
		seen := map[string]bool{}
		for seed := range uint64(12) {
			pl := planned("tests", seed)
			key := fmt.Sprint(pl.Order, pl.Levels[0].Above, pl.Levels[1].Above, pl.Levels[2].Above)
			if seen[key] {
				continue
			}
			seen[key] = true
			if n := tests(pl); n > 1.1*ri {
				t.Errorf("%s, seed %d: order %v tests %.3g candidates, RI's %.3g", name, seed, pl.Order, n, ri)
			}
		}
	}
}
