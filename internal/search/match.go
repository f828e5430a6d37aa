package search

import (
	"slices"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
)

// Match is one match of a query. Its methods read the graph, for which the caller has a lease. Values
// are those of Go: int64, float64, bool, string, time.Time, time.Duration, format.Edge, or nil.
type Match struct {
	of       *rows
	vertices []uint32
	edges    []uint64 // ids of data edges, in the plan's order
}

// rows is the state that the matches of one iteration share.
type rows struct {
	g       *graph.Graph
	p       *pattern.Pattern
	columns []rowColumn
	edges   []string // the names of the pattern's edges in the plan's order; "" without one
	edge    *edgeReader
	reader  *elements // of vertices and edges with their properties
}

// rowColumn is a column of values of matches.
type rowColumn struct {
	name    string
	at      func(m []uint32, e []uint64) any
	element elementColumn
	index   int // of the vertex or edge in a row
}

// elementColumn is whether a column has vertices, edges, or other values.
type elementColumn uint8

const (
	valueColumn elementColumn = iota
	vertexColumn
	edgeColumn
)

// newRows makes the columns of a job's matches.
func newRows(j *Job) (*rows, error) {
	p, g := j.Plan.Pattern, j.g.Data
	reader, err := newElements(g)
	if err != nil {
		return nil, err
	}
	r := &rows{g: g, p: p, edge: newEdgeReader(g), reader: reader}
	for _, c := range j.Plan.Edges {
		name := ""
		if p.Edges[c.Edge].Named() {
			name = p.EdgeName(c.Edge)
		}
		r.edges = append(r.edges, name)
	}
	if j.Query.Return.Kind != gql.ReturnItems {
		for v := range p.Vertices {
			r.columns = append(r.columns, rowColumn{p.VertexName(v), func(m []uint32, _ []uint64) any { return userID(g, m[v]) }, vertexColumn, v})
		}
		for e := range p.Edges { // in the order of the text, which is not the plan's
			if at := j.edgeAt(e); at >= 0 && p.Edges[e].Named() {
				r.columns = append(r.columns, rowColumn{p.EdgeName(e), func(_ []uint32, e []uint64) any { return r.edge.read(e[at]) }, edgeColumn, at})
			}
		}
		return r, nil
	}
	items, err := j.Items(j.Query.Return.Items)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		at, err := r.item(item.Expr, j)
		if err != nil {
			return nil, err
		}
		c := rowColumn{name: label(p, item), at: at}
		if x, ok := item.Expr.(pattern.RefExpr); ok {
			if c.element, c.index = vertexColumn, x.Of.Index; x.Of.Kind == pattern.EdgeRef {
				c.element, c.index = edgeColumn, j.edgeAt(x.Of.Index)
			}
		}
		r.columns = append(r.columns, c)
	}
	return r, nil
}

// item is how to read an item of a RETURN. Edges and times are values of their own here,
// which columns of tables have not.
func (r *rows) item(x pattern.Expr, j *Job) (func(m []uint32, e []uint64) any, error) {
	c, err := sink.Expr(r.g, r.p, "", x, j.edgeAt)
	if err != nil {
		return nil, err
	}
	if c.Type == sink.EdgeType {
		at := j.edgeAt(x.(pattern.RefExpr).Of.Index)
		return func(_ []uint32, e []uint64) any { return r.edge.read(e[at]) }, nil
	}
	return func(m []uint32, e []uint64) any { return sink.GoValue(c.At(m, e)) }, nil
}

// Len is the number of the pattern's vertices.
func (m Match) Len() int { return len(m.vertices) }

// Name is the name of vertex i of the pattern.
func (m Match) Name(i int) string { return m.of.p.VertexName(i) }

// ID is the user's id of vertex i, as text.
func (m Match) ID(i int) string { return m.of.g.IDs.String(m.vertices[i]) }

// Vertex is the user's id of vertex i: an int64, or a string.
func (m Match) Vertex(i int) any { return userID(m.of.g, m.vertices[i]) }

// Edge is the data edge that a name of the pattern is bound to; false: it is bound to none.
func (m Match) Edge(name string) (format.Edge, bool) {
	if i := slices.Index(m.of.edges, name); i >= 0 && name != "" {
		return m.of.edge.read(m.edges[i]), true
	}
	return format.Edge{}, false
}

// Columns is the number of columns; 0 for a zero Match.
func (m Match) Columns() int {
	if m.of == nil {
		return 0
	}
	return len(m.of.columns)
}

// Column is the name of column i.
func (m Match) Column(i int) string { return m.of.columns[i].name }

// At is the value of column i.
func (m Match) At(i int) any { return m.of.columns[i].at(m.vertices, m.edges) }

// userID is the user's id of a vertex.
func userID(g *graph.Graph, v uint32) any {
	if g.IDs.Numeric() {
		return g.IDs.Int(v)
	}
	return g.IDs.String(v)
}

// edgeReader reads data edges by their ids.
type edgeReader struct {
	g      *graph.Graph
	fields []sink.Column
}

func newEdgeReader(g *graph.Graph) *edgeReader {
	c := sink.Edge(g, "", 0)
	return &edgeReader{g: g, fields: c.Fields()}
}

// read is the edge with an id.
func (r *edgeReader) read(id uint64) format.Edge {
	row := [1]uint64{id}
	next := 0
	field := func() any {
		next++
		return sink.GoValue(r.fields[next-1].At(nil, row[:]))
	}
	e := format.Edge{Src: field(), Dst: field()}
	t := r.g.Edges
	if t == nil {
		return e
	}
	if t.Label != nil {
		e.Label, _ = field().(string)
	}
	if t.Time != nil {
		e.Time = field()
	}
	for next < len(r.fields) {
		name := r.fields[next].Name
		x := field()
		if x == nil {
			continue
		}
		if e.Properties == nil {
			e.Properties = make(map[string]any, len(r.fields)-next+1)
		}
		e.Properties[name] = x
	}
	return e
}
