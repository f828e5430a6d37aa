package search

import (
	"iter"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
)

// Element is a vertex or an edge of the graph. Its methods read the graph, for which the caller has a
// lease.
type Element struct {
	of   *elements
	id   uint64
	edge bool
}

// elements is how the vertices and edges of a graph are read: their columns are resolved once for
// all matches of an iteration.
type elements struct {
	g        *graph.Graph
	vertices []sink.Column
	labels   [][]string // of the vertices of each class
	edges    []sink.Column
	kinds    [][]string // labels of the edges of each edge label
}

// newElements resolves the columns of a graph.
func newElements(g *graph.Graph) (*elements, error) {
	e := &elements{g: g}
	if p := g.VertexProps; p != nil {
		for _, f := range p.Schema().Fields() {
			c, err := sink.Expr(g, nil, f.Name, pattern.Prop{Of: pattern.Ref{Kind: pattern.VertexRef}, Key: f.Name}, nil)
			if err != nil {
				return nil, err
			}
			e.vertices = append(e.vertices, c)
		}
	}
	for _, c := range g.Classes {
		names := make([]string, len(c.Labels))
		for i, l := range c.Labels {
			names[i] = g.VertexLabels[l]
		}
		e.labels = append(e.labels, names)
	}
	all := sink.Edge(g, "", 0)
	e.edges = all.Fields()[2:] // without the ends
	if t := g.Edges; t != nil && t.Label != nil {
		e.edges = e.edges[1:]
	}
	for i := range g.EdgeLabels {
		e.kinds = append(e.kinds, g.EdgeLabels[i:i+1])
	}
	return e, nil
}

// Element is the vertex or edge in column i; false: the column has another value.
func (m Match) Element(i int) (Element, bool) {
	switch c := m.of.columns[i]; c.element {
	case vertexColumn:
		return Element{m.of.reader, uint64(m.vertices[c.index]), false}, true
	case edgeColumn:
		return Element{m.of.reader, m.of.reader.canonical(m.edges[c.index]), true}, true
	}
	return Element{}, false
}

// canonical is the one id of an edge. An undirected graph without a table of edges has each edge in the lists of both
// ends, and a match may have either place: the place in the list of the smaller vertex stands for both.
func (e *elements) canonical(id uint64) uint64 {
	if e.g.Directed || e.g.Edges != nil {
		return id
	}
	u, v := sink.Ends(e.g, id)
	if u < v {
		return id
	}
	out := e.g.Flat(&e.g.Out)
	at, _ := slices.BinarySearch(out.List(v), u)
	return out.Off[v] + uint64(at)
}

// Edge reports whether e is an edge.
func (e Element) Edge() bool { return e.edge }

// Number is the place of e among the graph's vertices or edges.
func (e Element) Number() uint64 { return e.id }

// ID is the user's id of a vertex, and nil for an edge.
func (e Element) ID() any {
	if e.edge {
		return nil
	}
	return userID(e.of.g, uint32(e.id))
}

// Labels are the labels of e. They belong to all elements: the caller must not change them.
func (e Element) Labels() []string {
	g := e.of.g
	if !e.edge {
		return e.of.labels[g.ClassOf(uint32(e.id))]
	}
	if t := g.Edges; t != nil && t.Label != nil && t.Label[e.id] != graph.NoLabel {
		return e.of.kinds[t.Label[e.id]]
	}
	return nil
}

// Ends are the source and the target of an edge.
func (e Element) Ends() (source, target Element) {
	u, v := sink.Ends(e.of.g, e.id)
	return Element{e.of, uint64(u), false}, Element{e.of, uint64(v), false}
}

// Properties yields the properties that e has, in the order of the graph's columns. The time of an
// edge comes first.
func (e Element) Properties() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		vertex, edge := [1]uint32{uint32(e.id)}, [1]uint64{e.id}
		columns := e.of.vertices
		if e.edge {
			columns = e.of.edges
		}
		for i := range columns {
			if x := sink.GoValue(columns[i].At(vertex[:], edge[:])); x != nil && !yield(columns[i].Name, x) {
				return
			}
		}
	}
}
