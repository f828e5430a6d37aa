package large

import "math/bits"

// choose picks the variable of a component to branch on: few candidates and many links, which
// both narrow others and break the component up. It leaves variables without a link in the
// component, which are counted without branching once the others are matched.
//
// Why: on the yeast queries this needs half the nodes of the rule of fewest candidates. Also
// weighing how a variable splits the component helps some queries, and makes others several
// times slower.
func (w *worker) choose(c uint64) int {
	pb := w.sp.pb
	best, bestScore := bits.TrailingZeros64(c), 1e300
	for m := c; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		deg := bits.OnesCount64(pb.adj[v] & c)
		if deg == 0 {
			continue
		}
		size := w.size(v)
		if size == 1 {
			return v
		}
		if score := float64(size) / float64(deg*deg); score < bestScore {
			best, bestScore = v, score
		}
	}
	return best
}
