package neighbourhood

import (
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// A matrix that does not fit shared memory lies in device memory, where each block of the grid has room for one: megabytes for a hub. With little
// memory few blocks search hubs, and these matrices take what a cache of lists would have. A nest takes memory for some sets in
// place of a matrix, and there are few hubs.

// Divided is a plan in two: for the roots that the local method counts, and for hubs, which are those before them.
type Divided struct {
	Rest, Hubs *plan.Plan
	// Hubs are End vertices with more than Most neighbours each.
	End  uint32
	Most int
}

// Divide cuts a plan for the local method into two whose matches add up; nil: all roots have matrices in shared memory, or the plan suits
// no cut.
func Divide(s *session.Session, g *graph.Graph, p *plan.Plan, w Switches) *Divided {
	lists := p.Adjs[0].Lists
	if len(g.Classes) != 1 || !lists.DegreeOrdered || plan.LocalSide(p) != plan.AllSides {
		return nil
	}
	code, err := lower.Plan(p, lower.Options{View: lower.Rows, Counting: true})
	if err != nil || code.Rows.Outside || code.Rows.Rows == lower.NoRows {
		// A nest would go over all vertices as outside vertices of each hub.
		return nil
	}
	shared := s.Devices()[0].SharedPerBlock
	for _, i := range s.Devices()[1:] {
		shared = min(shared, i.SharedPerBlock)
	}
	most := mostShared(&code.Rows, shared, w)
	end := sort.Search(lists.NumVertices(), func(v int) bool { return lists.Degree(uint32(v)) <= most })
	if most == 0 || end == 0 || end == lists.NumVertices() {
		return nil
	}
	d := &Divided{End: uint32(end), Most: most}
	d.Hubs, d.Rest = within(p, plan.Range{First: 0, End: uint32(end)}), within(p, plan.Range{First: uint32(end), End: uint32(g.NumVertices())})
	return d
}

// mostShared is the largest universe whose matrix is in shared memory.
func mostShared(rows *lower.RowsCode, shared int, w Switches) (most int) {
	for _, c := range insideClasses {
		if c.global || len(w.universes) > 0 && !slices.Contains(w.universes, c.universe) {
			continue
		}
		if c.layout(rows.Masks).cached*(c.threads/c.team) <= shared {
			most = max(most, c.universe)
		}
	}
	return most
}

// within is p for roots in a range.
func within(p *plan.Plan, r plan.Range) *plan.Plan {
	q := *p
	q.Levels = slices.Clone(p.Levels)
	lv := &q.Levels[0]
	if lv.Ranges == nil {
		lv.Ranges = []plan.Range{r}
		return &q
	}
	var both []plan.Range
	for _, of := range lv.Ranges {
		if of.First, of.End = max(of.First, r.First), min(of.End, r.End); of.First < of.End {
			both = append(both, of)
		}
	}
	if both == nil {
		both = []plan.Range{{}}
	}
	lv.Ranges = both
	return &q
}

// Outside reports whether neighbour lists lie in host memory with a cache, as far as that is known before a run.
func (l *Search) Outside() bool { return l.s.Outside(l.job()) }
