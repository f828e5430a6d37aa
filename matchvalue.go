package weft

import (
	"slices"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
)

// Match is one match of a query. Its values are read from the graph when they are asked
// for: after Close of the graph, when no loop over Match runs, this panics with ErrClosed.
type Match struct {
	of       *listing
	vertices []uint32
	edges    []uint64 // ids of data edges, in the plan's order
}

// Edge is a data edge: of a match, or one to make a graph of. FromEdges also takes other
// types of integers and floats than matches have.
type Edge struct {
	// Src and Dst are the user's ids of the source and the target: int64 in graphs whose
	// ids are numbers, and string in others. In a match an edge without a direction has
	// them in either order.
	Src, Dst any
	// Label is "" for an edge without one.
	Label string
	// Time is nil without a time. It is a time.Time where the graph's times are known to
	// count from 1970, and an int64 in other graphs.
	Time any
	// Properties are the values of the properties that are not NULL: int64, float64,
	// bool, string, time.Time or time.Duration.
	Properties map[string]any
}

// listing is what the matches of one iteration share.
type listing struct {
	g       *Graph
	p       *pattern.Pattern
	columns []matchColumn
	edges   []string // the names of the pattern's edges in the plan's order; "" without one
	edge    *edgeReader
}

// matchColumn is a column of values of matches.
type matchColumn struct {
	name string
	at   func(m []uint32, e []uint64) any
}

// Names are the names of the pattern's vertices, in the order of IDs.
func (m Match) Names() []string {
	out := make([]string, len(m.vertices))
	for v := range out {
		out[v] = m.listed().p.VertexName(v)
	}
	return out
}

// IDs are the user's ids of the matched vertices, as text.
func (m Match) IDs() []string {
	defer m.listed().g.reads().done()
	out := make([]string, len(m.vertices))
	for i, v := range m.vertices {
		out[i] = m.listed().g.g.IDs.String(v)
	}
	return out
}

// ID is the user's id of the vertex that a name is bound to, as text. It is "" for a name
// that the pattern does not have.
func (m Match) ID(name string) string {
	defer m.listed().g.reads().done()
	for i, v := range m.vertices {
		if m.listed().p.VertexName(i) == name {
			return m.listed().g.g.IDs.String(v)
		}
	}
	return ""
}

// Vertex is the user's id of the vertex that a name is bound to: an int64 in graphs whose
// ids are numbers, and a string in others. It is nil for a name that the pattern does not
// have.
func (m Match) Vertex(name string) any {
	defer m.listed().g.reads().done()
	for i, v := range m.vertices {
		if m.listed().p.VertexName(i) == name {
			return userID(m.listed().g.g, v)
		}
	}
	return nil
}

// Edge is the data edge that a name of the pattern is bound to. It is false for a name that
// the pattern does not have, and for an edge that stands for no single data edge.
func (m Match) Edge(name string) (Edge, bool) {
	defer m.listed().g.reads().done()
	if i := slices.Index(m.listed().edges, name); i >= 0 && name != "" {
		return m.listed().edge.read(m.edges[i]), true
	}
	return Edge{}, false
}

// Columns are the names of the values of Values: the items of the query's RETURN or,
// without items, all vertices and all named edges of the pattern.
func (m Match) Columns() []string {
	out := make([]string, len(m.listed().columns))
	for i := range out {
		out[i] = m.listed().columns[i].name
	}
	return out
}

// Values are the values of Columns: int64, float64, bool, string, time.Time,
// time.Duration, Edge, or nil for NULL. Times are as in Edge; a duration that a
// time.Duration has no room for is a string.
func (m Match) Values() []any {
	out := make([]any, len(m.listed().columns))
	for i := range out {
		out[i] = m.At(i)
	}
	return out
}

// At is the value of column i, from 0, as Values has it. It is nil where there is none.
func (m Match) At(i int) any {
	if i < 0 || i >= len(m.listed().columns) {
		return nil
	}
	defer m.listed().g.reads().done()
	return m.listed().columns[i].at(m.vertices, m.edges)
}

// Value is the value of the first column with a name, as Values has it. It is nil where
// there is none.
func (m Match) Value(column string) any {
	for i := range m.listed().columns {
		if m.listed().columns[i].name == column {
			return m.At(i)
		}
	}
	return nil
}

// listing makes the columns of q's matches.
func (g *Graph) listing(j *job, q *Query) (*listing, error) {
	p := j.plan.Pattern
	l := &listing{g: g, p: p, edge: newEdgeReader(g.g)}
	for _, c := range j.plan.Edges {
		name := ""
		if p.Edges[c.Edge].Named() {
			name = p.EdgeName(c.Edge)
		}
		l.edges = append(l.edges, name)
	}
	if q.q.Return.Kind != gql.ReturnItems {
		for v := range p.Vertices {
			l.columns = append(l.columns, matchColumn{p.VertexName(v), func(m []uint32, _ []uint64) any { return userID(g.g, m[v]) }})
		}
		for at, name := range l.edges {
			if name != "" {
				l.columns = append(l.columns, matchColumn{name, func(_ []uint32, e []uint64) any { return l.edge.read(e[at]) }})
			}
		}
		return l, nil
	}
	items, err := withParams(q.q.Return.Items, j.s.params)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		at, err := l.item(item.Expr, j)
		if err != nil {
			return nil, err
		}
		l.columns = append(l.columns, matchColumn{label(p, item), at})
	}
	return l, nil
}

// item is how to read an item of a RETURN. Edges and times are values of their own here,
// which columns of tables have not.
func (l *listing) item(x pattern.Expr, j *job) (func(m []uint32, e []uint64) any, error) {
	c, err := sink.Expr(l.g.g, l.p, "", x, j.edgeAt)
	if err != nil {
		return nil, err
	}
	if c.Type == sink.EdgeType {
		at := j.edgeAt(x.(pattern.RefExpr).Of.Index)
		return func(_ []uint32, e []uint64) any { return l.edge.read(e[at]) }, nil
	}
	return func(m []uint32, e []uint64) any { return goValue(c.At(m, e)) }, nil
}

// goValue is a value of a table as Go has it.
func goValue(x any) any {
	switch x := x.(type) {
	case sink.Instant:
		return x.Time()
	case sink.Span:
		if d, ok := x.Duration(); ok {
			return d
		}
		return x.String()
	}
	return x
}

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
func (r *edgeReader) read(id uint64) Edge {
	row := [1]uint64{id}
	next := 0
	field := func() any {
		next++
		return goValue(r.fields[next-1].At(nil, row[:]))
	}
	e := Edge{Src: field(), Dst: field()}
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

// noMatches is what a zero Match is of.
var noMatches = &listing{g: &Graph{g: &graph.Graph{}}, p: &pattern.Pattern{}}

// listed is what m is one of.
func (m Match) listed() *listing {
	if m.of == nil {
		return noMatches
	}
	return m.of
}
