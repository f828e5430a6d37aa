package dynamic

import (
	"cmp"
	"slices"
)

// mark says that an entry of a list is turned round: from version at of the window on, w is in the list of the label if it was not
// before, and is not if it was.
type mark struct {
	w     uint32
	label Label
	at    uint32 // versions after the beginning of the window
}

func compareMarks(x, y mark) int {
	switch {
	case x.w != y.w:
		return cmp.Compare(x.w, y.w)
	case x.label != y.label:
		return cmp.Compare(x.label, y.label)
	}
	return cmp.Compare(x.at, y.at)
}

// marks are those of one vertex in one direction, in the order of compareMarks.
type marks struct {
	v    uint32
	side *side
	list []mark
}

// marksIn is the part of marks with neighbours in r.
func marksIn(list []mark, r Range) []mark {
	before := func(end uint32) int {
		i, _ := slices.BinarySearchFunc(list, end, func(m mark, w uint32) int { return cmp.Compare(m.w, w) })
		return i
	}
	return list[before(r.First):before(r.End)]
}

// marksOf are v's marks.
func (g *Graph) marksOf(s *side, v uint32) []mark {
	if h := s.head(v); h != nil {
		if i := h.marks(); i >= 0 {
			return g.marks[i].list
		}
	}
	return nil
}

// turned reports whether marks with w and the label, up to a version, turn the entry round.
func turned(list []mark, w uint32, label Label, at uint32) bool {
	i, _ := slices.BinarySearchFunc(list, mark{w: w, label: label}, compareMarks)
	odd := false
	for ; i < len(list) && list[i].w == w && list[i].label == label && list[i].at <= at; i++ {
		odd = !odd
	}
	return odd
}

// next returns the neighbour of the first marks of list, whether those of the label up to a version turn its entry round, and the
// marks of later neighbours.
func next(list []mark, label Label, at uint32) (w uint32, odd bool, rest []mark) {
	w = list[0].w
	i := 0
	for ; i < len(list) && list[i].w == w; i++ {
		if list[i].label == label && list[i].at <= at {
			odd = !odd
		}
	}
	return w, odd, list[i:]
}

// mark adds marks with the present version.
func (g *Graph) mark(s *side, v, w uint32, label Label, all bool) {
	h := s.need(v)
	i := h.marks()
	if i < 0 {
		if i = len(g.marks); i < cap(g.marks) {
			g.marks = g.marks[:i+1]
		} else {
			g.marks = append(g.marks, marks{})
		}
		g.marks[i] = marks{v: v, side: s, list: g.marks[i].list[:0]}
		h.setMarks(i)
	}
	at := uint32(g.version - g.base)
	if g.labelled() || label == exists {
		g.marks[i].add(mark{w, label, at})
	}
	if all {
		g.marks[i].add(mark{w, AnyLabel, at})
	}
}

func (m *marks) add(x mark) {
	if n := len(m.list); n == 0 || compareMarks(m.list[n-1], x) < 0 {
		m.list = append(m.list, x)
		return
	}
	i, _ := slices.BinarySearchFunc(m.list, x, compareMarks)
	m.list = slices.Insert(m.list, i, x)
}

// nameUnlabelled gives the marks of a graph that had no edge labels the label NoLabel too.
func (g *Graph) nameUnlabelled() {
	for i := range g.marks {
		for _, x := range slices.Clone(g.marks[i].list) {
			if x.label == AnyLabel {
				g.marks[i].add(mark{x.w, NoLabel, x.at})
			}
		}
	}
}

// Begin opens a window: until Settle, the graph can be read at each version from the present one on, and updates leave marks in lists.
// It panics if a window is open.
func (g *Graph) Begin() {
	if g.open {
		panic("dynamic: a window is open already")
	}
	g.open, g.base = true, g.version
	g.events = g.events[:0]
}

// Settle closes the window: the present version is the only one that can be read. Without a window it does nothing.
// It takes time in proportion to the lists that were changed.
func (g *Graph) Settle() {
	if !g.open {
		return
	}
	g.open, g.lone, g.base = false, false, g.version
	g.sweep(true)
	for i := range g.marks {
		m := &g.marks[i]
		m.side.need(m.v).setMarks(-1)
		g.settle(m)
		g.lists.clean()
		if cap(m.list) > keptMarks {
			m.list = nil
		}
	}
	if cap(g.marks) > keptMarks {
		g.marks = nil
	}
	g.marks = g.marks[:0]
	g.compact()
}

// keptMarks is how much room for marks is kept for later windows.
const keptMarks = 1 << 12

// settle changes the lists of a vertex as its marks say.
func (g *Graph) settle(m *marks) {
	odd := g.odd[:0]
	for l := m.list; len(l) > 0; {
		x := l[0]
		n := 1
		for n < len(l) && l[n].w == x.w && l[n].label == x.label {
			n++
		}
		l = l[n:]
		switch {
		case x.label == exists:
			if n%2 != 0 {
				g.ids.setAlive(m.v, !g.ids.alive(m.v))
			}
			if !g.ids.alive(m.v) {
				g.take(m.v)
			}
		case n%2 != 0:
			odd = append(odd, x)
		}
	}
	g.odd = odd
	if len(odd) == 0 {
		return
	}
	if odd[0].w != odd[len(odd)-1].w {
		slices.SortFunc(odd, func(x, y mark) int { return cmp.Or(cmp.Compare(x.label, y.label), cmp.Compare(x.w, y.w)) })
	}
	ws := g.ws[:0]
	for _, x := range odd {
		ws = append(ws, x.w)
	}
	g.ws = ws
	by := g.by[:0]
	var all []uint32
	for i := 0; i < len(odd); {
		j := i
		for j < len(odd) && odd[j].label == odd[i].label {
			j++
		}
		if odd[i].label == AnyLabel {
			all = ws[i:j]
		} else {
			by = append(by, labelFlips{odd[i].label, ws[i:j]})
		}
		i = j
	}
	if !g.labelled() {
		by = append(by, labelFlips{NoLabel, all})
	}
	g.by = by
	m.side.flip(m.v, by, all)
}

// sweep forgets the values and edges that only versions before the present one have.
func (g *Graph) sweep(window bool) {
	if len(g.rows.dead)+len(g.rows.tags) > 0 {
		g.rows.sweep(window, g.edgeProps.clear)
	}
	if window {
		g.vertexProps.settle()
		g.edgeProps.settle()
	}
}

// take takes the internal id of a vertex that does not exist any more back, for another vertex.
func (g *Graph) take(v uint32) {
	g.vertexProps.clear(v)
	g.ids.take(v)
}

// compact moves some blocks of lists together.
func (g *Graph) compact() {
	g.lists.clean()
	g.rows.lists.clean()
}
