package cost_test

import (
	"math"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// diamonds are plans for a diamond: the two triangles of an edge, orders that begin elsewhere, and one that visits each embedding.
func diamonds(t *testing.T, n uint64) []*plan.Plan {
	t.Helper()
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "ba", N: n, K: 12}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("diamond")
	if err != nil {
		t.Fatal(err)
	}
	var plans []*plan.Plan
	for i, order := range [][]int{{0, 2, 1, 3}, {1, 0, 2, 3}, {0, 1, 2, 3}, {1, 0, 3, 2}} {
		pl, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "nest", Order: "given", Given: order, NoTail: i == 3, NoRestrictions: i == 3})
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, pl)
	}
	return plans
}

// TestCompare: walks that end before the tail tell the same costs as whole ones, few walks leave out what is clearly longer, and only where
// walks take much of the time of the search.
func TestCompare(t *testing.T) {
	for n, long := range map[uint64]bool{3000: false, 200_000: true} {
		plans := diamonds(t, n)
		o := &plan.Options{Seed: 5, Threads: 2}
		truth := make([]float64, len(plans))
		least := 0
		for i, pl := range plans {
			if truth[i] = cost.Walk(pl, o, 20_000); truth[i] < truth[least] {
				least = i
			}
		}
		if truth[3] < 16*truth[least] {
			t.Fatalf("%d vertices: the costs are %.3g", n, truth)
		}
		walks := cost.Compare(plans, o)
		for i, w := range walks {
			dropped := truth[i] > 16*truth[least] && !long
			switch {
			case (w == nil) != dropped:
				t.Errorf("%d vertices: plan %d of cost %.3g beside %.3g is left out: %t", n, i, truth[i], truth[least], w == nil)
			case w != nil && math.Abs(math.Log(w.Cost/truth[i])) > math.Log(2):
				t.Errorf("%d vertices: plan %d has the cost %.3g, want about %.3g", n, i, w.Cost, truth[i])
			}
		}
		best := walks[least]
		made, before := best.Made, best.Cost
		last := len(best.Plan.Levels) - 1
		whole := best.Plan.Levels[last].Estimate
		best.EstimateMore()
		if best.Made <= made || long && best.Made < made+200 {
			t.Errorf("%d vertices: %d walks, and then %d", n, made, best.Made)
		}
		if got := best.Plan.Levels[last].Estimate; got == whole || got <= 0 || math.Abs(math.Log(best.Cost/before)) > math.Log(1.5) {
			t.Errorf("%d vertices: %.3g matches, and the cost %.3g after %.3g", n, got, best.Cost, before)
		}
		total := 0.0
		for _, lv := range best.Plan.Levels {
			total += lv.Cost
		}
		if math.Abs(total-best.Cost) > 1e-6*total {
			t.Errorf("%d vertices: the levels cost %.6g, the plan %.6g", n, total, best.Cost)
		}
	}
}

// TestWalksContinue: walks in two rounds come as close to the truth as in one.
func TestWalksContinue(t *testing.T) {
	pl := diamonds(t, 3000)[0]
	o := &plan.Options{Seed: 2, Threads: 2}
	want := cost.Walk(pl, o, 40_000)
	matches := pl.Levels[3].Estimate
	s := cost.NewWalks(pl, o)
	s.Make(10_000)
	if got := s.Make(30_000); s.Made != 40_000 || math.Abs(got/want-1) > 0.03 || math.Abs(pl.Levels[3].Estimate/matches-1) > 0.05 {
		t.Errorf("%d walks: the cost %.4g and %.4g matches, want %.4g and %.4g", s.Made, got, pl.Levels[3].Estimate, want, matches)
	}
}
