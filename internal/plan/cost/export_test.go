package cost

import (
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
)

// CountTests counts the candidates that a search by pl tests, one by one.
func CountTests(pl *plan.Plan) (sum float64) {
	w := newWalker(pl, 1)
	tail := len(pl.Levels) - pl.Tail.K
	var down func(l int)
	down = func(l int) {
		if l == tail-1 {
			for _, mask := range w.blocks {
				var levels []int
				for _, g := range pattern.Members(mask) {
					levels = append(levels, pl.Tail.Groups[g].Levels[0])
				}
				sum += w.tests(levels, tail)
			}
			return
		}
		sum += w.tests([]int{l + 1}, tail)
		if l+1 == len(pl.Levels)-1 {
			return // whoever passes is a match
		}
		list, _ := checks.Smallest(pl, l+1, w.m, &w.list)
		for _, v := range list {
			if checks.Valid(pl, l+1, v, w.m, w.e) {
				w.m[l+1] = v
				down(l + 1)
			}
		}
	}
	for v := range uint32(pl.Graph.NumVertices()) {
		if checks.Valid(pl, 0, v, w.m, w.e) {
			w.m[0] = v
			down(0)
		}
	}
	return sum
}
