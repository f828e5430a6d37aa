package watch

import (
	"errors"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/stream/nest"
)

// value is an item of RETURN besides names.
type value struct {
	item   gql.Item
	column sink.Column // that weft match has for the item in the graph of the beginning
}

// valueRow is the match whose values are computed. Conditions of expressions ask it for properties.
type valueRow struct {
	g        *dynamic.Graph
	view     dynamic.View
	vertices []uint32
	edges    []nest.Edge
	ids      []uint64 // by edge of the pattern: its place among edges
	degree   []uint32
}

// compile makes the column of a value of q.
func (x *value) compile(s *Set, q *Query) (err error) {
	edgeAt := func(e int) int {
		if slices.Contains(q.choices, e) {
			return e
		}
		return -1
	}
	x.column, err = sink.Computed(s.frame, q.Pattern, label(q.Pattern, x.item), x.item.Expr, edgeAt, func(plain pattern.Expr) (func([]uint32, []uint64) any, error) {
		if p, ok := plain.(pattern.Prop); ok {
			return s.row.property(p), nil
		}
		scope := &expr.Scope{Source: &s.row}
		f := scope.Compile(plain)
		return func(m []uint32, e []uint64) any { return f(m, e).Any() }, scope.Err
	})
	var wrong *pattern.TimeError
	switch {
	case errors.As(err, &wrong):
		return q.source.AtText(wrong.Near, wrong.Msg, wrong.Expected)
	case err != nil:
		return q.source.AtItem(x.item, err.Error())
	}
	return nil
}

// readsLists reports whether x has a degree.
func (x *value) readsLists() bool {
	reads := false
	pattern.Walk(x.item.Expr, func(e pattern.Expr) bool {
		_, is := e.(pattern.Deg)
		reads = reads || is
		return !reads
	})
	return reads
}

// typed is a value of x as its column has it. A property that the graph did not have at the beginning has a column of texts.
func (x *value) typed(v any) any {
	if _, ok := v.(string); ok || v == nil || x.column.Type != sink.String {
		return v
	}
	return string(sink.AppendJSON(nil, v))
}

// addValues computes the values of a match: of a delta, as a symmetry of the pattern has it.
func (c *collector) addValues(q *Query, d *nest.Delta, perm []int) {
	if len(q.values) == 0 {
		return
	}
	r := &c.set.row
	r.view = c.view(d)
	r.vertices, r.edges, r.ids = r.vertices[:0], r.edges[:0], r.ids[:0]
	for v := range d.Vertices {
		if perm != nil {
			v = perm[v]
		}
		r.vertices = append(r.vertices, d.Vertices[v])
	}
	for range q.Pattern.Edges {
		r.ids = append(r.ids, 0)
	}
	for at, j := range c.placesOf(q, perm) {
		r.edges = append(r.edges, d.Edges[j])
		r.ids[q.choices[at]] = uint64(slices.Index(r.edges, d.Edges[j]))
	}
	for i := range q.values {
		c.values = append(c.values, q.values[i].column.At(r.vertices, r.ids))
	}
}

// view is the version of the graph that has the match of a delta.
func (c *collector) view(d *nest.Delta) dynamic.View {
	if c.fixed {
		return c.set.g.Now()
	}
	version := c.version + d.Seq - c.base
	if d.Sign < 0 {
		version--
	}
	return c.set.g.At(version)
}

// property returns how a property is shown. Types that outputs do not have are shown as text, as weft match shows them.
func (r *valueRow) property(p pattern.Prop) func(m []uint32, e []uint64) any {
	if p.Of.Kind == pattern.EdgeRef {
		get := r.edgeValue(p.Key)
		return func(_ []uint32, e []uint64) any { return shown(get(e[p.Of.Index])) }
	}
	get := r.vertexValue(p.Key)
	return func(m []uint32, _ []uint64) any { return shown(get(m[p.Of.Index])) }
}

// shown is a value of a property of a type; nil: it is the time of an edge.
func shown(v dynamic.Value, t arrow.DataType) any {
	if v.Kind() == dynamic.Null {
		return nil
	}
	switch t := t.(type) {
	case *arrow.Uint64Type:
		return strconv.FormatUint(v.Unsigned(), 10)
	case *arrow.Time32Type:
		return arrow.Time32(v.Int()).FormattedString(t.Unit)
	case *arrow.Time64Type:
		return arrow.Time64(v.Int()).FormattedString(t.Unit)
	}
	return nest.ValueOf(v).Any()
}

// vertexValue returns how a property of vertices is read. Updates may bring it later.
func (r *valueRow) vertexValue(name string) func(v uint32) (dynamic.Value, arrow.DataType) {
	return func(v uint32) (dynamic.Value, arrow.DataType) {
		k, ok := r.g.LookupVertexKey(name)
		if !ok {
			return dynamic.Value{}, nil
		}
		return r.view.VertexValue(v, k), r.g.VertexType(k)
	}
}

// edgeValue returns how a property of edges, or their time, is read.
func (r *valueRow) edgeValue(name string) func(e uint64) (dynamic.Value, arrow.DataType) {
	isTime := slices.Contains((&graph.Graph{Read: r.g.Read}).TimeKeys(), name)
	return func(e uint64) (dynamic.Value, arrow.DataType) {
		if k, ok := r.g.LookupEdgeKey(name); ok {
			return r.view.EdgeValue(r.edges[e].ID, k), r.g.EdgeType(k)
		}
		if isTime && r.g.Timed() {
			return dynamic.OfInt(r.edges[e].Time), nil
		}
		return dynamic.Value{}, nil
	}
}

// NumericIDs implements expr.Source.
func (r *valueRow) NumericIDs() bool { return !r.g.TextIDs() }

// ID implements expr.Source.
func (r *valueRow) ID(v uint32) expr.Value {
	id := r.g.IDOf(v)
	if n, ok := id.Number(); ok {
		return expr.Value{Kind: expr.Int, I: int64(n)}
	}
	return expr.Value{Kind: expr.Text, S: id.String()}
}

// Degree implements expr.Source.
func (r *valueRow) Degree(v uint32) int64 {
	return int64(r.view.Len(v, dynamic.Either, dynamic.AnyLabel, nil, &r.degree))
}

// Vertex implements expr.Source.
func (r *valueRow) Vertex(key string) func(v uint32) expr.Value {
	get := r.vertexValue(key)
	return func(v uint32) expr.Value {
		x, _ := get(v)
		return nest.ValueOf(x)
	}
}

// Edge implements expr.Source.
func (r *valueRow) Edge(key string) func(e uint64) expr.Value {
	get := r.edgeValue(key)
	return func(e uint64) expr.Value {
		x, _ := get(e)
		return nest.ValueOf(x)
	}
}
