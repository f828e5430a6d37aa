package fine

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// maxQuery is the largest pattern with a candidate graph: sets of its vertices
// are words of 32 bits.
const maxQuery = 32

// indexFrom is the least number of vertices of a labelled pattern for which fine makes a
// candidate graph by default. For smaller patterns, filtering takes longer than the search that
// it shortens.
const indexFrom = 6

// errNotIndexed is wrapped by the reasons why a plan is searched without a
// candidate graph.
var errNotIndexed = plan.Refusef("no candidate graph")

// arc is a pattern edge seen from one of its ends: w fits v when w is (not, if
// neg) in v's list of adj. Ends are levels of the plan.
type arc struct {
	from, to, adj int
	neg           bool
}

// query is the pattern of a plan without its order: its vertices are the plan's
// levels, whichever is matched first.
type query struct {
	p        *plan.Plan
	n        int
	arcs     []arc    // each edge from both ends; an arc and its reverse follow each other
	linked   []uint32 // of a vertex: those with a positive edge to it
	tied     []uint32 // those with any edge to it, or one that must not be
	less     []uint32 // those whose data vertex must be larger
	distinct bool     // no data vertex twice
	counting bool
	// divide: restrictions are left out, and the count is divided by |Aut|.
	divide bool
	// tail: the last vertices may be counted by arithmetic.
	tail bool
}

// queryOf reads a plan. The error says why it can have no candidate graph.
func queryOf(p *plan.Plan, opt options, counting, limited bool) (*query, error) {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{errNotIndexed}, args...)...)
	}
	n := len(p.Levels)
	if err := lower.OneRun(p, "a candidate graph"); err != nil {
		return nil, refuse("%w", err)
	}
	switch {
	case n < 2 || n > maxQuery:
		return nil, refuse("it takes patterns of 2 to %d vertices, not %d", maxQuery, n)
	case p.Rooted:
		return nil, refuse("it does not count per vertex")
	case p.Mode == pattern.Trail || len(p.Edges) > 0:
		return nil, refuse("it does not bind data edges")
	}
	q := &query{
		p: p, n: n, linked: make([]uint32, n), tied: make([]uint32, n), less: make([]uint32, n),
		distinct: p.Mode == pattern.Iso, counting: counting,
	}
	free := counting && !limited
	q.divide = free && p.Restricted && p.Aut.IsUint64()
	q.tail = free && !p.NoTail && (q.divide || !p.Restricted)
	for i := range p.Levels {
		l := &p.Levels[i]
		if len(l.Checks) > 0 {
			return nil, refuse("it does not evaluate predicates over several vertices")
		}
		if i > 0 && !slices.ContainsFunc(l.Back, func(b plan.Back) bool { return !b.Neg }) {
			return nil, refuse("the pattern is not connected")
		}
		for _, b := range l.Back {
			q.arcs = append(q.arcs, arc{b.Level, i, b.Adj, b.Neg}, arc{i, b.Level, p.Adjs[b.Adj].Rev, b.Neg})
			q.tied[i] |= 1 << b.Level
			q.tied[b.Level] |= 1 << i
			if !b.Neg {
				q.linked[i] |= 1 << b.Level
				q.linked[b.Level] |= 1 << i
			}
		}
		if q.divide || !p.Restricted {
			continue
		}
		for _, j := range l.Below {
			q.less[i] |= 1 << j
		}
		for _, j := range l.Above {
			q.less[j] |= 1 << i
		}
	}
	return q, nil
}

// worthwhile reports whether a candidate graph is likely to pay: for patterns of
// some size whose vertices all have a label.
func (q *query) worthwhile() bool {
	return q.n >= indexFrom && !slices.ContainsFunc(q.p.Levels, func(l plan.Level) bool { return l.Ranges == nil })
}

// need says that a data vertex needs some neighbours in ranges.
type need struct {
	adj    int
	ranges []plan.Range
	to     uint32 // pattern vertices
	least  uint32
}

// needs are the numbers of neighbours that a candidate of pattern vertex v needs. For each
// adjacency and label it is the number of v's pattern neighbours there, if data vertices may
// not recur.
func (q *query) needs(v int) (out []need) {
	for _, a := range q.arcs {
		if a.from != v || a.neg {
			continue
		}
		ranges := q.p.Levels[a.to].Ranges
		i := slices.IndexFunc(out, func(n need) bool { return n.adj == a.adj && slices.Equal(n.ranges, ranges) })
		if i < 0 {
			i = len(out)
			out = append(out, need{adj: a.adj, ranges: ranges, least: 1})
		} else if q.distinct && out[i].to>>a.to&1 == 0 {
			out[i].least++
		}
		out[i].to |= 1 << a.to
	}
	return out
}

// rangesOf are the ids that a level allows: all, where it says nothing.
func rangesOf(g *graph.Graph, l *plan.Level) []plan.Range {
	if l.Ranges == nil {
		return []plan.Range{{First: 0, End: uint32(g.NumVertices())}}
	}
	return l.Ranges
}
