package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// TimeProgram is a plan for the method Temporal: edge extension, as in Everest
// (Yuan et al., arXiv:2310.02800, 2023) and before it in Mackey et al. (A
// chronological edge-driven approach to temporal subgraph isomorphism, 2018). A
// match grows by one data edge at a time. What ORDERED and WITHIN leave for the
// next one is a window of time, and the data edges in a window are a slice of a
// list that is sorted by time: those outside cost nothing, however many there are.
type TimeProgram struct {
	Key   string  // the property that times are in
	Times []int64 // of the rows of the edge table
	// Within is the most that the latest is after the earliest, where Bounded.
	Within  int64
	Bounded bool
	// Roots are the rows of the edge table that step 0 may take; nil: all.
	Roots []uint32
	Steps []TimeStep
	// Tail: a last step that only closes is a size in a count.
	Tail bool
}

// TimeStep adds one data edge, or one vertex, to a partial match.
type TimeStep struct {
	// Choice is the index in Plan.Edges; -1: a vertex that no edge with a time
	// leads to, found among the neighbours of those before it.
	Choice int
	// From and To are the levels of the ends. Binds: To's vertex becomes known by
	// this step; in step 0 both do. Otherwise the step closes: both are known.
	From, To int
	Binds    bool
	// Both: the edge may go either way, or the graph has no directions.
	Both bool
	// Timed edges are later than that of step After and earlier than that of step
	// Before (-1: none), and within the bound of all timed ones before them.
	Timed         bool
	After, Before int
	// Events has the data edges that the step may take: at From's vertex, sorted by
	// time where the step binds, else by the other end and time; nil for step 0.
	Events *graph.Events
	// Back are the backward neighbours of To's level that no edge choice implies.
	Back []Back
	// Checks are the choice's conditions, but for those in time.
	Checks []Check
	// Estimate is the expected number of partial matches after the step.
	Estimate float64
}

// Bounds is the window of step k. at[i] is the time of step i < k, and first[i]
// and last[i] are the least and the greatest of the timed steps up to i.
func (t *TimeProgram) Bounds(k int, at, first, last []int64) (lo, hi int64) {
	s := &t.Steps[k]
	lo, hi = math.MinInt64, math.MaxInt64
	if !s.Timed {
		return lo, hi
	}
	if t.Bounded {
		if x := last[k-1] - t.Within; x <= last[k-1] {
			lo = x
		}
		if x := first[k-1] + t.Within; x >= first[k-1] {
			hi = x
		}
	}
	if s.After >= 0 {
		if at[s.After] == math.MaxInt64 {
			return 1, 0
		}
		lo = max(lo, at[s.After]+1)
	}
	if s.Before >= 0 {
		if at[s.Before] == math.MinInt64 {
			return 1, 0
		}
		hi = min(hi, at[s.Before]-1)
	}
	return lo, hi
}

// wantsTemporal reports whether edge extension is asked for, or is what suits a
// query with an order in time.
func (b *binding) wantsTemporal(o Options) bool {
	auto := (o.Method == "" || o.Method == "direct") && (o.Order == "" || o.Order == "auto" || o.Order == "cost")
	return b.empty == nil && (o.Method == Temporal.String() || auto && b.p.Order != nil)
}

// temporalOK says why edge extension does not suit the query, or nil.
func (b *binding) temporalOK(o Options) error {
	switch t := b.timing; {
	case b.p.Order == nil:
		return fmt.Errorf("there is neither ORDERED nor WITHIN")
	case t == nil:
		return fmt.Errorf("no edge has a time")
	case wholeOf(t.col) == nil:
		return fmt.Errorf("%s is not a column of whole numbers", pattern.QuoteName(t.key))
	case o.Root >= 0:
		return fmt.Errorf("it does not count by vertex")
	case !b.p.Connected():
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
	b      *binding
	col    *whole
	events map[string]*graph.Events
	roots  map[int][]uint32
}

// list returns the events of the rows in set.
func (s *timeSource) list(rows *rowSet, timed bool, at graph.End, byOther bool) *graph.Events {
	g := s.b.g
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
	b, e, t := s.b, &s.b.p.Edges[edge], s.b.g.Edges
	from, to := &b.vertices[e.From], &b.vertices[e.To]
	var list []uint32
	if free := func(v *boundVertex) bool { return v.ranges == nil && v.bits == nil }; !rows.all || s.col.valid != nil || !free(from) || !free(to) {
		list = []uint32{}
		fits := func(u, v uint32) bool { return from.takes(u) && to.takes(v) }
		both := e.Dir == pattern.Either || !b.g.Directed
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
func (v *boundVertex) takes(c uint32) bool {
	return (v.ranges == nil || slices.ContainsFunc(v.ranges, func(r Range) bool { return r.First <= c && c < r.End })) &&
		(v.bits == nil || v.bits[c/64]>>(c%64)&1 != 0)
}

// program writes the steps of a plan in which extends[l] is the pattern edge that
// leads to the vertex of level l, -1 where none does. It returns false where a
// condition makes such an edge wait for a later level.
func (s *timeSource) program(pl *Plan, extends []int, o Options) bool {
	t := s.b.timing
	prog := &TimeProgram{Key: t.key, Times: s.col.times, Within: t.within, Bounded: t.bounded, Tail: !o.NoTail && !o.Listing}
	places := map[int]int{} // of the timed edges so far: place in the order to step
	next := 0
	for l := 1; l < len(pl.Levels); l++ {
		if extends[l] < 0 {
			prog.Steps = append(prog.Steps, TimeStep{Choice: -1, From: -1, To: l, Binds: true, After: -1, Before: -1, Back: pl.Levels[l].Back})
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
	first.Events, prog.Roots = nil, s.first(extends[1], pl.Edges[0].rows)
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
func (s *timeSource) step(pl *Plan, i int, binds bool) TimeStep {
	b, c := s.b, &pl.Edges[i]
	e := &b.p.Edges[c.Edge]
	step := TimeStep{Choice: i, From: c.From, To: c.To, Binds: binds, After: -1, Before: -1}
	at := graph.Source
	if step.Both = e.Dir == pattern.Either || !b.g.Directed; step.Both {
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
		step.Events = s.list(c.rows, timed, at, !binds)
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
func (b *binding) notChosen(pl *Plan, l int) []Back {
	var chosen []Back
	for i := range pl.Edges {
		c := &pl.Edges[i]
		if max(c.From, c.To) != l {
			continue
		}
		adj := b.adjacency(b.relation(c.rows, b.p.Edges[c.Edge].Dir))
		if c.To < c.From {
			adj = b.adjs[adj].Rev
		}
		chosen = append(chosen, Back{Level: min(c.From, c.To), Adj: adj})
	}
	return slices.DeleteFunc(slices.Clone(pl.Levels[l].Back), func(x Back) bool { return slices.Contains(chosen, x) })
}
