package plan

import (
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// WalkChecks calls yield with the vertices by level and the chosen edges of each
// match of pl, by the checks view alone.
func WalkChecks(pl *Plan, yield func(m []uint32, e []uint64) bool) {
	x := newMatcher(pl)
	x.yield = func() bool { return yield(x.m, x.e) }
	x.run(0)
}

// Alone is what a level asks of a vertex by itself.
func (pl *Plan) Alone(l int, c uint32) bool { return pl.Levels[l].alone(pl, c) }

// OrbitsOf returns, for each level of an order, the orbit of its vertex under
// the automorphisms that fix those before: as plans compute it, and by
// stabilisers one after another.
func OrbitsOf(g *graph.Graph, p *pattern.Pattern, order []int) (got, want []uint32) {
	b, err := bind(newTables(g), p)
	if err != nil {
		panic(err)
	}
	group := p.Automorphisms()
	for _, v := range order {
		want = append(want, set(group.OrbitUnder(nil, v)))
		group = group.Stabilizer([]int{v})
	}
	return b.orbits(order), want
}

// Walk estimates the levels of pl by n random walks.
func Walk(pl *Plan, seed uint64, n int) { pl.walk(&Options{Seed: seed}, n) }
