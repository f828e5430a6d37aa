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

// TestBreadth compares the estimate of a search breadth first with the exact work: a row and the list of its last vertex for paths,
// and for a star whose last two leaves are counted together, two lists of its centre.
func TestBreadth(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 300, M: 1500, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	degree := func(v uint32) float64 { return float64(g.Out.Degree(v)) }
	path, star := 0.0, 0.0
	for a := range uint32(g.NumVertices()) {
		for _, b := range g.Out.List(a) {
			path += cost.VisitCost + degree(b)
			star += cost.VisitCost + 2*degree(a)
			for _, c := range g.Out.List(b) {
				if c != a {
					path += cost.VisitCost + degree(c)
				}
			}
		}
	}
	for _, c := range []struct {
		name  string
		pairs bool
		want  float64
	}{{"path(4)", false, path}, {"star(3)", true, star}} {
		ps, err := pattern.ByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		pl, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Embeddings: true, Listing: true, NoTail: true, Method: "nest", Order: "given", Given: []int{0, 1, 2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		if got := cost.Breadth(pl, &plan.Options{}, 1, 50_000, c.pairs); math.Abs(got/c.want-1) > 0.02 {
			t.Errorf("%s: about %.0f, and %.0f exactly", c.name, got, c.want)
		}
	}
}
