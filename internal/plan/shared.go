package plan

import (
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/expr"

	"github.com/weftgraph/weft/internal/pattern"
)

// Shared holds the data that the plans of one pattern and of its sub-patterns share.
type Shared struct {
	Columns expr.Columns // columns that conditions read
	Exists  map[*pattern.Pattern]*SubPlan

	mu       sync.Mutex
	parallel int // see MostParallel; 0: not looked for
}

// EdgeLists returns the data edges as ascending lists of target vertices. An edge's place in
// these lists is its name. They are the lists of the edge table or, without one, of outgoing
// neighbours. In an undirected graph choices see an edge only in the list of its smaller end.
func (p *Plan) EdgeLists() (off []uint64, dst []uint32) {
	if t := p.Graph.Edges; t != nil {
		return t.Off, t.Dst
	}
	out := p.Graph.Flat(&p.Graph.Out)
	return out.Off, out.Adj
}

// MostParallel is the largest number of data edges from one vertex to one other.
func (p *Plan) MostParallel() int {
	t := p.Shared
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parallel > 0 {
		return t.parallel
	}
	t.parallel = 1
	if e := p.Graph.Edges; e != nil {
		run := 0
		for i := range e.Dst {
			if i > 0 && e.Src[i] == e.Src[i-1] && e.Dst[i] == e.Dst[i-1] {
				run++
			} else {
				run = 1
			}
			t.parallel = max(t.parallel, run)
		}
	}
	return t.parallel
}

// Columns are the columns that the plan's conditions read, as words.
func (p *Plan) Columns() *expr.Columns { return &p.Shared.Columns }

// Tied reports whether the choice of edge i depends on other edges, or is looked
// at by a condition.
func (p *Plan) Tied(i int) bool {
	return p.Mode == pattern.Trail || slices.ContainsFunc(p.Edges, func(c EdgeChoice) bool {
		return slices.ContainsFunc(c.Checks, func(k Check) bool {
			return slices.ContainsFunc(pattern.Refs(k.Expr), func(r pattern.Ref) bool {
				return r.Kind == pattern.EdgeRef && r.Index == p.Edges[i].Edge
			})
		})
	})
}

// SubPlan is how EXISTS { … } is decided: whether Plan has a match whose first
// Fixed levels hold the outer vertices, in the order of the expression's Outer.
type SubPlan struct {
	Plan  *Plan
	Fixed int
}

// Exists returns the plan of a sub-pattern that the plan's checks mention.
func (p *Plan) Exists(sub *pattern.Pattern) *SubPlan { return p.Shared.Exists[sub] }
