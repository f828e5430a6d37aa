package large

import "math/bits"

// settle fixes the variables that have one candidate each. No other variable may have that
// candidate, so other sets become smaller, and more variables may have one candidate. It
// returns the remaining variables; the count of their matches is the whole count. ok is false
// if there is no match, or when stopped.
//
// The sets must be consistent along the pattern's edges. So if u has one candidate, all
// candidates of its neighbours are neighbours of it, and u only forbids its vertex to others.
// Negative links are not made consistent: variables with negative links are left to the search.
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
