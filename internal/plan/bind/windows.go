package bind

import (
	"fmt"
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// TemporalOK says why edge extension does not suit the query, or nil.
func (b *Binding) TemporalOK(o plan.Options) error {
	switch t := b.timing; {
	case b.Pattern.Order == nil:
		return fmt.Errorf("there is neither ORDERED nor WITHIN")
	case t == nil:
		return fmt.Errorf("no edge has a time")
	case wholeOf(t.col) == nil:
		return fmt.Errorf("%s is not a column of whole numbers", pattern.QuoteName(t.key))
	case o.Root >= 0:
		return fmt.Errorf("it does not count by vertex")
	case !b.Pattern.Connected():
		return fmt.Errorf("the pattern is not connected")
	}
	return nil
}

// whole is a column of times as whole numbers.
type whole struct {
	times []int64
	valid []uint64 // a bit a row; nil: every row has a time
}

// wholeOf returns nil where values are not whole numbers.
func wholeOf(c *expr.Column) *whole {
	times, valid, ok := c.Whole()
	if !ok {
		return nil
	}
	return &whole{times, valid}
}

func (w *whole) has(row int) bool { return w.valid == nil || w.valid[row/64]>>(row%64)&1 != 0 }

// timeSource makes and keeps the lists of events and the roots of one query.
type timeSource struct {
	b      *Binding
	col    *whole
	events map[string]*graph.Events
	roots  map[int][]uint32
}

// TimedEdges are the pattern edges that ORDERED and WITHIN are about.
func (b *Binding) TimedEdges() []int { return b.timing.edges }

// AssembleTemporal writes the plan of edge extension for one order. extends[l] is the pattern
// edge that leads to the vertex of level l, or -1 if none does. It returns nil if a condition
// makes such an edge wait for a later level. TemporalOK must hold.
func (b *Binding) AssembleTemporal(order, extends []int, o plan.Options) *plan.Plan {
	if b.times == nil {
		b.times = &timeSource{b: b, col: wholeOf(b.timing.col), events: map[string]*graph.Events{}, roots: map[int][]uint32{}}
	}
	noTail := o
	noTail.NoTail = true // of the set program, which this method does not run
	b.extends = extends
	pl := b.Assemble(order, noTail)
	b.extends = nil
	if !b.times.program(pl, extends, o) {
		return nil
	}
	pl.Method, pl.OrderName = plan.Temporal, "temporal"
	return pl
}

// list returns the events of the rows in set.
func (s *timeSource) list(rows *rowSet, timed bool, at graph.End, byOther bool) *graph.Events {
	g := s.b.Graph
	nulls := timed && s.col.valid != nil
	if rows.all && !nulls && s.b.timing.col.Type() == nil {
		return g.Events(at, byOther)
	}
	key := fmt.Sprint(rows.key, timed, at, byOther)
	if s.events[key] == nil {
		s.events[key] = graph.NewEvents(g, at, byOther, s.col.times, func(row int) bool {
			return rows.has(uint64(row)) && (!nulls || s.col.has(row))
		})
	}
	return s.events[key]
}

// first lists the rows that the search can begin with; nil: all.
func (s *timeSource) first(edge int, rows *rowSet) []uint32 {
	if list, ok := s.roots[edge]; ok {
		return list
	}
	b, e, t := s.b, &s.b.Pattern.Edges[edge], s.b.Graph.Edges
	from, to := &b.Vertices[e.From], &b.Vertices[e.To]
	var list []uint32
	if free := func(v *Vertex) bool { return v.Ranges == nil && v.Bits == nil }; !rows.all || s.col.valid != nil || !free(from) || !free(to) {
		list = []uint32{}
		fits := func(u, v uint32) bool { return from.takes(u) && to.takes(v) }
		both := e.Dir == pattern.Either || !b.Graph.Directed
		for row, u := range t.Src {
			if v := t.Dst[row]; rows.has(uint64(row)) && s.col.has(row) && (fits(u, v) || both && fits(v, u)) {
				list = append(list, uint32(row))
			}
		}
	}
	s.roots[edge] = list
	return list
}

// takes reports whether a vertex passes its own conditions.
func (v *Vertex) takes(c uint32) bool {
	return (v.Ranges == nil || slices.ContainsFunc(v.Ranges, func(r plan.Range) bool { return r.First <= c && c < r.End })) &&
		(v.Bits == nil || v.Bits[c/64]>>(c%64)&1 != 0)
}

// program writes the steps of a plan in which extends[l] is the pattern edge that
// leads to the vertex of level l, -1 where none does. It returns false where a
// condition makes such an edge wait for a later level.
func (s *timeSource) program(pl *plan.Plan, extends []int, o plan.Options) bool {
	t := s.b.timing
	prog := &plan.TimeProgram{Key: t.key, Times: s.col.times, Within: t.within, Bounded: t.bounded, Tail: !o.NoTail && !o.Listing}
	places := map[int]int{} // of the timed edges so far: place in the order to step
	next := 0
	for l := 1; l < len(pl.Levels); l++ {
		if extends[l] < 0 {
			prog.Steps = append(prog.Steps, plan.TimeStep{Choice: -1, From: -1, To: l, Binds: true, After: -1, Before: -1, Back: pl.Levels[l].Back})
		} else if next == len(pl.Edges) || pl.Edges[next].Edge != extends[l] || pl.Edges[next].At != l {
			return false
		}
		for ; next < len(pl.Edges) && pl.Edges[next].At == l; next++ {
			step := s.step(pl, next, extends[l] == pl.Edges[next].Edge)
			if place := slices.Index(t.edges, pl.Edges[next].Edge); place >= 0 {
				step.Timed = true
				if t.ordered {
					step.After, step.Before = nearest(places, place)
				}
				places[place] = len(prog.Steps)
			}
			prog.Steps = append(prog.Steps, step)
		}
	}
	first := &prog.Steps[0]
	first.Events, prog.Roots = nil, s.first(extends[1], s.b.rowsOf(pl.Edges[0].Edge))
	pl.Timed = prog
	return true
}

// nearest returns the steps of the places next below and above place, -1: none.
func nearest(places map[int]int, place int) (after, before int) {
	below, above := -1, math.MaxInt
	for p := range places {
		if p < place {
			below = max(below, p)
		} else {
			above = min(above, p)
		}
	}
	after, before = -1, -1
	if below >= 0 {
		after = places[below]
	}
	if above < math.MaxInt {
		before = places[above]
	}
	return after, before
}

// step is the step of choice i.
func (s *timeSource) step(pl *plan.Plan, i int, binds bool) plan.TimeStep {
	b, c := s.b, &pl.Edges[i]
	e := &b.Pattern.Edges[c.Edge]
	step := plan.TimeStep{Choice: i, From: c.From, To: c.To, Binds: binds, After: -1, Before: -1}
	at := graph.Source
	if step.Both = e.Dir == pattern.Either || !b.Graph.Directed; step.Both {
		at = graph.Both
	}
	if binds && c.To < c.From {
		step.From, step.To = c.To, c.From
		if !step.Both {
			at = graph.Target
		}
	}
	timed := slices.Contains(b.timing.edges, c.Edge)
	if i > 0 {
		step.Events = s.list(b.rowsOf(c.Edge), timed, at, !binds)
	}
	if binds {
		step.Back = b.notChosen(pl, max(step.From, step.To))
	}
	for _, check := range c.Checks {
		if !check.InTime {
			step.Checks = append(step.Checks, check)
		}
	}
	return step
}

// notChosen are the backward neighbours of level l for which no edge choice
// stands.
func (b *Binding) notChosen(pl *plan.Plan, l int) []plan.Back {
	var chosen []plan.Back
	for i := range pl.Edges {
		c := &pl.Edges[i]
		if max(c.From, c.To) != l {
			continue
		}
		adj := b.adjacency(b.relation(b.rowsOf(c.Edge), b.Pattern.Edges[c.Edge].Dir))
		if c.To < c.From {
			adj = b.Adjs[adj].Rev
		}
		chosen = append(chosen, plan.Back{Level: min(c.From, c.To), Adj: adj})
	}
	return slices.DeleteFunc(slices.Clone(pl.Levels[l].Back), func(x plan.Back) bool { return slices.Contains(chosen, x) })
}
