package dynamic

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrTooLarge means that the graph has no room for an update: internal ids have 32 bits.
var ErrTooLarge = errors.New("too large")

// ErrID means that a vertex id is not of the graph's kind, or is out of range.
var ErrID = errors.New("bad vertex id")

// Result says what an update did.
type Result uint8

// Results of updates. Each update makes a new version, also if it changes nothing.
const (
	Applied   Result = iota
	Duplicate        // the graph has the edge, the vertex or the labels already
	Absent           // the graph does not have the edge or the vertex
	SelfLoop         // both ends are one vertex: graphs have no such edges
)

// String returns the result as a word.
func (r Result) String() string {
	return [...]string{"applied", "duplicate", "absent", "self-loop"}[r]
}

// EventKind is a kind of change.
type EventKind uint8

// Kinds of events.
const (
	EdgeAdded EventKind = iota
	EdgeRemoved
	VertexAdded   // U is the vertex
	VertexRemoved // U is the vertex; the events of its edges come before
	// VertexMoved: the vertex U has other labels, and from this version on the id V. The removals of its edges at U and their
	// additions at V follow.
	VertexMoved
)

// Event is one change of the graph, in internal ids. An update may make several.
type Event struct {
	Version uint64
	Kind    EventKind
	U, V    uint32
	Label   Label
}

// Events are the changes since the window was opened, or of the last update if none is open. They are valid until the next
// update or Begin.
func (g *Graph) Events() []Event { return g.events }

func (g *Graph) event(k EventKind, u, v uint32, label Label) {
	g.events = append(g.events, Event{g.version, k, u, v, label})
}

// begin makes a new version, after it has checked the update: its ids, its label, and that n vertices of a class can be added.
func (g *Graph) begin(label Label, c Class, n int, ids ...ID) error {
	for _, id := range ids {
		if err := g.check(id); err != nil {
			return err
		}
	}
	if int64(label) > int64(len(g.edgeLabels)) {
		return fmt.Errorf("dynamic: the graph has %d edge labels, and none has number %d", len(g.edgeLabels), label)
	}
	if int64(c) >= int64(len(g.ids.classes)) {
		return fmt.Errorf("dynamic: the graph has %d classes, and none has number %d", len(g.ids.classes), c)
	}
	if g.open && g.version-g.base == math.MaxUint32 || len(g.marks) > maxMarks/2 {
		return fmt.Errorf("%w: more updates than a window can have", ErrTooLarge)
	}
	if g.lists.full() {
		return fmt.Errorf("%w: no room is left for neighbour lists", ErrTooLarge)
	}
	if err := g.ids.reserve(uint32(c), n); err != nil {
		return err
	}
	g.version++
	if !g.open {
		g.base = g.version
		g.events = g.events[:0]
	}
	return nil
}

// check returns an error if id cannot be one of the graph's.
func (g *Graph) check(id ID) error {
	switch {
	case g.ids.text && id.kind != textID:
		return fmt.Errorf("%w %s: the graph's ids are texts", ErrID, id)
	case !g.ids.text && id.kind == textID:
		return fmt.Errorf("%w %q: the graph's ids are numbers", ErrID, id.text)
	case id.num > math.MaxInt64:
		return fmt.Errorf("%w %s: numbers must be below 2^63", ErrID, id)
	}
	return nil
}

// AddVertex adds a vertex of a class. A vertex that has this id and is of another class makes a Duplicate too; Relabel changes it.
func (g *Graph) AddVertex(id ID, c Class) (Result, error) {
	if err := g.begin(NoLabel, c, 1, id); err != nil {
		return 0, err
	}
	if g.ids.find(id) != noVertex {
		return Duplicate, nil
	}
	g.add(id, c)
	return Applied, nil
}

// add makes a new vertex.
func (g *Graph) add(id ID, c Class) uint32 {
	v := g.ids.give(id, uint32(c))
	g.ids.name(id, v)
	g.turnVertex(v)
	g.event(VertexAdded, v, noVertex, NoLabel)
	g.ids.live++
	return v
}

// turnVertex makes a vertex that does not exist exist, and the other way round.
func (g *Graph) turnVertex(v uint32) {
	if g.open {
		g.mark(g.sides[0], v, v, exists, false)
		return
	}
	g.ids.setAlive(v, !g.ids.alive(v))
}

// RemoveVertex removes a vertex and all its edges.
func (g *Graph) RemoveVertex(id ID) (Result, error) {
	if err := g.begin(NoLabel, 0, 0, id); err != nil {
		return 0, err
	}
	v := g.ids.find(id)
	if v == noVertex {
		return Absent, nil
	}
	for _, e := range g.edgesOf(v) {
		g.turnEdge(EdgeRemoved, e.u, e.v, e.label)
	}
	g.ids.forget(id)
	g.ids.live--
	g.turnVertex(v)
	g.event(VertexRemoved, v, noVertex, NoLabel)
	if !g.open {
		g.ids.take(v)
		g.compact()
	}
	return Applied, nil
}

// Relabel makes a vertex one of another class. Its internal id changes.
func (g *Graph) Relabel(id ID, c Class) (Result, error) {
	if err := g.begin(NoLabel, c, 1, id); err != nil {
		return 0, err
	}
	old := g.ids.find(id)
	switch {
	case old == noVertex:
		return Absent, nil
	case g.ClassOf(old) == c:
		return Duplicate, nil
	}
	v := g.ids.give(id, uint32(c))
	g.ids.name(id, v)
	g.event(VertexMoved, old, v, NoLabel)
	edges := g.edgesOf(old)
	for _, e := range edges {
		g.turnEdge(EdgeRemoved, e.u, e.v, e.label)
	}
	g.turnVertex(old)
	g.turnVertex(v)
	for _, e := range edges {
		if e.u == old {
			e.u = v
		} else {
			e.v = v
		}
		g.turnEdge(EdgeAdded, e.u, e.v, e.label)
	}
	if !g.open {
		g.ids.take(old)
		g.compact()
	}
	return Applied, nil
}

// AddEdge adds an edge, from u to v if the graph is directed. Ends that the graph does not have become vertices without labels, as
// in files.
func (g *Graph) AddEdge(u, v ID, label Label) (Result, error) {
	if err := g.begin(label, 0, 2, u, v); err != nil {
		return 0, err
	}
	if u == v {
		return SelfLoop, nil
	}
	x, y := g.ids.find(u), g.ids.find(v)
	if x != noVertex && y != noVertex && g.has(x, y, label) {
		return Duplicate, nil
	}
	if x == noVertex {
		x = g.add(u, 0)
	}
	if y == noVertex {
		y = g.add(v, 0)
	}
	g.turnEdge(EdgeAdded, x, y, label)
	if !g.open {
		g.compact()
	}
	return Applied, nil
}

// RemoveEdge removes an edge. Its ends stay.
func (g *Graph) RemoveEdge(u, v ID, label Label) (Result, error) {
	if err := g.begin(label, 0, 0, u, v); err != nil {
		return 0, err
	}
	if u == v {
		return SelfLoop, nil
	}
	x, y := g.ids.find(u), g.ids.find(v)
	if x == noVertex || y == noVertex || !g.has(x, y, label) {
		return Absent, nil
	}
	g.turnEdge(EdgeRemoved, x, y, label)
	if !g.open {
		g.compact()
	}
	return Applied, nil
}

// has reports whether the present version has an edge.
func (g *Graph) has(u, v uint32, label Label) bool {
	return g.Now().Has(u, v, Out, label)
}

// turnEdge adds an edge that the graph does not have, or removes one that it has.
func (g *Graph) turnEdge(k EventKind, u, v uint32, label Label) {
	all := !g.labelled() || !g.parallel(u, v, label)
	g.turn(g.sides[0], u, v, label, all)
	g.turn(g.sides[len(g.sides)-1], v, u, label, all)
	g.event(k, u, v, label)
	if k == EdgeAdded {
		g.edges++
	} else {
		g.edges--
	}
}

// turn turns the entry w of v's list of a label round, and if all, that of the list of all labels.
func (g *Graph) turn(s *side, v, w uint32, label Label, all bool) {
	if g.open {
		g.mark(s, v, w, label, all)
		return
	}
	g.ws = append(g.ws[:0], w)
	g.by = append(g.by[:0], labelFlips{label, g.ws})
	if all {
		s.flip(v, g.by, g.ws)
	} else {
		s.flip(v, g.by, nil)
	}
}

// parallel reports whether u has an edge to v with another label.
func (g *Graph) parallel(u, v uint32, label Label) bool {
	g.ls = g.Now().Labels(u, Out, g.ls)
	for _, l := range g.ls {
		if l != label && g.has(u, v, l) {
			return true
		}
	}
	return false
}

// appendLabels appends all labels that v's edges may have in a version of the window.
func (g *Graph) appendLabels(s *side, v uint32, ls []Label) []Label {
	k := len(ls)
	ls = s.labels(v, ls)
	settled := len(ls)
	for _, m := range g.marksOf(s, v) {
		switch {
		case m.label < exists && !slices.Contains(ls[settled:], m.label):
			ls = append(ls, m.label)
		case m.label == AnyLabel && !g.labelled() && len(ls) == k:
			ls = append(ls, NoLabel)
		}
	}
	return ls
}

type edge struct {
	u, v  uint32
	label Label
}

// edgesOf returns the edges of v in the present version. The slice is valid until the next call.
func (g *Graph) edgesOf(v uint32) []edge {
	es := g.es[:0]
	for i := range g.sides {
		d := Direction(i)
		g.ls = g.Now().Labels(v, d, g.ls)
		for _, l := range g.ls {
			for _, w := range g.Now().List(v, d, l, nil, &g.ws) {
				e := edge{v, w, l}
				if d == In {
					e = edge{w, v, l}
				}
				es = append(es, e)
			}
		}
	}
	g.es = es
	return es
}
