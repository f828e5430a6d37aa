package graph

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Event is a data edge as one of its ends sees it.
type Event struct {
	Time  int64
	Other uint32 // the other end
	Row   uint32 // of the edge table
}

// End says at which of its ends an edge is listed.
type End uint8

// Ends of an edge.
const (
	Source End = iota
	Target
	Both // edges without direction, or those either way
)

// Events lists data edges by vertex. The edges of a vertex in a window of time are a slice, and
// so are those between two vertices.
type Events struct {
	Off  []uint64
	List []Event
}

// At are the events at v.
func (e *Events) At(v uint32) []Event { return e.List[e.Off[v]:e.Off[v+1]] }

// Window is the part of a list sorted by time with lo ≤ time ≤ hi.
func Window(list []Event, lo, hi int64) []Event {
	i := search(list, func(x *Event) bool { return x.Time < lo })
	list = list[i:]
	// The window is usually a small part at the beginning of the rest.
	n := 1
	for n < len(list) && list[n].Time <= hi {
		n *= 2
	}
	list = list[:min(n, len(list))]
	return list[:search(list, func(x *Event) bool { return x.Time <= hi })]
}

// Between is the part of a list sorted by the other end with lo ≤ time ≤ hi and
// that end.
func Between(list []Event, other uint32, lo, hi int64) []Event {
	i := search(list, func(x *Event) bool { return x.Other < other || x.Other == other && x.Time < lo })
	list = list[i:]
	n := 1
	for n < len(list) && list[n].Other == other && list[n].Time <= hi {
		n *= 2
	}
	list = list[:min(n, len(list))]
	return list[:search(list, func(x *Event) bool { return x.Other == other && x.Time <= hi })]
}

// search is the number of elements at the beginning of list for which before
// holds, which no later one may follow.
func search(list []Event, before func(*Event) bool) int {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if before(&list[mid]) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// NewEvents lists the rows of the edge table that keep accepts (nil accepts all), at one of
// their ends or at both. times has the time of each row.
//
// Rows are sorted by time or, with byOther, by the other end and then by time. Equal ones are
// sorted by row. Several goroutines call keep at once.
func NewEvents(g *Graph, at End, byOther bool, times []int64, keep func(row int) bool) *Events {
	ctx, threads := context.Background(), threadCount(0)
	t := g.Edges
	e := &Events{Off: make([]uint64, g.NumVertices()+2)}
	each := func(f func(v, other uint32, row int)) {
		_ = parallel(ctx, threads, uint64(len(t.Dst)), 1<<14, func(_ int, lo, hi uint64) {
			for row := int(lo); row < int(hi); row++ {
				if keep != nil && !keep(row) {
					continue
				}
				if at != Target {
					f(t.Src[row], t.Dst[row], row)
				}
				if at != Source {
					f(t.Dst[row], t.Src[row], row)
				}
			}
		})
	}
	// At first Off[v+2] counts. Then Off[v+1] is the place of v's next event, and at last the
	// end of v's events.
	each(func(v, _ uint32, _ int) { atomic.AddUint64(&e.Off[v+2], 1) })
	for v := 2; v < len(e.Off); v++ {
		e.Off[v] += e.Off[v-1]
	}
	e.List = make([]Event, e.Off[len(e.Off)-1])
	each(func(v, other uint32, row int) {
		e.List[atomic.AddUint64(&e.Off[v+1], 1)-1] = Event{times[row], other, uint32(row)}
	})
	e.Off = e.Off[:len(e.Off)-1]
	order := func(x, y Event) int { return cmp.Or(cmp.Compare(x.Time, y.Time), cmp.Compare(x.Row, y.Row)) }
	if byOther {
		byTime := order
		order = func(x, y Event) int { return cmp.Or(cmp.Compare(x.Other, y.Other), byTime(x, y)) }
	}
	_ = overVertices(ctx, threads, e.Off, func(_ int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			slices.SortFunc(e.At(v), order)
		}
	})
	return e
}

// eventIndex caches the events of all edges by their times.
type eventIndex struct {
	mu sync.Mutex
	by map[eventKey]*Events
}

type eventKey struct {
	at      End
	byOther bool
}

// Events lists all data edges by the times of the edge table, which must have
// them; see NewEvents. It is made on the first call and kept. Safe for concurrent
// use.
func (g *Graph) Events(at End, byOther bool) *Events {
	x := &g.events
	x.mu.Lock()
	defer x.mu.Unlock()
	k := eventKey{at, byOther}
	if x.by == nil {
		x.by = map[eventKey]*Events{}
	}
	if x.by[k] == nil {
		x.by[k] = NewEvents(g, at, byOther, g.Edges.Time, nil)
	}
	return x.by[k]
}
