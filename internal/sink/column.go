package sink

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Type is the type of a column. Any value may be missing.
type Type uint8

// The types.
const (
	Int Type = iota
	Float
	Bool
	String
	EdgeType  // {src, dst, label, time, properties}
	Count     // exact, of any size: a *big.Int, or text if it is not a whole number
	Timestamp // an Instant
	Duration  // a Span
)

// Column is one column of the output.
type Column struct {
	Name string
	Type Type

	g      *graph.Graph
	source source
	index  int
	value  func(m []uint32, e []uint64) any
	ints   bool     // of text: the row has the value as a number of edges, or NoInt there
	fields []Column // of an edge; their matches are {row id} in e[0]
	unit   arrow.TimeUnit
	data   bool // values of the graph, which a table tells from nothing
}

type source uint8

const (
	fromVertex source = iota // the user's id of vertex index
	fromEdge                 // the chosen edge index
	fromValue
)

// Vertex is a column of the user's ids of the vertices at an index of the rows.
func Vertex(g *graph.Graph, name string, index int) Column {
	c := Column{Name: name, Type: Int, g: g, source: fromVertex, index: index}
	if !g.IDs.Numeric() {
		c.Type = String
	}
	return c
}

// Edge is a column of data edges: source, target, and where the graph has them
// label, time and properties. A property that is called like a field before it has _2
// behind its name.
func Edge(g *graph.Graph, name string, index int) Column {
	return Column{Name: name, Type: EdgeType, g: g, source: fromEdge, index: index, fields: distinct(edgeFields(g))}
}

func edgeFields(g *graph.Graph) []Column {
	ends := func(e []uint64) (uint32, uint32) { return Ends(g, e[0]) }
	id := Vertex(g, "", 0)
	user := func(v uint32) any {
		if id.Type == Int {
			return g.IDs.Int(v)
		}
		return g.IDs.String(v)
	}
	fields := []Column{
		Value("src", id.Type, func(_ []uint32, e []uint64) any { u, _ := ends(e); return user(u) }),
		Value("dst", id.Type, func(_ []uint32, e []uint64) any { _, v := ends(e); return user(v) }),
	}
	t := g.Edges
	if t == nil {
		return fields
	}
	if t.Label != nil {
		fields = append(fields, Value("label", String, func(_ []uint32, e []uint64) any {
			if l := t.Label[e[0]]; l != graph.NoLabel {
				return g.EdgeLabels[l]
			}
			return nil
		}))
	}
	if t.Time != nil {
		times := func(_ []uint32, e []uint64) any { return t.Time[e[0]] }
		fields = append(fields, timeColumn("time", Int, edgeTimes(g), times))
	}
	if t.Props != nil {
		for i, f := range t.Props.Schema().Fields() {
			c := expr.ColumnOf(t.Props.Column(i))
			get := shown(c)
			values := func(_ []uint32, e []uint64) any { return get(int(e[0])) }
			fields = append(fields, timeColumn(f.Name, typeOfColumn(c), expr.TimeType(g, pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef}, Key: f.Name}), values))
		}
	}
	return fields
}

// Fields are the columns of an edge: src, dst and, where the graph has them, label, time
// and the properties. Their rows have the id of a data edge in e[0], and no vertices.
func (c *Column) Fields() []Column { return c.fields }

// Ends returns the source and target of a data edge: a row of the edge table,
// or of a graph without one a place in the lists of out-neighbours.
func Ends(g *graph.Graph, id uint64) (uint32, uint32) {
	if g.Edges != nil {
		return g.Edges.Src[id], g.Edges.Dst[id]
	}
	out := g.Flat(&g.Out)
	u, ok := slices.BinarySearch(out.Off, id)
	if !ok {
		u--
	}
	for out.Off[u+1] <= id { // vertices without neighbours share an offset
		u++
	}
	return uint32(u), out.Adj[id]
}

// distinct returns the columns with distinct names. Of equal names the first is kept, and the
// others get _2, _3, …, different from all other names.
func distinct(cols []Column) []Column {
	taken := map[string]bool{}
	for _, c := range cols {
		taken[c.Name] = true
	}
	if len(taken) == len(cols) {
		return cols
	}
	cols = slices.Clone(cols)
	seen := map[string]bool{}
	for i := range cols {
		name := cols[i].Name
		if !seen[name] {
			seen[name] = true
			continue
		}
		for n := 2; taken[cols[i].Name]; n++ {
			cols[i].Name = fmt.Sprintf("%s_%d", name, n)
		}
		taken[cols[i].Name] = true
	}
	return cols
}

// Value is a column of computed values: nil or a value of the type.
func Value(name string, t Type, value func(m []uint32, e []uint64) any) Column {
	return Column{Name: name, Type: t, source: fromValue, value: value}
}

// Like is a column of computed values with the name and type of c.
func (c *Column) Like(value func(m []uint32, e []uint64) any) Column {
	out := Value(c.Name, c.Type, value)
	out.unit = c.unit
	return out
}

// Value returns the column's value in a row of matched vertices: nil where it is missing.
// The column must not depend on edges.
func (c *Column) Value(m []uint32) any { return c.At(m, nil) }

// At returns the column's value in a row of matched vertices and chosen edges: nil where it
// is missing. A column of edges has Fields instead.
func (c *Column) At(m []uint32, e []uint64) any {
	if c.source == fromValue {
		return c.value(m, e)
	}
	if c.Type == Int {
		return c.g.IDs.Int(m[c.index])
	}
	return c.g.IDs.String(m[c.index])
}

// row is one match of a batch.
func row(b *engine.Batch, i int) ([]uint32, []uint64) {
	return b.Vertices[i*b.Width : (i+1)*b.Width], b.Edges[i*b.EdgeWidth : (i+1)*b.EdgeWidth]
}

// Rows is a batch of the numbers first … first+n-1, for tables that are made of
// Value columns over a row number.
func Rows(first, n int) *engine.Batch {
	b := &engine.Batch{Rows: n, Width: 1, Vertices: make([]uint32, n)}
	for i := range b.Vertices {
		b.Vertices[i] = uint32(first + i)
	}
	return b
}
