package large

import "math/bits"

// refineBound limits the candidates tested again, as a multiple of the size of
// all sets.
const refineBound = 64

// refine makes the sets arc-consistent: every candidate has, for every
// neighbour in the pattern, a candidate among its own neighbours.
func (pb *problem) refine(sc *scratch) bool {
	budget := 0
	var todo uint64
	for u := range pb.n {
		budget += len(sc.cand[u])
		if sc.pending[u] != 0 {
			todo |= 1 << u
		}
	}
	budget = budget*refineBound + 1024
	for todo != 0 && budget > 0 && !sc.stop() {
		// The smallest set first: it is the most likely to remove others.
		u := -1
		for m := todo; m != 0; m &= m - 1 {
			w := bits.TrailingZeros64(m)
			if u < 0 || len(sc.cand[w]) < len(sc.cand[u]) {
				u = w
			}
		}
		todo &^= 1 << u
		pend := sc.pending[u]
		sc.pending[u] = 0
		for ; pend != 0; pend &= pend - 1 {
			v := bits.TrailingZeros64(pend)
			budget -= len(sc.cand[v])
			before := len(sc.cand[v])
			pb.prune(sc, v, u)
			if len(sc.cand[v]) == 0 {
				return false
			}
			if len(sc.cand[u]) == 1 {
				sc.sure[v] |= 1 << u
			}
			if len(sc.cand[v]) < before {
				// With a single link, the candidates that v lost were neighbours of none of u's
				// candidates. With several links, they may have been the last neighbours of
				// some candidate.
				sc.pending[v] |= pb.pos[v] &^ sc.sure[v] &^ (1 << u &^ pb.twice[v])
				if sc.pending[v] != 0 {
					todo |= 1 << v
				}
			}
		}
	}
	sc.settled = todo == 0
	return !sc.stop()
}

// prune removes the candidates of v without a neighbour among u's.
func (pb *problem) prune(sc *scratch, v, u int) {
	c, mem := sc.cand[v], sc.member[v]
	k := 0
next:
	for _, y := range c {
		// Stopped: the contents of the sets do not matter, but the bitmap must agree with them.
		if sc.stopping() {
			return
		}
		for i := range pb.vars[v].needs {
			d := &pb.vars[v].needs[i]
			if d.vars>>u&1 != 0 && !pb.meetsRanges(pb.list(d.adj, y), d.ranges, sc.member[u]) {
				mem[y>>6] &^= 1 << (y & 63)
				continue next
			}
		}
		c[k] = y
		k++
	}
	sc.cand[v] = c[:k]
}
