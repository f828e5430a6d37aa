package order

import "math/bits"

// greedy builds a connected order. It begins with the vertex of greatest first score, or with
// root if that is not negative. It then always takes the vertex of greatest score by next among
// the neighbours of the placed vertices (near is the placed vertices and these neighbours). A
// later function of next decides among vertices that the earlier ones leave equal. Ties go to
// the smaller index, so that orders are reproducible. A further component begins as the first
// did.
func (b *Rules) greedy(root int, first func(v int) float64, next ...func(placed, near uint32, v int) float64) []int {
	order := make([]int, 0, b.N)
	var placed, border uint32
	for len(order) < b.N {
		from := border &^ placed
		switch {
		case len(order) == 0 && root >= 0:
			from = 1 << root
		case from == 0:
			from = greatest(^placed&b.all(), first)
		default:
			for i := 0; i < len(next) && from&(from-1) != 0; i++ {
				from = greatest(from, func(v int) float64 { return next[i](placed, border|placed, v) })
			}
		}
		best := bits.TrailingZeros32(from)
		order = append(order, best)
		placed |= 1 << best
		border |= b.Near[best]
	}
	return order
}

// greatest returns the vertices of set that rate gives the greatest number.
func greatest(set uint32, rate func(v int) float64) (best uint32) {
	var top float64
	for ; set != 0; set &= set - 1 {
		v := bits.TrailingZeros32(set)
		switch s := rate(v); {
		case best == 0 || s > top:
			best, top = 1<<v, s
		case s == top:
			best |= 1 << v
		}
	}
	return best
}

// all is the set of all vertices of the pattern.
func (b *Rules) all() uint32 { return uint32(1<<b.N - 1) }

// degree is the number of neighbours of v in the pattern.
func (b *Rules) degree(v int) int { return bits.OnesCount32(b.Near[v]) }

// connectedOrder reports whether each vertex but those that begin a component
// follows a neighbour.
func (b *Rules) connectedOrder(order []int) bool {
	var placed, border uint32
	for _, v := range order {
		if border>>v&1 == 0 && border&^placed != 0 {
			return false // a component is left unfinished, or v is not its neighbour
		}
		placed |= 1 << v
		border |= b.Near[v]
	}
	return true
}
