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
		func(v int) score { return score{float64(b.degree(v))} },
		func(placed uint32, v int) score {
			var border uint32 // neighbours of placed vertices
			reached := 0
			for m := placed; m != 0; m &= m - 1 {
				u := bits.TrailingZeros32(m)
				border |= b.near[u]
				if b.near[u]&b.near[v]&^placed != 0 {
					reached++
				}
			}
			return score{
				float64(bits.OnesCount32(b.near[v] & placed)),
				float64(reached),
				float64(bits.OnesCount32(b.near[v] &^ placed &^ border)),
			}
		})
	return choice{order: order, name: "ri", why: "RI: always the vertex with the most neighbours before it"}
}
