package plan

import "math/bits"

// score rates a vertex; the greater comes first.
type score [3]float64

func (s *score) above(t *score) bool {
	switch {
	case s[0] != t[0]:
		return s[0] > t[0]
	case s[1] != t[1]:
		return s[1] > t[1]
	}
	return s[2] > t[2]
}

// greedy builds a connected order: the vertex of greatest first score, or root
// if that is not negative, and then always the vertex of greatest next score
// among the neighbours of those placed. Scores compare lexicographically; ties
// go to the smaller index, so that orders are reproducible. A further component
// begins as the first did.
func (b *binding) greedy(root int, first func(v int) score, next func(placed uint32, v int) score) []int {
	order := make([]int, 0, b.n)
	var placed, border uint32
	for len(order) < b.n {
		rate := func(v int) score { return next(placed, v) }
		from := border &^ placed
		switch {
		case len(order) == 0 && root >= 0:
			from = 1 << root
		case from == 0:
			from = ^placed & b.all()
			rate = first
		}
		best := -1
		var top score
		for ; from != 0; from &= from - 1 {
			v := bits.TrailingZeros32(from)
			if s := rate(v); best < 0 || s.above(&top) {
				best, top = v, s
			}
		}
		order = append(order, best)
		placed |= 1 << best
		border |= b.near[best]
	}
	return order
}

// all is the set of all vertices of the pattern.
func (b *binding) all() uint32 { return uint32(1<<b.n - 1) }

// degree is the number of neighbours of v in the pattern.
func (b *binding) degree(v int) int { return bits.OnesCount32(b.near[v]) }

// connectedOrder reports whether each vertex but those that begin a component
// follows a neighbour.
func (b *binding) connectedOrder(order []int) bool {
	var placed, border uint32
	for _, v := range order {
		if border>>v&1 == 0 && border&^placed != 0 {
			return false // a component is left unfinished, or v is not its neighbour
		}
		placed |= 1 << v
		border |= b.near[v]
	}
	return true
}
