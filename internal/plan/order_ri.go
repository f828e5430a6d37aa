package plan

import "math/bits"

// orderRI is the order of RI (Bonnici, Giugno, Pulvirenti, Shasha and Ferro, A
// subgraph isomorphism algorithm and its application to biochemical data, 2013),
// which gMatch uses: begin at a vertex of greatest degree, then take the vertex
// with the most neighbours already placed; among equals the one that reaches the
// most placed vertices through a neighbour not yet placed, and then the one with
// the most neighbours that no placed vertex has. It looks at the pattern only.
func (b *binding) orderRI(o Options) choice {
	order := b.greedy(o.Root,
		func(v int) float64 { return float64(b.degree(v)) },
		func(placed, _ uint32, v int) float64 { return float64(bits.OnesCount32(b.near[v] & placed)) },
		func(placed, _ uint32, v int) float64 {
			var reached uint32
			for m := b.near[v] &^ placed; m != 0; m &= m - 1 {
				reached |= b.near[bits.TrailingZeros32(m)]
			}
			return float64(bits.OnesCount32(reached & placed))
		},
		func(_, near uint32, v int) float64 { return float64(bits.OnesCount32(b.near[v] &^ near)) })
	return choice{order: order, name: "ri", why: "RI: always the vertex with the most neighbours before it"}
}
