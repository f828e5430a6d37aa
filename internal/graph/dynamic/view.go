package dynamic

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Direction says which edges of a vertex a list has. On an undirected graph each direction has all edges.
type Direction uint8

// Directions.
const (
	Out    Direction = iota // to successors
	In                      // from predecessors
	Either                  // each neighbour once
)

// View reads the graph at one version. Views are safe for concurrent use while nothing updates the graph.
type View struct {
	g  *Graph
	at uint32
}

// At returns the graph at a version of the window, from the one before its first update to the present one. It panics for other
// versions.
func (g *Graph) At(version uint64) View {
	g.upToDate()
	if version < g.base || version > g.version {
		panic(fmt.Sprintf("dynamic: version %d is not in the window %d to %d", version, g.base, g.version))
	}
	return View{g, uint32(version - g.base)}
}

// Now returns the graph at the present version.
func (g *Graph) Now() View {
	g.upToDate()
	return View{g, uint32(g.version - g.base)}
}

// label returns the label under which lists have the edges with a label.
func (g *Graph) label(l Label) Label {
	if l == NoLabel && !g.labelled() {
		return AnyLabel
	}
	return l
}

// part is the part of a sorted list in r.
func part(l []uint32, r Range) []uint32 {
	if len(l) == 0 || l[0] >= r.First && l[len(l)-1] < r.End {
		return l
	}
	i, _ := search(l, r.First)
	l = l[i:]
	i, _ = search(l, r.End)
	return l[:i]
}

// List returns v's neighbours along edges with a label or AnyLabel, ascending and each once. within has the ranges of ids to look in,
// ascending, for example those of classes; nil means all. The list is a part of the graph where no update of the window changed
// it and within is at most one range. Otherwise it is in *buf, which grows as needed. The caller must not change the list, which is
// valid until the next update. On a directed graph lists of Either are always in *buf.
func (w View) List(v uint32, d Direction, label Label, within []Range, buf *[]uint32) []uint32 {
	g := w.g
	if d == Either && g.directed {
		l := w.List(v, Out, label, within, buf)
		to := append((*buf)[:0], l...)
		outs := len(to)
		rest := to[outs:]
		to = append(to, w.List(v, In, label, within, &rest)...)
		all := len(to)
		to = appendUnion(to, to[:outs], to[outs:])
		*buf = to
		return to[:copy(to, to[all:])]
	}
	s := g.side(d, v)
	label = g.label(label)
	l, ms := s.list(v, label), w.relevant(s, v, label)
	if ms == nil && within == nil {
		return l
	}
	if ms == nil && len(within) == 1 {
		return part(l, within[0])
	}
	to := (*buf)[:0]
	if within == nil {
		to = w.merge(to, l, ms, label)
	}
	for _, r := range within {
		to = w.merge(to, part(l, r), marksIn(ms, r), label)
	}
	*buf = to
	return to
}

// appendUnion appends to to the elements of two sorted lists, each once.
func appendUnion(to, x, y []uint32) []uint32 {
	for len(x) > 0 && len(y) > 0 {
		a, b := x[0], y[0]
		to = append(to, min(a, b))
		if a <= b {
			x = x[1:]
		}
		if b <= a {
			y = y[1:]
		}
	}
	return append(append(to, x...), y...)
}

// relevant are v's marks, or nil if none of them concerns the label at this version.
func (w View) relevant(s *side, v uint32, label Label) []mark {
	ms := w.g.marksOf(s, v)
	for i := range ms {
		if ms[i].label == label && ms[i].at <= w.at {
			return ms
		}
	}
	return nil
}

// merge appends to to the entries of l, except for those that marks turn round, and the others that marks turn round.
func (w View) merge(to, l []uint32, ms []mark, label Label) []uint32 {
	for len(ms) > 0 {
		var x uint32
		var odd bool
		if x, odd, ms = next(ms, label, w.at); !odd {
			continue
		}
		i, found := search(l, x)
		to = append(to, l[:i]...)
		if l = l[i:]; found {
			l = l[1:]
		} else {
			to = append(to, x)
		}
	}
	return append(to, l...)
}

// Len returns the length of List. It makes the list only for Either on a directed graph.
func (w View) Len(v uint32, d Direction, label Label, within []Range, buf *[]uint32) int {
	g := w.g
	if d == Either && g.directed {
		return len(w.List(v, d, label, within, buf))
	}
	s := g.side(d, v)
	label = g.label(label)
	l, ms := s.list(v, label), w.relevant(s, v, label)
	if within == nil {
		return w.length(l, ms, label)
	}
	n := 0
	for _, r := range within {
		n += w.length(part(l, r), marksIn(ms, r), label)
	}
	return n
}

func (w View) length(l []uint32, ms []mark, label Label) int {
	n := len(l)
	for len(ms) > 0 {
		var x uint32
		var odd bool
		if x, odd, ms = next(ms, label, w.at); !odd {
			continue
		}
		if _, found := search(l, x); found {
			n--
		} else {
			n++
		}
	}
	return n
}

// Has reports whether x is in v's list of a label or AnyLabel.
func (w View) Has(v, x uint32, d Direction, label Label) bool {
	g := w.g
	if d == Either && g.directed {
		return w.Has(v, x, Out, label) || w.Has(v, x, In, label)
	}
	s := g.side(d, v)
	label = g.label(label)
	_, found := search(s.list(v, label), x)
	return found != turned(g.marksOf(s, v), x, label, w.at)
}

// Edge is an edge of a version. On an undirected graph either end may be U.
type Edge struct {
	U, V  uint32
	Label Label
	ID    EdgeID // NoEdge in a graph without times, unless the edge has properties
	Time  int64  // if edges have times
}

// Span is the times First … Last.
type Span struct{ First, Last int64 }

// Always is the span of all times.
var Always = Span{math.MinInt64, math.MaxInt64}

// Edges appends to buf the edges between v and x of a direction, with a label or AnyLabel, and with times in the span, if edges have
// times. Those with the same label and direction follow each other by ascending times.
func (w View) Edges(v, x uint32, d Direction, label Label, during Span, buf []Edge) []Edge {
	switch {
	case d == Either && w.g.directed:
		buf = w.Edges(v, x, Out, label, during, buf)
		return w.Edges(v, x, In, label, during, buf)
	case label == AnyLabel && w.g.labelled():
		var room [8]Label
		for _, l := range w.Labels(v, d, room[:0]) {
			buf = w.Edges(v, x, d, l, during, buf)
		}
		return buf
	case label == AnyLabel:
		label = NoLabel
	}
	if d == In {
		v, x = x, v
	}
	g := w.g
	if !g.timed {
		if e := (Edge{v, x, label, NoEdge, 0}); w.Has(v, x, Out, label) {
			if g.rows.n > 0 {
				e.ID = w.rowAt(*g.rows.link(v, x, label))
			}
			buf = append(buf, e)
		}
		return buf
	}
	ref := *g.rows.link(v, x, label)
	one := [1]uint32{ref - 1}
	l := one[:]
	switch {
	case ref == 0:
		return buf
	case ref&isGroup != 0:
		l = g.rows.members(g.rows.group(ref))
		l = l[g.rows.place(l, during.First, 0):]
	}
	for _, r := range l {
		row := g.rows.row(r)
		if row.time > during.Last {
			break
		}
		if row.time >= during.First && w.hasRow(r) {
			buf = append(buf, Edge{v, x, label, EdgeID(r), row.time})
		}
	}
	return buf
}

// hasRow reports whether the version has a row.
func (w View) hasRow(r uint32) bool {
	s := w.g.rows.span(r)
	return s.born <= w.at && w.at < s.died
}

// rowAt returns the row of the version that ref refers to, of which there is one at most in a graph without times.
func (w View) rowAt(ref uint32) EdgeID {
	if ref == 0 {
		return NoEdge
	}
	one := [1]uint32{ref - 1}
	l := one[:]
	if ref&isGroup != 0 {
		l = w.g.rows.members(w.g.rows.group(ref))
	}
	for _, r := range l {
		if w.hasRow(r) {
			return EdgeID(r)
		}
	}
	return NoEdge
}

// Edge returns the edge with a number. It must be one of the window's.
func (w View) Edge(id EdgeID) Edge {
	e := w.g.rowEdge(uint32(id))
	return Edge{e.u, e.v, e.label, e.id, e.time}
}

// VertexValue returns a vertex's value of a property.
func (w View) VertexValue(v uint32, k Key) Value { return w.value(&w.g.vertexProps, k, v) }

// EdgeValue returns an edge's value of a property. NoEdge has none.
func (w View) EdgeValue(id EdgeID, k Key) Value {
	if id == NoEdge || !w.hasRow(uint32(id)) {
		return Value{}
	}
	return w.value(&w.g.edgeProps, k, uint32(id))
}

func (w View) value(x *columns, k Key, i uint32) Value {
	if int64(k) >= int64(len(x.list)) {
		return Value{}
	}
	return x.value(x.list[k].at(i, w.at))
}

// Labels returns, in buf, the labels that v's edges may have, ascending. Some may have lists that are empty at this version.
func (w View) Labels(v uint32, d Direction, buf []Label) []Label {
	buf = buf[:0]
	if d == Either && w.g.directed {
		buf = w.g.appendLabels(w.g.side(In, v), v, buf)
		d = Out
	}
	buf = w.g.appendLabels(w.g.side(d, v), v, buf)
	slices.Sort(buf)
	return slices.Compact(buf)
}

// Exists reports whether the graph has the vertex v.
func (w View) Exists(v uint32) bool {
	return w.g.ids.alive(v) != turned(w.g.marksOf(w.g.side(Out, v), v), v, exists, w.at)
}

// VertexVersion returns the last version up to this one that added, removed or moved vertices. Two versions for which it is the same have the
// same vertices.
func (w View) VertexVersion() uint64 {
	at := w.g.base + uint64(w.at)
	i := sort.Search(len(w.g.vertexVersions), func(i int) bool { return w.g.vertexVersions[i] > at })
	if i == 0 {
		return 0
	}
	return w.g.vertexVersions[i-1]
}

// Vertices calls yield with the vertices in some ranges of ids, ascending, until yield returns false. nil means all.
func (w View) Vertices(within []Range, yield func(v uint32) bool) {
	if within == nil {
		within = []Range{{0, w.g.ids.end}}
	}
	for _, r := range within {
		end := min(uint64(r.End+pageMask)>>pageBits, uint64(w.g.ids.pages.end())*pageSize)
		for p := r.First >> pageBits; uint64(p) < end; p++ {
			page := w.g.ids.page(p)
			if page == nil {
				continue
			}
			use := ^uint32(0) // all ids of the page that were ever used may exist in a window
			if !w.g.open {
				use = page.live
			}
			for ; use != 0; use &= use - 1 {
				v := p<<pageBits | uint32(bits.TrailingZeros32(use))
				if v >= r.First && v < r.End && (!w.g.open || w.Exists(v)) && !yield(v) {
					return
				}
			}
		}
	}
}
