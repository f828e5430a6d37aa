package dynamic

import (
	"math"
	"slices"
)

// calendar has the edges of each vertex by their times, for searches that only look at a short span. It has the rows of all versions of the
// window, as the index of rows has.
type calendar struct {
	rows  *rows
	sides []table[[pageSize][]uint32] // one on an undirected graph; else out and in. Rows are sorted by time and number
}

// KeepCalendar says whether View.Near is asked. The edges of each vertex are then kept by time, too, with 8 to 16 bytes an edge.
func (g *Graph) KeepCalendar(on bool) {
	switch {
	case !on || !g.timed:
		g.rows.calendar = nil
	case g.rows.calendar == nil:
		c := &calendar{rows: &g.rows, sides: make([]table[[pageSize][]uint32], g.numSides())}
		var all []uint32
		for r := range g.rows.end {
			if g.rows.inUse(r) {
				all = append(all, r)
			}
		}
		slices.SortFunc(all, func(x, y uint32) int {
			if g.rows.before(x, g.rows.row(y).time, y) {
				return -1
			}
			return 1
		})
		for _, r := range all {
			c.add(r)
		}
		g.rows.calendar = c
	}
}

// each calls do with the lists that row r is in.
func (c *calendar) each(r uint32, do func(l *[]uint32)) {
	x := c.rows.row(r)
	in := &c.sides[len(c.sides)-1]
	do(&c.sides[0].need(x.u >> pageBits)[x.u&pageMask])
	do(&in.need(x.v >> pageBits)[x.v&pageMask])
}

func (c *calendar) add(r uint32) {
	c.each(r, func(l *[]uint32) { *l = slices.Insert(*l, c.rows.place(*l, c.rows.row(r).time, r), r) })
}

func (c *calendar) remove(r uint32) {
	c.each(r, func(l *[]uint32) {
		switch at := c.rows.place(*l, c.rows.row(r).time, r); {
		case len(*l) == 1:
			*l = nil
		case at == 0: // edges that expire are the earliest
			*l = (*l)[1:]
		default:
			*l = slices.Delete(*l, at, at+1)
		}
	})
}

// of returns the rows of v in a direction, which is not Either on a directed graph, with times in a span.
func (c *calendar) of(v uint32, d Direction, during Span) []uint32 {
	p := c.sides[int(d)%len(c.sides)].page(v >> pageBits)
	if p == nil {
		return nil
	}
	l := p[v&pageMask]
	l = l[c.rows.place(l, during.First, 0):]
	if during.Last < math.MaxInt64 {
		l = l[:c.rows.place(l, during.Last+1, 0)]
	}
	return l
}

func (c *calendar) bytes() (b uint64) {
	for i := range c.sides {
		s := &c.sides[i]
		b += s.bytes()
		for p := range s.end() {
			if page := s.page(p); page != nil {
				for _, l := range page {
					b += 4 * uint64(cap(l))
				}
			}
		}
	}
	return b
}

// Near appends to buf[:0] v's neighbours along edges with a label or AnyLabel and a time in the span, ascending and each once. within is as in
// List. ok is false if there may be more than most such edges, or if nothing is kept by time; then List is to be asked.
func (w View) Near(v uint32, d Direction, label Label, within []Range, during Span, most int, buf *[]uint32) (l []uint32, ok bool) {
	c := w.g.rows.calendar
	if c == nil {
		return nil, false
	}
	to := (*buf)[:0]
	for _, d := range w.g.directions(d) {
		rows := c.of(v, d, during)
		if most -= len(rows); most < 0 {
			return nil, false
		}
		for _, r := range rows {
			x := c.rows.row(r)
			if !w.hasRow(r) || label != AnyLabel && x.edgeLabel() != label {
				continue
			}
			other := x.u + x.v - v
			if within == nil || slices.ContainsFunc(within, func(r Range) bool { return r.First <= other && other < r.End }) {
				to = append(to, other)
			}
		}
	}
	slices.Sort(to)
	to = slices.Compact(to)
	*buf = to
	return to, true
}

// directions are those of which d consists.
func (g *Graph) directions(d Direction) []Direction {
	switch {
	case !g.directed:
		return []Direction{Out}
	case d == Either:
		return []Direction{Out, In}
	}
	return []Direction{d}
}
