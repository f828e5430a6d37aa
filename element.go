package weft

import (
	"iter"

	"github.com/weftgraph/weft/internal/search"
)

// Element is a vertex or an edge of a data graph, with its labels and properties. Its methods read
// the graph. After Close of the graph, if no loop over Match is in progress, they panic with
// ErrClosed. The zero value has no id, no labels and no properties.
type Element struct {
	g *Graph // nil: the element is zero
	e search.Element
}

// Element returns the vertex or the edge in column i of Columns. ok is false where the column has
// another value, such as a property, and where there is no such column.
func (m Match) Element(i int) (e Element, ok bool) {
	if i < 0 || i >= m.m.Columns() {
		return Element{}, false
	}
	x, ok := m.m.Element(i)
	if !ok {
		return Element{}, false
	}
	return Element{m.g, x}, true
}

// IsEdge reports whether e is an edge.
func (e Element) IsEdge() bool { return e.e.Edge() }

// Number returns the place of e among the vertices, or among the edges, of the graph, from 0. It is
// the same for as long as the graph is open, and may be another one when the file is opened again.
func (e Element) Number() uint64 { return e.e.Number() }

// ID returns the user's id of a vertex: an int64 in graphs whose ids are numbers, and a string in
// others. It returns nil for an edge.
func (e Element) ID() any {
	if e.g == nil {
		return nil
	}
	defer done(e.g.reads())
	return e.e.ID()
}

// Labels returns the labels of a vertex, or the label of an edge. The caller must not change the
// list.
func (e Element) Labels() []string {
	if e.g == nil {
		return nil
	}
	defer done(e.g.reads())
	return e.e.Labels()
}

// Ends returns the source and the target of an edge, and two zero elements for a vertex. In an
// undirected graph they are in the order in which the graph has them.
func (e Element) Ends() (source, target Element) {
	if e.g == nil || !e.IsEdge() {
		return Element{}, Element{}
	}
	defer done(e.g.reads())
	u, v := e.e.Ends()
	return Element{e.g, u}, Element{e.g, v}
}

// Properties yields the names and values of the properties that e has, in the order of the graph's
// columns, with values as in Match.Values. The time of an edge comes first.
func (e Element) Properties() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if e.g == nil {
			return
		}
		defer done(e.g.reads())
		e.e.Properties()(yield)
	}
}
