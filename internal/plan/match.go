package plan

import (
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// matcher walks the checks view of a plan depth first. It decides EXISTS, where
// sub-patterns are small and a first match is enough; engines have their own
// ways.
type matcher struct {
	pl    *Plan
	fixed int // levels whose vertices are given in m
	m     []uint32
	e     []uint64
	lists []graph.Scratch // of each level's candidates
	yield func() bool     // called for each match; false stops
}

func newMatcher(pl *Plan) *matcher {
	return &matcher{pl: pl, m: make([]uint32, len(pl.Levels)), e: make([]uint64, len(pl.Edges)), lists: make([]graph.Scratch, len(pl.Levels))}
}

// run matches the levels from l on and reports whether to go on.
func (x *matcher) run(l int) bool {
	if l == len(x.pl.Levels) {
		return x.yield()
	}
	if l < x.fixed {
		return !x.pl.valid(l, x.m[l], x.m, x.e) || x.edges(l, x.firstEdge(l))
	}
	return x.pl.candidates(l, x.m, &x.lists[l], func(c uint32) bool {
		if !x.pl.valid(l, c, x.m, x.e) {
			return true
		}
		x.m[l] = c
		return x.edges(l, x.firstEdge(l))
	})
}

func (x *matcher) firstEdge(l int) int {
	i := 0
	for i < len(x.pl.Edges) && x.pl.Edges[i].At < l {
		i++
	}
	return i
}

// edges chooses data edges for the edge choices from i on that level l allows.
func (x *matcher) edges(l, i int) bool {
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

// candidates calls f with a superset of the vertices that can follow m at level
// l, the smallest backward list or else the label's ranges, until f returns
// false; it reports whether f never did.
func (pl *Plan) candidates(l int, m []uint32, s *graph.Scratch, f func(uint32) bool) bool {
	lv := &pl.Levels[l]
	if list, from := pl.smallest(l, m, s); from >= 0 {
		for _, c := range list {
			if !f(c) {
				return false
			}
		}
		return true
	}
	ranges := lv.Ranges
	if ranges == nil {
		ranges = []Range{{0, uint32(pl.Graph.NumVertices())}}
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

// smallest returns the shortest positive backward list of level l, which may be in
// s, and which of Level.Back it is; -1: there is none.
func (pl *Plan) smallest(l int, m []uint32, s *graph.Scratch) (list []uint32, from int) {
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

// valid applies the checks of level l to candidate c. m[l] is set to c, which
// predicates look at.
func (pl *Plan) valid(l int, c uint32, m []uint32, e []uint64) bool {
	return pl.validFrom(l, -1, c, m, e)
}

// validFrom is valid for a candidate out of the list of the backward neighbour
// from, which need not be searched for it.
func (pl *Plan) validFrom(l, from int, c uint32, m []uint32, e []uint64) bool {
	lv := &pl.Levels[l]
	if !lv.alone(pl, c) {
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

// alone applies what level lv asks of a vertex by itself.
func (lv *Level) alone(pl *Plan, c uint32) bool {
	if lv.Ranges != nil && !slices.ContainsFunc(lv.Ranges, func(r Range) bool { return r.First <= c && c < r.End }) {
		return false
	}
	if lv.Bits != nil && lv.Bits[c/64]>>(c%64)&1 == 0 {
		return false
	}
	return lv.MinDegree == 0 || pl.Adjs[lv.MinDegreeAdj].Lists.Degree(c) >= lv.MinDegree
}
