package large

import "math/bits"

// choose picks the variable of a component to branch on: the one with the
// fewest candidates for its links. Variables without a link in the component
// are left: they are counted without branching once the others are matched.
func (w *worker) choose(c uint64) int {
	pb := w.sp.pb
	best, bestScore := -1, 0.0
	for m := c; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		deg := bits.OnesCount64(pb.adj[v] & c)
		size := w.size(v)
		if deg == 0 && best >= 0 {
			continue
		}
		score := float64(size) / float64(deg*deg)
		if deg == 0 {
			score = 1e30
		}
		if best < 0 || score < bestScore {
			best, bestScore = v, score
		}
	}
	return best
}
