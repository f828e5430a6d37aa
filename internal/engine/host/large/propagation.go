package large

import "math/bits"

// settle decides the variables that have one candidate each: no other variable
// may have its vertex, so that the sets of others become smaller, which may leave
// more variables with one candidate. It returns the variables that are left; the
// count of their matches is the whole one. ok is false when there is no match, or
// when stopped.
//
// Sets are consistent along the pattern's edges before. So where u has one
// candidate left, all candidates of its neighbours are neighbours of that one, and
// the vertex being taken is all that u means for others. Negative links are
// not made consistent: variables that have any are left to the search.
func (pb *problem) settle(sc *scratch) (live uint64, ok bool) {
	live = pb.all
	for sc.settled {
		// All of them before any set changes: one that loses a candidate is not
		// consistent until refined.
		var one uint64
		for m := live &^ pb.neg; m != 0; m &= m - 1 {
			if u := bits.TrailingZeros64(m); len(sc.cand[u]) == 1 {
				one |= 1 << u
			}
		}
		if one == 0 {
			break
		}
		live &^= one
		for ; one != 0; one &= one - 1 {
			u := bits.TrailingZeros64(one)
			x := sc.cand[u][0]
			for m := pb.alike[u]; m != 0; m &= m - 1 {
				v := bits.TrailingZeros64(m)
				if sc.member[v][x>>6]>>(x&63)&1 == 0 {
					continue
				}
				pb.remove(sc, v, x)
				if len(sc.cand[v]) == 0 {
					return live, false
				}
				sc.pending[v] |= pb.pos[v] &^ sc.sure[v]
			}
		}
		if !pb.refine(sc) {
			return live, false
		}
	}
	return live, true
}

// remove takes x from the candidates of v.
func (pb *problem) remove(sc *scratch, v int, x uint32) {
	sc.member[v][x>>6] &^= 1 << (x & 63)
	c := sc.cand[v]
	for i, y := range c {
		if y == x {
			sc.cand[v] = append(c[:i], c[i+1:]...)
			return
		}
	}
}
