// Package checks runs the checks view of a plan. It tests whether a vertex can stand at a
// level, and has a depth-first search without sets. Package bind decides EXISTS by the search;
// random walks and tests use the rest.
//
// It must not know how plans are made.
package checks

import (
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Search walks the checks view of a plan depth first. It decides EXISTS, where
// sub-patterns are small and a first match is enough; engines have their own ways.
type Search struct {
	pl    *plan.Plan
	fixed int // levels whose vertices are given in m
	m     []uint32
	e     []uint64
	yield func() bool     // called for each match; false stops
	lists []graph.Scratch // of each level's candidates
}

// NewSearch returns a search by pl in which the vertices of the first fixed levels are
// given. It is for one goroutine at a time.
func NewSearch(pl *plan.Plan, fixed int) *Search {
	return &Search{pl: pl, fixed: fixed, m: make([]uint32, len(pl.Levels)), e: make([]uint64, len(pl.Edges)), lists: make([]graph.Scratch, len(pl.Levels))}
}

// Outer returns the vertices of the first fixed levels, which the caller sets before a search.
func (x *Search) Outer() []uint32 { return x.m[:x.fixed] }

// Each calls yield with the vertices by level and the chosen edges of each match with the
// outer vertices that are set, until yield returns false.
func (x *Search) Each(yield func(m []uint32, e []uint64) bool) {
	x.yield = func() bool { return yield(x.m, x.e) }
	x.run(0)
}

// Any reports whether there is a match with the outer vertices that are set.
func (x *Search) Any() (hit bool) {
	x.Each(func([]uint32, []uint64) bool {
		hit = true
		return false
	})
	return hit
}

// run matches the levels from l on and reports whether to go on.
func (x *Search) run(l int) bool {
	if l == len(x.pl.Levels) {
		return x.yield()
	}
	if l < x.fixed {
		return !Valid(x.pl, l, x.m[l], x.m, x.e) || x.edges(l, x.firstEdge(l))
	}
	return candidates(x.pl, l, x.m, &x.lists[l], func(c uint32) bool {
		if !Valid(x.pl, l, c, x.m, x.e) {
			return true
		}
		x.m[l] = c
		return x.edges(l, x.firstEdge(l))
	})
}

func (x *Search) firstEdge(l int) int {
	i := 0
	for i < len(x.pl.Edges) && x.pl.Edges[i].At < l {
		i++
	}
	return i
}

// edges chooses data edges for the edge choices from i on that level l allows.
func (x *Search) edges(l, i int) bool {
	if i == len(x.pl.Edges) || x.pl.Edges[i].At > l {
		return x.run(l + 1)
	}
	c := &x.pl.Edges[i]
	goOn := true
	c.Rows(x.m[c.From], x.m[c.To], func(id uint64) bool {
		if x.pl.Mode == pattern.Trail && slices.Contains(x.e[:i], id) {
			return true
		}
		x.e[i] = id
		for _, check := range c.Checks {
			if !check.Eval(x.m, x.e) {
				return true
			}
		}
		goOn = x.edges(l, i+1)
		return goOn
	})
	return goOn
}

// candidates calls f with a superset of the vertices that can follow m at level l, until f
// returns false. The superset is the shortest backward list, or else the label's ranges. It
// reports whether f never returned false.
func candidates(pl *plan.Plan, l int, m []uint32, s *graph.Scratch, f func(uint32) bool) bool {
	lv := &pl.Levels[l]
	if list, from := Smallest(pl, l, m, s); from >= 0 {
		for _, c := range list {
			if !f(c) {
				return false
			}
		}
		return true
	}
	ranges := lv.Ranges
	if ranges == nil {
		ranges = []plan.Range{{First: 0, End: uint32(pl.Graph.NumVertices())}}
	}
	for _, r := range ranges {
		for c := r.First; c < r.End; c++ {
			if !f(c) {
				return false
			}
		}
	}
	return true
}

// Smallest returns the shortest positive backward list of level l, which may be in
// s, and which of Level.Back it is; -1: there is none.
func Smallest(pl *plan.Plan, l int, m []uint32, s *graph.Scratch) (list []uint32, from int) {
	from = -1
	least := 0
	for i, b := range pl.Levels[l].Back {
		if b.Neg {
			continue
		}
		if n := pl.Adjs[b.Adj].Lists.Degree(m[b.Level]); from < 0 || n < least {
			least, from = n, i
		}
	}
	if from >= 0 {
		b := &pl.Levels[l].Back[from]
		list = pl.Adjs[b.Adj].Lists.List(m[b.Level], s)
	}
	return list, from
}

// Valid applies the checks of level l to candidate c. m[l] is set to c, which
// predicates look at.
func Valid(pl *plan.Plan, l int, c uint32, m []uint32, e []uint64) bool {
	return ValidFrom(pl, l, -1, c, m, e)
}

// ValidFrom is Valid for a candidate out of the list of the backward neighbour
// from, which need not be searched for it.
func ValidFrom(pl *plan.Plan, l, from int, c uint32, m []uint32, e []uint64) bool {
	lv := &pl.Levels[l]
	if !Alone(pl, lv, c) {
		return false
	}
	for i, b := range lv.Back {
		if i != from && pl.Adjs[b.Adj].Lists.Has(m[b.Level], c) == b.Neg {
			return false
		}
	}
	for _, j := range lv.Below {
		if c >= m[j] {
			return false
		}
	}
	for _, j := range lv.Above {
		if c <= m[j] {
			return false
		}
	}
	for _, j := range lv.Distinct {
		if c == m[j] {
			return false
		}
	}
	m[l] = c
	for i := range lv.Checks {
		if !lv.Checks[i].Eval(m, e) {
			return false
		}
	}
	return true
}

// Alone tests the conditions of level lv that involve only its own vertex.
func Alone(pl *plan.Plan, lv *plan.Level, c uint32) bool {
	if lv.Ranges != nil && !slices.ContainsFunc(lv.Ranges, func(r plan.Range) bool { return r.First <= c && c < r.End }) {
		return false
	}
	if lv.Bits != nil && lv.Bits[c/64]>>(c%64)&1 == 0 {
		return false
	}
	return lv.MinDegree == 0 || pl.Adjs[lv.MinDegreeAdj].Lists.Degree(c) >= lv.MinDegree
}
