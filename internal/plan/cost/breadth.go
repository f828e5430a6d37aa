package cost

import (
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
)

// Breadth estimates the work of a search of pl breadth first, in elements, by n walks, or fewer where conditions are long. The
// search writes each row, and tests the candidates of the shortest list of a backward neighbour. If pairs is true, it makes no rows
// of the last vertex but one: it tests the candidates of the last two for each row before them.
func Breadth(pl *plan.Plan, o *plan.Options, seed uint64, n int, pairs bool) (mean float64) {
	n = affordable(pl, n)
	w := newWalker(pl, seed)
	for range n {
		if o.Ended() {
			break
		}
		mean += w.breadth(pairs) / float64(n)
	}
	return mean
}

// breadth makes one walk and returns the work that it represents.
func (w *walker) breadth(pairs bool) (sum float64) {
	if w.rootTotal == 0 {
		return 0
	}
	v, weight := w.root()
	if !checks.Valid(w.pl, 0, v, w.m, w.e) {
		return 0
	}
	levels := len(w.pl.Levels)
	for l := 0; l < levels-1; l++ {
		w.m[l] = v
		if l > 0 {
			sum += weight * (VisitCost + w.tests([]int{l + 1}, levels))
			if pairs && l == levels-3 {
				return sum + weight*w.tests([]int{levels - 1}, levels)
			}
		}
		var n float64
		if v, n = w.pick(l + 1); n == 0 {
			return sum
		}
		weight *= n
	}
	return sum
}
