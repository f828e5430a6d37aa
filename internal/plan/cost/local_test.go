package cost

import (
	"math"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
)

// TestSurvey: what a survey says of neighbourhoods is exact where it sees every
// arc, and near the truth where it sees one in forty of a graph with hubs.
func TestSurvey(t *testing.T) {
	for _, c := range []struct {
		spec  gen.Spec
		error float64
	}{
		{gen.Spec{Model: "ba", N: 300, K: 3, Seed: 1}, 1e-9},
		{gen.Spec{Model: "rmat", Scale: 12, M: 40_000, Seed: 1}, 0.1},
	} {
		g, err := gen.Generate(t.Context(), c.spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, sides := range [][2]plan.Side{{plan.LowerSide, plan.AllSides}, {plan.AllSides, plan.LowerSide}, {plan.UpperSide, plan.UpperSide}} {
			got, want := NewSurvey(g, g.Handle(g.Out.Lists()), &plan.Options{}).of(sides[0], sides[1]), exactNeighbourhoods(&g.Out, sides[0], sides[1])
			for _, x := range []struct {
				what      string
				got, want float64
			}{
				{"members", got.members, want.members}, {"reads", got.reads, want.reads},
				{"cells", got.cells, want.cells}, {"wedges", got.wedges, want.wedges},
			} {
				if math.Abs(x.got-x.want) > c.error*x.want {
					t.Errorf("%s, sides %v: %s %.0f, want %.0f", c.spec.Model, sides, x.what, x.got, x.want)
				}
			}
		}
	}
}

// exactNeighbourhoods visits every member of every universe.
func exactNeighbourhoods(csr *graph.CSR, inside, outside plan.Side) (n neighbourhoods) {
	for v := range uint32(csr.NumVertices()) {
		var universe []uint32
		for _, u := range csr.List(v) {
			if inside == plan.AllSides || (u < v) == (inside == plan.LowerSide) {
				universe = append(universe, u)
			}
		}
		n.members += float64(len(universe))
		n.cells += float64(len(universe) * ((len(universe) + 63) / 64))
		for _, u := range universe {
			for _, y := range csr.List(u) {
				if y < u {
					n.reads++
				}
				if outside == plan.AllSides || y != v && (y < v) == (outside == plan.LowerSide) {
					n.wedges++
				}
			}
		}
	}
	return n
}

// Lists of hubs are compared by some of their members, others in full.
func TestCommon(t *testing.T) {
	list := func(n, step int) []uint32 {
		l := make([]uint32, n)
		for i := range l {
			l[i] = uint32(i * step)
		}
		return l
	}
	for _, c := range []struct{ n, m, step, want, off int }{
		{looked, looked, 2, looked / 2, 0},
		{100, 1 << 20, 3, 100, 0},
		{1 << 20, 1 << 20, 2, 1 << 19, 1 << 14},
		{1 << 20, 1 << 21, 5, (1<<21 + 4) / 5, 1 << 14},
	} {
		a, b := list(c.n, c.step), list(c.m, 1)
		for range 2 {
			if got := common(a, b); got < c.want-c.off || got > c.want+c.off {
				t.Errorf("lists of %d (each %dth) and %d: %d in common, want %d ± %d", c.n, c.step, c.m, got, c.want, c.off)
			}
			a, b = b, a
		}
	}
}
