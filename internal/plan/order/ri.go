package order

import (
	"github.com/weftgraph/weft/internal/plan"
	"math/bits"
)

// orderRI is the order of RI (Bonnici, Giugno, Pulvirenti, Shasha and Ferro, A subgraph
// isomorphism algorithm and its application to biochemical data, 2013), which gMatch uses. It
// begins at a vertex of greatest degree, and then takes the vertex with the most placed
// neighbours. Among equals it takes the one that reaches the most placed vertices through an
// unplaced neighbour, and then the one with the most neighbours that no placed vertex has. It
// looks at the pattern only.
func (b *Rules) orderRI(o plan.Options) Choice {
	order := b.greedy(o.Root,
		func(v int) float64 { return float64(b.degree(v)) },
		func(placed, _ uint32, v int) float64 { return float64(bits.OnesCount32(b.Near[v] & placed)) },
		func(placed, _ uint32, v int) float64 {
			var reached uint32
			for m := b.Near[v] &^ placed; m != 0; m &= m - 1 {
				reached |= b.Near[bits.TrailingZeros32(m)]
			}
			return float64(bits.OnesCount32(reached & placed))
		},
		func(_, near uint32, v int) float64 { return float64(bits.OnesCount32(b.Near[v] &^ near)) })
	return Choice{Order: order, Name: "ri", Why: "RI: always the vertex with the most neighbours before it"}
}
