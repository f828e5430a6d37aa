package plan

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
)

// countTests counts the candidates that a search by pl tests, one by one.
func countTests(pl *Plan) (sum float64) {
	w := newWalker(pl, 1)
	tail := len(pl.Levels) - pl.Tail.K
	var down func(l int)
	down = func(l int) {
		if l == tail-1 {
			for _, mask := range w.blocks {
				var levels []int
				for _, g := range members(mask) {
					levels = append(levels, pl.Tail.Groups[g].Levels[0])
				}
				sum += w.tests(levels, tail)
			}
			return
		}
		sum += w.tests([]int{l + 1}, tail)
		if l+1 == len(pl.Levels)-1 {
			return // whoever passes is a match
		}
		list, _ := pl.smallest(l+1, w.m, &w.list)
		for _, v := range list {
			if pl.valid(l+1, v, w.m, w.e) {
				w.m[l+1] = v
				down(l + 1)
			}
		}
	}
	for v := range uint32(pl.Graph.NumVertices()) {
		if pl.valid(0, v, w.m, w.e) {
			w.m[0] = v
			down(0)
		}
	}
	return sum
}

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
			pl, err := Compile(g, ps[0], Options{Root: NoRoot, Method: "nest", Order: order})
			if err != nil {
				t.Fatal(err)
			}
			tests[order] = countTests(pl)
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
	tests := func(pl *Plan) (sum float64) {
		const walks = 100_000
		w := newWalker(pl, 99)
		for range walks {
			sum += w.tested() / walks
		}
		return sum
	}
	for _, name := range []string{"gmatch:P5", "gmatch:P7"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := func(order string, seed uint64) *Plan {
			pl, err := Compile(g, ps[0], Options{Root: NoRoot, Method: "nest", Order: order, Seed: seed, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			return pl
		}
		ri := tests(plan("ri", 0))
		seen := map[string]bool{}
		for seed := range uint64(12) {
			pl := plan("tests", seed)
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
