package plan

import (
	"math/bits"
	"slices"
)

// poset is the partial order that restrictions impose on a plan's vertices, as a
// transitive closure over levels: bit j of below[i] says m[i] < m[j].
type poset struct{ below, above []uint32 }

// newPosetOf breaks the symmetries of the plan's pattern for its order so that
// each subgraph is found exactly once: going down the order, the vertex of a
// level is to have the greatest id of its orbit under the automorphisms that fix
// the levels before it (Grochow and Kellis, Network motif discovery using
// subgraph enumeration and symmetry-breaking, 2007; the chain of stabilisers is
// Sims's). Ids fall with degree inside a class, so the vertex of the earliest
// level is the one of least degree and the others come from the front of its
// neighbour list: for a clique this is the search on the acyclic orientation
// towards higher degree. The cost model may find the
// least id better and flip all. A rooted plan keeps the symmetries that move its root.
func newPosetOf(b *binding, pl *Plan) *poset {
	sides := make([]uint32, 2*b.n)
	s := &poset{sides[:b.n], sides[b.n:]}
	if !b.restrict || b.group.Trivial() {
		return s
	}
	for l, orbit := range b.orbits(pl.Order) {
		if l == 0 && pl.Rooted {
			continue
		}
		for _, w := range members(orbit &^ (1 << pl.Order[l])) {
			if b.flip {
				s.add(l, pl.LevelOf[w])
			} else {
				s.add(pl.LevelOf[w], l)
			}
		}
	}
	s.close()
	return s
}

// orbits returns for each level of an order the orbit of its vertex under the
// automorphisms that fix the vertices before it.
func (b *binding) orbits(order []int) []uint32 {
	if b.n <= exhaustive {
		out := make([]uint32, len(order))
		if b.elements == nil {
			b.elements, _ = b.group.Elements(5040)
		}
		perms := b.elements
		for l, v := range order {
			var fix [][]int
			for _, perm := range perms {
				out[l] |= 1 << perm[v]
				if perm[v] == v {
					fix = append(fix, perm)
				}
			}
			perms = fix
		}
		return out
	}
	return b.group.OrbitsAlong(order)
}

// add says m[i] < m[j].
func (s *poset) add(i, j int) {
	s.below[i] |= 1 << j
	s.above[j] |= 1 << i
}

// close makes s transitive (Warshall).
func (s *poset) close() {
	for k := range s.below {
		for i := range s.below {
			if s.below[i]>>k&1 != 0 {
				s.below[i] |= s.below[k]
			}
		}
	}
	clear(s.above)
	for i, m := range s.below {
		for ; m != 0; m &= m - 1 {
			s.above[bits.TrailingZeros32(m)] |= 1 << i
		}
	}
}

// reduceBelow keeps of a set of upper bounds those that no other one implies,
// ascending.
func (s *poset) reduceBelow(m uint32) (out []int) {
	for r := m; r != 0; r &= r - 1 {
		j := bits.TrailingZeros32(r)
		if s.above[j]&m == 0 {
			out = append(out, j)
		}
	}
	return out
}

// reduceAbove is reduceBelow for lower bounds.
func (s *poset) reduceAbove(m uint32) (out []int) {
	for r := m; r != 0; r &= r - 1 {
		j := bits.TrailingZeros32(r)
		if s.below[j]&m == 0 {
			out = append(out, j)
		}
	}
	return out
}

// ordered reports whether m[i] and m[j] differ by the order alone.
func (s *poset) ordered(i, j int) bool { return (s.below[i]|s.above[i])>>j&1 != 0 }

// addTo writes the transitive reduction into the levels. The levels from tail on
// get bounds by earlier levels before the tail as if the tail had none among
// itself, because counting ignores those.
func (s *poset) addTo(pl *Plan, tail int) {
	for l := range pl.Levels {
		before := uint32(1)<<l - 1
		below, above := s.below[l]&before, s.above[l]&before
		lv := &pl.Levels[l]
		if l <= tail {
			lv.Below, lv.Above = s.reduceBelow(below), s.reduceAbove(above)
			continue
		}
		prefix := uint32(1)<<tail - 1
		lv.Below = append(s.reduceBelow(below&prefix), s.reduceBelow(below&^prefix)...)
		lv.Above = append(s.reduceAbove(above&prefix), s.reduceAbove(above&^prefix)...)
		slices.Sort(lv.Below)
		slices.Sort(lv.Above)
	}
}
