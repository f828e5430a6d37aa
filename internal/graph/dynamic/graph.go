package dynamic

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph"
)

// Graph is a graph that changes. Its methods that change it must not run at the same time as any other method.
type Graph struct {
	directed bool
	ids      vertices
	shards   []shard
	touched  []*shard // whose lists the window, or an update outside windows, changes
	crowded  bool     // a shard has hardly room for more lists
	turned   []uint32 // vertices whose existence the window changed, once for each change

	edgeLabels  []string // from label 1 on
	byEdgeLabel map[string]Label
	lastName    string // the last that was asked for, and its label
	lastLabel   Label
	edges       uint64
	timed       bool // edges have times
	rowed       bool // each edge has a row
	rows        rows
	queue       queue
	texts       dictionary
	vertexProps columns
	edgeProps   columns

	// Read has the unit of edges' times, as a static graph's.
	Read graph.ReadStats

	version   uint64 // the present one
	base      uint64 // that of the settled lists
	open      bool   // a window is open
	lone      bool   // it is that of one update, which a follower sees
	recording bool   // a window without marks is open
	follower  Follower
	events    []Event
	// vertexVersions are the versions of the window that added, removed or moved vertices, and the last one before it.
	vertexVersions []uint64

	// Room for intermediate values of updates.
	ws []uint32
	ls []Label
	es []edge
	rs []uint32

	maker maker
	late  late
}

// Class is a set of vertex labels. The vertices with exactly these labels have ids in ranges of their own.
type Class uint32

// New returns a graph without vertices. textIDs says that vertex ids are texts, not numbers.
func New(directed, textIDs bool) *Graph {
	g := &Graph{directed: directed, byEdgeLabel: map[string]Label{}}
	g.rows.init(directed)
	g.queue.rows = &g.rows
	g.texts.init()
	g.vertexProps.init(&g.texts)
	g.edgeProps.init(&g.texts)
	g.ids.init(textIDs)
	g.split(maxShards * shardShare)
	return g
}

// From returns a graph that begins as s, at version 0. It does not keep s. The error is about a property's type (ErrValue), about
// edges of s with equal ends, label and time, ErrTooLarge, or the cause of ctx.
func From(ctx context.Context, s *graph.Graph) (*Graph, error) {
	if len(s.EdgeLabels) > maxLabels {
		return nil, fmt.Errorf("%w: %d edge labels, and a changing graph may have %d", ErrTooLarge, len(s.EdgeLabels), maxLabels)
	}
	g := New(s.Directed, !s.IDs.Numeric())
	g.split(s.NumVertices())
	g.edges = s.NumEdges()
	g.Read = s.Read
	g.ids.expected = uint32(s.NumVertices())
	g.ids.spare = max(1, min(4, maxID/2/uint64(max(s.NumVertices(), 1))))
	shift := make([]uint32, len(s.Classes)) // from internal ids of s to those of g
	for i, c := range s.Classes {
		var names []string
		for _, l := range c.Labels {
			names = append(names, s.VertexLabels[l])
		}
		k, n := uint32(g.Class(names...)), int(c.End-c.First)
		if err := g.ids.addRange(k, n, n); err != nil {
			return nil, err
		}
		for v := c.First; v < c.End; v++ {
			var id ID
			if s.IDs.Numeric() {
				if s.IDs.Int(v) < 0 {
					return nil, fmt.Errorf("%w %d: numbers must not be negative", ErrID, s.IDs.Int(v))
				}
				id = Num(uint64(s.IDs.Int(v)))
			} else {
				id = Text(s.IDs.String(v))
			}
			x := g.ids.give(id, k)
			g.ids.setAlive(x, true)
			g.ids.name(id, x)
			shift[i] = x - v
		}
		g.ids.live += n
	}
	for _, name := range s.EdgeLabels {
		g.EdgeLabel(name)
	}
	from := []*graph.CSR{&s.Out, &s.In}
	move := func(l []uint32) []uint32 {
		g.ws = g.ws[:0]
		for _, v := range l {
			g.ws = append(g.ws, v+shift[s.ClassOf(v)])
		}
		return g.ws
	}
	for i := range g.numSides() {
		for v := range uint32(s.NumVertices()) {
			if v&0xffff == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if l := from[i].List(v); len(l) > 0 {
				x := v + shift[s.ClassOf(v)]
				sh := g.shard(x)
				if sh.lists.full() {
					return nil, fmt.Errorf("%w: the graph has too many neighbours", ErrTooLarge)
				}
				h := sh.sides[i].need(x)
				sh.sides[i].setList(x, h[:2], inHead, move(l))
				h[headLen], h[headLabel] = uint32(len(l)), unset
			}
		}
	}
	if s.Edges != nil {
		n, err := g.labelsFrom(ctx, s, shift, move)
		if err != nil {
			return nil, err
		}
		if g.timed = s.Edges.Time != nil; !g.timed && n != g.edges {
			return nil, fmt.Errorf("dynamic: the graph has %d edges that are equal to others, which a changing graph does not keep", g.edges-n)
		}
		if err := g.rowsFrom(ctx, s, shift); err != nil {
			return nil, err
		}
	}
	if err := g.vertexPropsFrom(s, shift); err != nil {
		return nil, err
	}
	g.eachSide(func(_ Direction, side *side) {
		for p := range side.pages.end() {
			page := side.pages.page(p)
			for i := 0; page != nil && i < pageSize; i++ {
				if page[i][headLabel] == unset {
					page[i][headLabel] = NoLabel
				}
			}
		}
	})
	g.clean()
	for g.rows.lists.debt > 0 {
		g.rows.lists.clean()
	}
	return g, nil
}

// unset is the label of a head whose edges' labels are not known yet.
const unset = several - 1

// labelsFrom makes the lists by edge label of a graph with an edge table, and returns their number of edges.
func (g *Graph) labelsFrom(ctx context.Context, s *graph.Graph, shift []uint32, move func([]uint32) []uint32) (edges uint64, err error) {
	for label := range Label(len(s.EdgeLabels) + 1) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		r := s.RelationByLabel(label - 1) // graph.NoLabel is -1
		for i := range g.numSides() {
			lists := []graph.Lists{r.Out, r.In}[i]
			lists.Vertices(func(v uint32) bool {
				x := v + shift[s.ClassOf(v)]
				side := g.side(Direction(i), x)
				h := side.need(x)
				l := lists.List(v)
				if i == 0 {
					edges += uint64(len(l))
				}
				switch {
				case h[headLabel] == unset && uint32(len(l)) == h[headLen]:
					h[headLabel] = label
					return true
				case h[headLabel] == unset:
					side.splitInto(h)
				case !h.several():
					side.split(x, h)
				}
				at := len(side.entries(h))
				side.insertEntry(x, h, at, label)
				side.setEntry(x, h, at, move(l))
				return true
			})
		}
	}
	if !s.Directed {
		edges /= 2
	}
	return edges, nil
}

// rowsFrom makes the rows of a graph with times or properties of edges. Rows are numbered in the order of time.
func (g *Graph) rowsFrom(ctx context.Context, s *graph.Graph, shift []uint32) error {
	t := s.Edges
	get, err := g.edgeProps.from(t.Props)
	if err != nil || !g.timed && get == nil {
		return err
	}
	valued := 0
	for i := 0; i < len(t.Dst) && !g.timed; i++ {
		if slices.ContainsFunc(get, func(f func(int) Value) bool { return f(i).kind != Null }) {
			valued++
		}
	}
	g.rowed = g.timed || valued > 0 && valued >= len(t.Dst)/4*3
	order := make([]uint32, len(t.Dst))
	for i := range order {
		order[i] = uint32(i)
	}
	if g.timed {
		slices.SortStableFunc(order, func(x, y uint32) int { return cmp.Compare(t.Time[x], t.Time[y]) })
	}
	equal := 0
	for k, i := range order {
		if k&0xffff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if g.rows.end >= maxRows {
			return fmt.Errorf("%w: the graph has too many edges", ErrTooLarge)
		}
		e := edge{u: t.Src[i] + shift[s.ClassOf(t.Src[i])], v: t.Dst[i] + shift[s.ClassOf(t.Dst[i])], id: NoEdge}
		if t.Label != nil {
			e.label = t.Label[i] + 1 // graph.NoLabel is -1
		}
		if g.timed {
			e.time = t.Time[i]
			if _, is := g.rows.find(e.u, e.v, e.label, e.time); is {
				equal++
				continue
			}
			e.id, _ = g.newRow(e)
			g.queue.add(uint32(e.id))
		} else if g.rowed {
			e.id, _ = g.newRow(e)
		}
		for k, f := range get {
			v := f(int(i))
			if v.kind != Null && e.id == NoEdge {
				e.id, _ = g.newRow(e)
			}
			if v.kind != Null {
				g.edgeProps.set(Key(k), uint32(e.id), v, 0)
			}
		}
	}
	if equal > 0 {
		return fmt.Errorf("dynamic: the graph has %d edges whose ends, label and time are those of others, which a changing graph does not keep", equal)
	}
	return nil
}

// vertexPropsFrom takes over the properties of vertices.
func (g *Graph) vertexPropsFrom(s *graph.Graph, shift []uint32) error {
	get, err := g.vertexProps.from(s.VertexProps)
	for k, f := range get {
		for v := range uint32(s.NumVertices()) {
			g.vertexProps.set(Key(k), v+shift[s.ClassOf(v)], f(int(v)), 0)
		}
	}
	return err
}

// labelled reports whether edges may have labels.
func (g *Graph) labelled() bool { return len(g.edgeLabels) > 0 }

// Directed reports whether edges have a direction.
func (g *Graph) Directed() bool { return g.directed }

// TextIDs reports whether vertex ids are texts, not numbers.
func (g *Graph) TextIDs() bool { return g.ids.text }

// Version returns the number of updates so far: the present version.
func (g *Graph) Version() uint64 { return g.version }

// NumVertices returns the number of vertices of the present version.
func (g *Graph) NumVertices() int { return g.ids.live }

// NumEdges returns the number of edges of the present version.
func (g *Graph) NumEdges() uint64 {
	if !g.rowed { // else rows have been counted
		g.makeLate()
	}
	return g.edges
}

// Vertex returns the internal id of a vertex of the present version.
func (g *Graph) Vertex(id ID) (uint32, bool) {
	if g.ids.text != (id.kind == textID) {
		return 0, false
	}
	v := g.ids.find(id)
	return v, v != noVertex
}

// IDOf returns the user's id of a vertex of any version of the window.
func (g *Graph) IDOf(v uint32) ID { return g.ids.idOf(v) }

// Timed reports whether edges have times.
func (g *Graph) Timed() bool { return g.timed }

// Rowed reports whether each edge has a row: edges have times, or most had properties when the graph began. Between LookAway and LookBack such a
// graph puts off the changes of lists by itself, of the edges that the follower does not look at.
func (g *Graph) Rowed() bool { return g.rowed }

// VertexKey returns the number of a property of vertices, which is new if the graph did not have it. The error is ErrValue for
// another type than it had, and for a type that changing graphs do not keep.
func (g *Graph) VertexKey(name string, t arrow.DataType) (Key, error) {
	return g.vertexProps.key(name, t)
}

// EdgeKey returns the number of a property of edges, as VertexKey does.
func (g *Graph) EdgeKey(name string, t arrow.DataType) (Key, error) { return g.edgeProps.key(name, t) }

// VertexColumns returns the properties of vertices, by Key.
func (g *Graph) VertexColumns() []Column { return g.vertexProps.columns() }

// EdgeColumns returns the properties of edges, by Key.
func (g *Graph) EdgeColumns() []Column { return g.edgeProps.columns() }

// EdgeLabel returns the number of an edge label, which is new if the graph did not have it. "" is NoLabel.
func (g *Graph) EdgeLabel(name string) Label {
	if name == "" {
		return NoLabel
	}
	if name == g.lastName {
		return g.lastLabel
	}
	l, ok := g.byEdgeLabel[name]
	if !ok {
		if len(g.edgeLabels) == 0 {
			g.nameUnlabelled()
		}
		g.edgeLabels = append(g.edgeLabels, name)
		l = Label(len(g.edgeLabels))
		g.byEdgeLabel[name] = l
	}
	g.lastName, g.lastLabel = name, l
	return l
}

// EdgeLabelName returns the name of an edge label.
func (g *Graph) EdgeLabelName(l Label) string {
	if l == NoLabel {
		return ""
	}
	return g.edgeLabels[l-1]
}

// Class returns the class of vertices with exactly these labels.
func (g *Graph) Class(labels ...string) Class {
	ls := make([]uint32, len(labels))
	for i, name := range labels {
		ls[i] = g.ids.label(name)
	}
	return Class(g.ids.classOf(ls))
}

// ClassOf returns the class of a vertex.
func (g *Graph) ClassOf(v uint32) Class { return Class(g.ids.class(v)) }

// Labels returns the labels of a class.
func (g *Graph) Labels(c Class) []string {
	var names []string
	for _, l := range g.ids.classes[c].labels {
		names = append(names, g.ids.labels[l])
	}
	return names
}

// ClassesWith returns the classes that have a vertex label.
func (g *Graph) ClassesWith(label string) (with []Class) {
	l, ok := g.ids.byLabel[label]
	for c := range g.ids.classes {
		if ok && slices.Contains(g.ids.classes[c].labels, l) {
			with = append(with, Class(c))
		}
	}
	return with
}

// NumClasses returns the number of classes, which updates may add to.
func (g *Graph) NumClasses() int { return len(g.ids.classes) }

// Ranges returns the ranges of ids of some classes, ascending, neighbouring ones as one. They are right until Layout changes.
func (g *Graph) Ranges(classes ...Class) []Range {
	rs := []Range{}
	for _, c := range classes {
		for _, r := range g.ids.classes[c].ranges {
			rs = append(rs, Range{r.first, r.end})
		}
	}
	slices.SortFunc(rs, func(x, y Range) int { return int(int64(x.First) - int64(y.First)) })
	n := 0
	for i, r := range rs {
		switch {
		case i > 0 && rs[n-1].End == r.First:
			rs[n-1].End = r.End
		default:
			rs[n] = r
			n++
		}
	}
	return rs[:n]
}

// Layout returns a number that changes when a class gets a new range of ids, or the graph a new class.
func (g *Graph) Layout() uint64 { return uint64(g.ids.end)<<32 | uint64(len(g.ids.classes)) }

// Bytes returns the memory of the graph, in bytes. It counts what arrays have room for.
func (g *Graph) Bytes() uint64 {
	b := g.ids.bytes()
	for i := range g.shards {
		b += g.shards[i].bytes()
	}
	if c := g.rows.calendar; c != nil {
		b += c.bytes()
	}
	b += g.rows.bytes() + g.queue.bytes() + g.texts.size() + g.vertexProps.bytes() + g.edgeProps.bytes()
	b += 40*uint64(cap(g.events)) + 4*uint64(cap(g.ws)+cap(g.ls)+cap(g.turned)) + 24*uint64(cap(g.es)) + 4*uint64(cap(g.rs)) + g.maker.bytes() + g.late.bytes()
	return b
}
