package dynamic

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrTooLarge means that the graph has no room for an update: internal ids have 32 bits.
var ErrTooLarge = errors.New("too large")

// ErrID means that a vertex id is not of the graph's kind, or is out of range.
var ErrID = errors.New("bad vertex id")

// ErrTime means that an edge has a time and the graph's edges do not, or the other way round.
var ErrTime = errors.New("bad time")

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
	VertexChanged // U has another value of the property Key
	EdgeChanged   // the edge has another value of the property Key
)

// Event is one change of the graph, in internal ids. An update may make several.
type Event struct {
	Version uint64
	Kind    EventKind
	U, V    uint32
	Label   Label
	Edge    EdgeID // of an edge with a time or properties
	Key     Key
	Time    int64 // of an edge, if edges have times
}

// Events are the changes since the window was opened, or of the last update if none is open. They are valid until the next
// update or Begin.
func (g *Graph) Events() []Event { return g.events }

func (g *Graph) event(k EventKind, e edge) {
	g.events = append(g.events, Event{Version: g.version, Kind: k, U: e.u, V: e.v, Label: e.label, Edge: e.id, Time: e.time})
	if k == VertexAdded || k == VertexRemoved || k == VertexMoved {
		if !g.open {
			g.vertexVersions = g.vertexVersions[:0]
		}
		g.vertexVersions = append(g.vertexVersions, g.version)
	}
}

// vertex is what an event about a vertex says.
func vertexEvent(v, to uint32) edge { return edge{u: v, v: to, id: NoEdge} }

// begin makes a new version, after it has checked the update: its ids, its label, and that n vertices of a class can be added.
func (g *Graph) begin(label Label, c Class, n int, ids ...ID) error {
	for _, id := range ids {
		if err := g.check(id); err != nil {
			return err
		}
	}
	if len(g.edgeLabels) > maxLabels {
		return fmt.Errorf("%w: more than %d edge labels", ErrTooLarge, maxLabels)
	}
	if int64(label) > int64(len(g.edgeLabels)) {
		return fmt.Errorf("dynamic: the graph has %d edge labels, and none has number %d", len(g.edgeLabels), label)
	}
	if int64(c) >= int64(len(g.ids.classes)) {
		return fmt.Errorf("dynamic: the graph has %d classes, and none has number %d", len(g.ids.classes), c)
	}
	if g.open && g.version-g.base == math.MaxUint32 || len(g.events) > maxMarks/4 {
		return fmt.Errorf("%w: more updates than a window can have", ErrTooLarge)
	}
	if g.crowded || g.rows.lists.full() || g.rows.end >= maxRows && g.rows.free == 0 {
		return fmt.Errorf("%w: no room is left for neighbour lists", ErrTooLarge)
	}
	if err := g.ids.reserve(uint32(c), n); err != nil {
		return err
	}
	g.Remember() // this update may need marks
	g.upToDate()
	g.version++
	if !g.open {
		g.base = g.version
		g.events = g.events[:0]
		if g.follower != nil {
			g.open, g.lone, g.base = true, true, g.version-1
		}
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

// AddVertex adds a vertex of a class, with properties. A vertex that has this id and is of another class, or has other properties,
// makes a Duplicate too; Relabel and SetVertex change it.
func (g *Graph) AddVertex(id ID, c Class, ps ...Property) (Result, error) {
	if err := g.vertexProps.check(ps); err != nil {
		return 0, err
	}
	if err := g.begin(NoLabel, c, 1, id); err != nil {
		return 0, err
	}
	if g.ids.find(id) != noVertex {
		return Duplicate, nil
	}
	v := g.add(id, c)
	for _, p := range ps {
		g.vertexProps.set(p.Key, v, p.Value, 0)
	}
	return Applied, nil
}

// add makes a new vertex.
func (g *Graph) add(id ID, c Class) uint32 {
	v := g.ids.give(id, uint32(c))
	g.ids.name(id, v)
	g.turnVertex(v)
	g.event(VertexAdded, vertexEvent(v, noVertex))
	g.ids.live++
	return v
}

// turnVertex makes a vertex that does not exist exist, and the other way round.
func (g *Graph) turnVertex(v uint32) {
	if g.open {
		g.mark(Out, v, v, exists, false)
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
	g.makeLate()
	g.inWindow(func() {
		for _, e := range g.edgesOf(v) {
			g.removeEdge(e, false)
		}
		g.ids.forget(id)
		g.ids.live--
		g.turnVertex(v)
		g.event(VertexRemoved, vertexEvent(v, noVertex))
	})
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
	g.makeLate()
	g.inWindow(func() { g.moveVertex(id, old, c) })
	return Applied, nil
}

// moveVertex gives a vertex with the internal id old another one, of another class.
func (g *Graph) moveVertex(id ID, old uint32, c Class) {
	v := g.ids.give(id, uint32(c))
	g.ids.forget(id)
	g.ids.name(id, v)
	g.event(VertexMoved, vertexEvent(old, v))
	g.vertexProps.copy(old, v)
	edges := g.edgesOf(old)
	for _, e := range edges {
		g.removeEdge(e, false)
	}
	g.turnVertex(old)
	g.turnVertex(v)
	for _, e := range edges {
		from, first := e.id, true
		if e.u == old {
			e.u = v
		} else {
			e.v = v
		}
		if from != NoEdge {
			e.id, first = g.newRow(e)
			g.edgeProps.copy(uint32(from), uint32(e.id))
		}
		g.addEdge(e, first, false)
	}
}

// inWindow runs f, which changes lists many times, in a window of its own if none is open. So each list is brought up to date once.
func (g *Graph) inWindow(f func()) {
	if g.open {
		f()
		return
	}
	g.open, g.base = true, g.version-1
	f()
	g.Settle()
}

// AddEdge adds an edge, from u to v if the graph is directed, with properties. Ends that the graph does not have become vertices
// without labels, as in files. An edge with equal ends and label makes a Duplicate, also if its properties are others; SetEdge
// changes them. In a graph with times it is an error, ErrTime.
func (g *Graph) AddEdge(u, v ID, label Label, ps ...Property) (Result, error) {
	if g.timed {
		return 0, fmt.Errorf("%w: the graph's edges have times, and this one does not", ErrTime)
	}
	return g.newEdge(u, v, label, 0, ps)
}

// AddEdgeAt adds an edge with a time, as AddEdge does. Edges of other times are others. A graph without edges becomes one with
// times. In a graph whose edges have no times it is an error, ErrTime.
func (g *Graph) AddEdgeAt(u, v ID, label Label, time int64, ps ...Property) (Result, error) {
	if !g.timed {
		if g.NumEdges() > 0 || g.open && slices.ContainsFunc(g.events, func(e Event) bool { return e.Kind == EdgeAdded || e.Kind == EdgeRemoved }) {
			return 0, fmt.Errorf("%w: the graph's edges have no times, and this one does", ErrTime)
		}
	}
	was, rowed := g.timed, g.rowed
	g.timed, g.rowed = true, true
	res, err := g.newEdge(u, v, label, time, ps)
	if res != Applied || err != nil {
		g.timed, g.rowed = was, rowed
	}
	return res, err
}

func (g *Graph) newEdge(u, v ID, label Label, time int64, ps []Property) (Result, error) {
	if err := g.edgeProps.check(ps); err != nil {
		return 0, err
	}
	x, y := g.ids.find(u), g.ids.find(v)
	absent := 0
	if u != v && (x == noVertex || y == noVertex) {
		absent = 2
	}
	if err := g.begin(label, 0, absent, u, v); err != nil {
		return 0, err
	}
	if u == v {
		return SelfLoop, nil
	}
	unseen := false
	if absent == 0 {
		switch {
		case g.rowed:
			unseen = g.unseen(x, y, label)
		case len(ps) > 0:
			g.makeLate()
		default:
			if sight := g.single(x, y, label); sight != Both {
				return g.changeAlone(EdgeAdded, edge{x, y, label, NoEdge, 0}, sight), nil
			}
		}
		if g.hasAt(x, y, label, time) {
			return Duplicate, nil
		}
	}
	if len(ps) > 0 && !g.rowed && g.rows.n == 0 && g.NumEdges() == 0 {
		g.rowed = true
	}
	if x == noVertex {
		x = g.add(u, 0)
	}
	if y == noVertex {
		y = g.add(v, 0)
	}
	e := edge{x, y, label, NoEdge, time}
	first := true
	if g.rowed || len(ps) > 0 {
		e.id, first = g.newRow(e)
		for _, p := range ps {
			g.edgeProps.set(p.Key, uint32(e.id), p.Value, 0)
		}
	}
	g.addEdge(e, first, unseen)
	g.finish()
	return Applied, nil
}

// RemoveEdge removes an edge, or all edges between its ends that have the label, whatever their times. Its ends stay.
func (g *Graph) RemoveEdge(u, v ID, label Label) (Result, error) {
	return g.dropEdge(u, v, label, 0, false)
}

// RemoveEdgeAt removes the edge with a time. In a graph whose edges have no times there is none.
func (g *Graph) RemoveEdgeAt(u, v ID, label Label, time int64) (Result, error) {
	return g.dropEdge(u, v, label, time, true)
}

func (g *Graph) dropEdge(u, v ID, label Label, time int64, at bool) (Result, error) {
	if err := g.begin(label, 0, 0, u, v); err != nil {
		return 0, err
	}
	if u == v {
		return SelfLoop, nil
	}
	x, y := g.ids.find(u), g.ids.find(v)
	if x != noVertex && y != noVertex && !g.rowed && !at && g.rows.n == 0 {
		if sight := g.single(x, y, label); sight != Both {
			return g.changeAlone(EdgeRemoved, edge{x, y, label, NoEdge, 0}, sight), nil
		}
	}
	if !g.rowed && (at || g.rows.n > 0) { // else rows alone say which edges there are
		g.makeLate()
	}
	es := g.edgesBetween(x, y, label, time, at)
	if len(es) == 0 {
		return Absent, nil
	}
	unseen := g.unseen(x, y, label)
	remove := func() {
		for _, e := range es {
			g.removeEdge(e, unseen)
		}
	}
	if len(es) > 1 && !unseen {
		g.inWindow(remove)
		return Applied, nil
	}
	remove()
	g.finish()
	return Applied, nil
}

// changeAlone adds or removes an edge that has neither a time nor properties, unless the graph has it, or does not. It changes the lists at once.
func (g *Graph) changeAlone(k EventKind, e edge, sight Sight) Result {
	if sight == None {
		g.makeLate()
	}
	out := g.side(Out, e.u)
	x, one := out.spot(e.u, e.v, e.label)
	has := x.found
	if !one {
		has = g.has(e.u, e.v, e.label)
	}
	switch {
	case k == EdgeAdded && has:
		return Duplicate
	case k == EdgeRemoved && !has:
		return Absent
	}
	g.event(k, e)
	if k == EdgeRemoved {
		if sight == Present {
			g.show()
		}
		g.edges--
	} else {
		g.edges++
	}
	if one {
		g.touch(e.u)
		out.turn(x, e.u, e.v, e.label)
		g.turn(In, e.v, e.u, e.label, !g.late.parted || g.first(In, e.v, e.u, e.label))
	} else {
		g.turnEdge(e, g.alone(e) || !g.parallel(e.u, e.v, e.label))
	}
	g.finish()
	if k == EdgeAdded && sight == Present {
		g.show()
	}
	return Applied
}

// KeepTimes makes the edges of a graph without edges have times, from the first one on. The error is ErrTime if there are edges without
// times.
func (g *Graph) KeepTimes() error {
	if g.NumEdges() > 0 && !g.timed {
		return fmt.Errorf("%w: the graph's edges have none", ErrTime)
	}
	g.timed, g.rowed = true, true
	return nil
}

// TimedEdge is an edge with a time. The lesser end of an undirected one is U.
type TimedEdge struct {
	U, V  ID
	Label Label
	Time  int64
}

// Before appends the edges whose times are before t to buf, sorted by time, then by ends and label.
func (g *Graph) Before(t int64, buf []TimedEdge) []TimedEdge {
	n := len(buf)
	g.queue.before(t, func(r uint32) {
		x := g.rows.row(r)
		e := TimedEdge{g.IDOf(x.u), g.IDOf(x.v), x.edgeLabel(), x.time}
		if !g.directed && e.V.Compare(e.U) < 0 {
			e.U, e.V = e.V, e.U
		}
		buf = append(buf, e)
	})
	slices.SortFunc(buf[n:], func(x, y TimedEdge) int {
		return cmp.Or(cmp.Compare(x.Time, y.Time), x.U.Compare(y.U), x.V.Compare(y.V), cmp.Compare(x.Label, y.Label))
	})
	return buf
}

// SetVertex changes a property of a vertex. A value that is Null removes the property. The result is Duplicate if the vertex has the
// value already.
func (g *Graph) SetVertex(id ID, p Property) (Result, error) {
	ps := [1]Property{p}
	if err := g.vertexProps.check(ps[:]); err != nil {
		return 0, err
	}
	if err := g.begin(NoLabel, 0, 0, id); err != nil {
		return 0, err
	}
	v := g.ids.find(id)
	switch {
	case v == noVertex:
		return Absent, nil
	case !g.vertexProps.set(p.Key, v, ps[0].Value, g.at()):
		return Duplicate, nil
	}
	g.event(VertexChanged, vertexEvent(v, noVertex))
	g.events[len(g.events)-1].Key = p.Key
	return Applied, nil
}

// SetEdge changes a property of an edge, as SetVertex does, or of all edges between its ends that have the label.
func (g *Graph) SetEdge(u, v ID, label Label, p Property) (Result, error) {
	return g.setEdge(u, v, label, 0, false, p)
}

// SetEdgeAt changes a property of the edge with a time.
func (g *Graph) SetEdgeAt(u, v ID, label Label, time int64, p Property) (Result, error) {
	return g.setEdge(u, v, label, time, true, p)
}

func (g *Graph) setEdge(u, v ID, label Label, time int64, at bool, p Property) (Result, error) {
	ps := [1]Property{p}
	if err := g.edgeProps.check(ps[:]); err != nil {
		return 0, err
	}
	if err := g.begin(label, 0, 0, u, v); err != nil {
		return 0, err
	}
	if u == v {
		return SelfLoop, nil
	}
	if !g.rowed { // else rows alone say which edges there are
		g.makeLate()
	}
	es := g.edgesBetween(g.ids.find(u), g.ids.find(v), label, time, at)
	if len(es) == 0 {
		return Absent, nil
	}
	res := Duplicate
	for _, e := range es {
		if e.id == NoEdge {
			if ps[0].Value.kind == Null {
				continue
			}
			e.id, _ = g.newRow(e)
		}
		if g.edgeProps.set(p.Key, uint32(e.id), ps[0].Value, g.at()) {
			res = Applied
			g.event(EdgeChanged, e)
			g.events[len(g.events)-1].Key = p.Key
		}
	}
	return res, nil
}

// at is the present version in an open window; 0 if none is open.
func (g *Graph) at() uint32 {
	if !g.open {
		return 0
	}
	return uint32(g.version - g.base)
}

// finish ends an update that may leave memory free.
func (g *Graph) finish() {
	if !g.open {
		g.sweep(false)
		g.compact()
	}
}

// newRow makes the row of an edge. first reports whether an edge with times is the only one with its ends and label.
func (g *Graph) newRow(e edge) (id EdgeID, first bool) {
	r, first := g.rows.add(e.u, e.v, e.label, e.time, g.at())
	return EdgeID(r), first
}

// rowEdge is the edge of a row.
func (g *Graph) rowEdge(r uint32) edge {
	x := g.rows.row(r)
	return edge{x.u, x.v, x.edgeLabel(), EdgeID(r), x.time}
}

// hasAt reports whether the present version has an edge with a time, if edges have times, or with time 0.
func (g *Graph) hasAt(u, v uint32, label Label, time int64) bool {
	if g.rowed {
		_, ok := g.rows.find(u, v, label, time)
		return ok
	}
	return g.has(u, v, label)
}

// edgesBetween returns the edges between two vertices, or none if one of them is noVertex: those with a label and, if at,
// a time. The slice is valid until the next call.
func (g *Graph) edgesBetween(u, v uint32, label Label, time int64, at bool) []edge {
	g.es = g.es[:0]
	if u == noVertex || v == noVertex || at && !g.timed {
		return nil
	}
	if at {
		if r, ok := g.rows.find(u, v, label, time); ok {
			g.es = append(g.es, edge{u, v, label, EdgeID(r), time})
		}
		return g.es
	}
	if g.rowed || g.has(u, v, label) {
		g.appendEdges(u, v, label)
	}
	return g.es
}

// appendEdges appends to g.es the edges between two vertices with a label, of which a graph without times has one.
func (g *Graph) appendEdges(u, v uint32, label Label) {
	n := len(g.es)
	if g.rows.n > 0 {
		g.rs = g.rows.between(*g.rows.link(u, v, label), g.rs[:0])
		for _, r := range g.rs {
			if g.rows.present(r) {
				g.es = append(g.es, edge{u, v, label, EdgeID(r), g.rows.row(r).time})
			}
		}
	}
	if !g.rowed && len(g.es) == n {
		g.es = append(g.es, edge{u, v, label, NoEdge, 0})
	}
}

// has reports whether the present version has an edge.
func (g *Graph) has(u, v uint32, label Label) bool {
	if g.open {
		return g.Now().Has(u, v, Out, label)
	}
	_, found := search(g.side(Out, u).list(u, g.label(label)), v)
	return found
}

// addEdge adds an edge that the graph does not have, and whose row there is if it has one. first says that it is the only one with its
// ends and label, and unseen what Graph.unseen said.
func (g *Graph) addEdge(e edge, first, unseen bool) {
	if g.timed {
		g.queue.add(uint32(e.id))
	}
	switch {
	case g.rowed && !first:
	case unseen:
		g.putOffEnds(e.u, e.v, e.label, 0)
	default:
		g.turnEdge(e, g.alone(e) || !g.has(e.u, e.v, AnyLabel))
	}
	g.event(EdgeAdded, e)
	g.edges++
}

// removeEdge removes an edge that the graph has. unseen is what Graph.unseen said.
func (g *Graph) removeEdge(e edge, unseen bool) {
	last := true
	if e.id != NoEdge {
		if g.timed {
			g.queue.remove(uint32(e.id))
		}
		last = g.rows.remove(uint32(e.id), g.at())
	}
	switch {
	case g.rowed && !last:
	case unseen:
		g.putOffEnds(e.u, e.v, e.label, gone)
	default:
		g.turnEdge(e, g.alone(e) || !g.parallel(e.u, e.v, e.label))
	}
	g.event(EdgeRemoved, e)
	g.edges--
}

// turnEdge adds an edge to the lists of its ends, or removes it from them: those of its label and, if all, of all labels.
func (g *Graph) turnEdge(e edge, all bool) {
	out, in := all, all
	if g.late.parted { // an edge of another label may be at one end alone
		out, in = g.first(Out, e.u, e.v, e.label), g.first(In, e.v, e.u, e.label)
	}
	g.turn(Out, e.u, e.v, e.label, out)
	g.turn(In, e.v, e.u, e.label, in)
}

// first reports whether no other label has an edge between v and w, at v's end of a direction.
func (g *Graph) first(d Direction, v, w uint32, label Label) bool {
	return !g.labelled() || !g.shard(v).other(g, d, v, w, label)
}

// turn turns the entry w of v's list of a label round, and if all, that of the list of all labels.
func (g *Graph) turn(d Direction, v, w uint32, label Label, all bool) {
	if g.open {
		g.mark(d, v, w, label, all)
		return
	}
	g.touch(v)
	g.shard(v).turn(d, v, w, label, all)
}

// turn turns the entry w of v's list of a label round at once.
func (sh *shard) turn(d Direction, v, w uint32, label Label, all bool) {
	s := sh.sides[d]
	if x, ok := s.spot(v, w, label); ok && all {
		s.turn(x, v, w, label)
		return
	}
	sh.ws = append(sh.ws[:0], w)
	sh.by = append(sh.by[:0], labelFlips{label, sh.ws})
	if all {
		s.flip(v, sh.by, sh.ws)
	} else {
		s.flip(v, sh.by, nil)
	}
}

// alone reports whether it is seen at once that no other label has an edge between e's ends: one end has no edges of other labels.
func (g *Graph) alone(e edge) bool {
	one := func(h *head) bool {
		return h == nil || h.marks() < 0 && (h[headLen] == 0 || h[headLabel] == e.label)
	}
	return !g.labelled() || one(g.side(Out, e.u).head(e.u)) || one(g.side(In, e.v).head(e.v))
}

// parallel reports whether u has an edge to v with another label.
func (g *Graph) parallel(u, v uint32, label Label) bool {
	d := Out
	if x, y := g.side(Out, u).head(u), g.side(In, v).head(v); x != nil && y != nil && y[headLen] < x[headLen] {
		u, v, d = v, u, In // most often the end with fewer neighbours has fewer labels
	}
	g.ls = g.Now().Labels(u, d, g.ls)
	for _, l := range g.ls {
		if l != label && g.Now().Has(u, v, d, l) {
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
	id    EdgeID
	time  int64
}

// edgesOf returns the edges of v in the present version. The slice is valid until the next call.
func (g *Graph) edgesOf(v uint32) []edge {
	g.es = g.es[:0]
	for i := range g.numSides() {
		d := Direction(i)
		g.ls = g.Now().Labels(v, d, g.ls)
		for _, l := range g.ls {
			for _, w := range g.Now().List(v, d, l, nil, &g.ws) {
				if d == In {
					g.appendEdges(w, v, l)
				} else {
					g.appendEdges(v, w, l)
				}
			}
		}
	}
	return g.es
}
