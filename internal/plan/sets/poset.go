package sets

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Poset is the partial order that restrictions impose on a plan's vertices, as a
// transitive closure over levels: bit j of below[i] says m[i] < m[j].
type Poset struct{ below, above []uint32 }

// Restrict breaks the symmetries of the plan's pattern for its order, so that each subgraph is
// found exactly once. Going down the order, the vertex of a level must have the greatest id of
// its orbit under the automorphisms that fix the earlier levels (Grochow and Kellis, Network
// motif discovery using subgraph enumeration and symmetry-breaking, 2007; the chain of
// stabilisers is Sims's).
//
// Ids ascend as degrees fall inside a class. So the vertex of the earliest level has the least
// degree, and the others come from the front of its neighbour list. For a clique this is the
// search on the acyclic orientation towards higher degree. The cost model may find the least id
// better, and set flip. A rooted plan keeps the symmetries that move its root.
//
// orbits has the orbit of each vertex of pl.Order, under the automorphisms that fix the
// vertices before it. With nil nothing is restricted.
func Restrict(pl *plan.Plan, orbits []uint32, flip bool) *Poset {
	n := len(pl.Order)
	sides := make([]uint32, 2*n)
	s := &Poset{sides[:n], sides[n:]}
	for l, orbit := range orbits {
		if l == 0 && pl.Rooted {
			continue
		}
		for _, w := range pattern.Members(orbit &^ (1 << pl.Order[l])) {
			if flip {
				s.add(l, pl.LevelOf[w])
			} else {
				s.add(pl.LevelOf[w], l)
			}
		}
	}
	if orbits != nil {
		s.close()
	}
	return s
}

// add says m[i] < m[j].
func (s *Poset) add(i, j int) {
	s.below[i] |= 1 << j
	s.above[j] |= 1 << i
}

// close makes s transitive (Warshall).
func (s *Poset) close() {
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
func (s *Poset) reduceBelow(m uint32) (out []int) {
	for r := m; r != 0; r &= r - 1 {
		j := bits.TrailingZeros32(r)
		if s.above[j]&m == 0 {
			out = append(out, j)
		}
	}
	return out
}

// reduceAbove is reduceBelow for lower bounds.
func (s *Poset) reduceAbove(m uint32) (out []int) {
	for r := m; r != 0; r &= r - 1 {
		j := bits.TrailingZeros32(r)
		if s.below[j]&m == 0 {
			out = append(out, j)
		}
	}
	return out
}

// ordered reports whether m[i] and m[j] differ by the order alone.
func (s *Poset) ordered(i, j int) bool { return (s.below[i]|s.above[i])>>j&1 != 0 }

// addTo writes the transitive reduction into the levels. The levels from tail on
// get bounds by earlier levels before the tail as if the tail had none among
// itself, because counting ignores those.
func (s *Poset) addTo(pl *plan.Plan, tail int) {
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
