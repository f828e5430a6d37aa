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
			return g.shard(v).marks[i].list
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
func (g *Graph) mark(d Direction, v, w uint32, label Label, all bool) {
	if label == exists {
		g.turned = append(g.turned, v)
	}
	g.touch(v)
	g.shard(v).mark(d, v, w, label, g.labelled() || label == exists, all, uint32(g.version-g.base))
}

// mark adds marks with a version of the window: one for the list of the label if own, and one for that of all labels if all.
func (sh *shard) mark(d Direction, v, w uint32, label Label, own, all bool, at uint32) {
	s := sh.sides[d]
	h := s.need(v)
	i := h.marks()
	if i < 0 {
		if i = len(sh.marks); i < cap(sh.marks) {
			sh.marks = sh.marks[:i+1]
		} else {
			sh.marks = append(sh.marks, marks{})
		}
		sh.marks[i] = marks{v: v, side: s, list: sh.marks[i].list[:0]}
		h.setMarks(i)
	}
	if own {
		sh.marks[i].add(mark{w, label, at})
	}
	if all {
		sh.marks[i].add(mark{w, AnyLabel, at})
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
	for k := range g.shards {
		ms := g.shards[k].marks
		for i := range ms {
			for _, x := range slices.Clone(ms[i].list) {
				if x.label == AnyLabel {
					ms[i].add(mark{x.w, NoLabel, x.at})
				}
			}
		}
	}
}

// Begin opens a window: until Settle, the graph can be read at each version from the present one on, and updates leave marks in lists.
// It panics if a window is open.
func (g *Graph) Begin() {
	if g.open || g.recording {
		panic("dynamic: a window is open already")
	}
	g.upToDate()
	g.open, g.base = true, g.version
	g.events = g.events[:0]
}

// Settle closes the window: the present version is the only one that can be read. Without a window it does nothing.
// It takes time in proportion to the lists that were changed.
func (g *Graph) Settle() { g.SettleBy(serially) }

// SettleBy is Settle by the workers of each.
func (g *Graph) SettleBy(each Each) {
	if g.recording {
		g.recording, g.base = false, g.version
		g.compact()
		return
	}
	if !g.open {
		return
	}
	g.open, g.lone, g.base = false, false, g.version
	if n := len(g.vertexVersions); n > 1 {
		g.vertexVersions = append(g.vertexVersions[:0], g.vertexVersions[n-1])
	}
	g.sweep(true)
	g.turnVertices()
	each(len(g.touched), func(i int) { g.touched[i].settle(g.labelled()) })
	g.compact()
}

// turnVertices changes the existence of vertices as marks say. A vertex that the window made and removed is in turned twice: its id is taken
// back once.
func (g *Graph) turnVertices() {
	slices.Sort(g.turned)
	for i, v := range g.turned {
		g.ids.setAlive(v, !g.ids.alive(v))
		if (i+1 == len(g.turned) || g.turned[i+1] != v) && !g.ids.alive(v) {
			g.take(v)
		}
	}
	if g.turned = g.turned[:0]; cap(g.turned) > keptMarks {
		g.turned = nil
	}
}

// same returns how many marks at the beginning of a list are of one entry.
func same(l []mark) int {
	n := 1
	for n < len(l) && l[n].w == l[0].w && l[n].label == l[0].label {
		n++
	}
	return n
}

// settle brings the marks into the lists.
func (sh *shard) settle(labelled bool) {
	for i := range sh.marks {
		m := &sh.marks[i]
		m.side.need(m.v).setMarks(-1)
		sh.settleOne(m, labelled)
		sh.lists.clean()
		if cap(m.list) > keptMarks {
			m.list = nil
		}
	}
	if cap(sh.marks) > keptMarks {
		sh.marks = nil
	}
	sh.marks = sh.marks[:0]
}

// keptMarks is how much room for marks is kept for later windows.
const keptMarks = 1 << 12

// settleOne changes the lists of a vertex as its marks say.
func (sh *shard) settleOne(m *marks, labelled bool) {
	odd := sh.odd[:0]
	for l := m.list; len(l) > 0; {
		x, n := l[0], same(l)
		if l = l[n:]; x.label != exists && n%2 != 0 {
			odd = append(odd, x)
		}
	}
	sh.odd = odd
	if len(odd) == 0 {
		return
	}
	if odd[0].w != odd[len(odd)-1].w {
		slices.SortFunc(odd, func(x, y mark) int { return cmp.Or(cmp.Compare(x.label, y.label), cmp.Compare(x.w, y.w)) })
	}
	ws := sh.ws[:0]
	for _, x := range odd {
		ws = append(ws, x.w)
	}
	sh.ws = ws
	by := sh.by[:0]
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
	if !labelled {
		by = append(by, labelFlips{NoLabel, all})
	}
	sh.by = by
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
	for _, sh := range g.touched {
		sh.touched = false
		sh.lists.clean()
		g.crowded = g.crowded || sh.lists.full()
	}
	g.touched = g.touched[:0]
	g.rows.lists.clean()
}

// clean moves blocks of lists together until no more is gained.
func (g *Graph) clean() {
	for i := range g.shards {
		for a := &g.shards[i].lists; a.debt > 0; {
			a.clean()
		}
	}
}
