package cost

import (
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
)

// Tests estimates the candidates that a search by pl tests, one by one, by n walks, or
// fewer where conditions are long.
func Tests(pl *plan.Plan, o *plan.Options, seed uint64, n int) (mean float64) {
	n = affordable(pl, n)
	w := newWalker(pl, seed)
	for range n {
		if o.Ended() {
			break
		}
		mean += w.tested() / float64(n)
	}
	return mean
}

// tested makes one walk and returns the number of tests that it represents.
func (w *walker) tested() (sum float64) {
	if w.rootTotal == 0 {
		return 0
	}
	v, weight := w.root()
	if !checks.Valid(w.pl, 0, v, w.m, w.e) {
		return 0
	}
	tail := len(w.pl.Levels) - w.pl.Tail.K
	for l := 0; ; l++ {
		w.m[l] = v
		n := w.pickEdges(l)
		if weight *= n; weight == 0 {
			return sum
		}
		if l == tail-1 {
			break
		}
		sum += weight * w.tests([]int{l + 1}, tail)
		if v, n = w.pick(l + 1); n == 0 {
			return sum
		}
		weight *= n
	}
	for _, mask := range w.blocks {
		var levels []int
		for _, g := range pattern.Members(mask) {
			levels = append(levels, w.pl.Tail.Groups[g].Levels[0])
		}
		sum += weight * w.tests(levels, tail)
	}
	return sum
}

// tests is the length of the shortest list of a backward neighbour among levels, within the
// restrictions. A search tests each member of that list against the other levels. The levels
// before end are bound.
func (w *walker) tests(levels []int, end int) float64 {
	first, limit := uint32(0), ^uint32(0)
	var lists []plan.Back
	conditions := 0
	for _, l := range levels {
		lv := &w.pl.Levels[l]
		for _, j := range lv.Below {
			if j < min(l, end) {
				limit = min(limit, w.m[j])
			}
		}
		for _, j := range lv.Above {
			if j < min(l, end) {
				first = max(first, w.m[j]+1)
			}
		}
		if k := len(lv.Ranges); k > 0 {
			first, limit = max(first, lv.Ranges[0].First), min(limit, lv.Ranges[k-1].End)
		}
		conditions += len(lv.Distinct) + len(lv.Checks)
		if lv.Bits != nil {
			conditions++
		}
		for _, b := range lv.Back {
			if b.Neg {
				conditions++
			} else if !slices.Contains(lists, b) {
				lists = append(lists, b)
			}
		}
	}
	if levels[0] >= end && len(lists) == 1 && conditions == 0 {
		return 0 // a block of the tail: its size is the length of a list
	}
	least := -1
	for _, b := range lists {
		if n := len(plan.Within(w.pl.Adjs[b.Adj].Lists.List(w.m[b.Level], &w.list), first, max(first, limit))); least < 0 || n < least {
			least = n
		}
	}
	if least < 0 {
		return float64(w.pl.Graph.NumVertices())
	}
	return float64(least)
}
