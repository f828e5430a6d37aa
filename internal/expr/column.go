package expr

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// Column is a property of vertices or of edges: an Arrow array, or the times of the edges.
type Column struct {
	array arrow.Array
	times []int64
}

// VertexColumn returns the column of a vertex property, nil if there is none.
func VertexColumn(g *graph.Graph, key string) *Column { return recordColumn(g.VertexProps, key) }

// EdgeColumn returns the column of an edge property, nil if there is none. The
// time of an edge is a property as graph.TimeKeys says.
func EdgeColumn(g *graph.Graph, key string) *Column {
	if g.Edges == nil {
		return nil
	}
	if c := recordColumn(g.Edges.Props, key); c != nil {
		return c
	}
	if g.Edges.Time != nil && slices.Contains(g.TimeKeys(), key) {
		return &Column{times: g.Edges.Time}
	}
	return nil
}

func recordColumn(rec arrow.RecordBatch, key string) *Column {
	if rec == nil {
		return nil
	}
	if at := rec.Schema().FieldIndices(key); len(at) > 0 {
		return &Column{array: rec.Column(at[0])}
	}
	return nil
}

// ColumnOf returns the column of an array.
func ColumnOf(a arrow.Array) *Column { return &Column{array: a} }

// Type is the type of the column's array, nil for the times of the edges.
func (c *Column) Type() arrow.DataType {
	if c.times != nil {
		return nil
	}
	return c.array.DataType()
}

// Array is the column's array, nil for the times of the edges.
func (c *Column) Array() arrow.Array { return c.array }

// Kind says which words hold the column's values.
func (c *Column) Kind() WordKind {
	if c.times != nil {
		return IntWords
	}
	return kindOf(c.array)
}

// Whole returns the whole numbers of a column, and a bit a row that says whether the
// row has one (nil: every row has). It is not ok where values are not whole numbers.
func (c *Column) Whole() (numbers []int64, valid []uint64, ok bool) {
	if c.Kind() != IntWords {
		return nil, nil, false
	}
	w := wordsOf(c)
	return arrow.GetData[int64](arrow.GetBytes(w.Words)), w.Valid, true
}

// Unknown says that no vertex, or no edge, of g has the property that x asks for, and
// which one may have been meant.
func Unknown(g *graph.Graph, x pattern.Prop) string {
	what, rec := "vertex", g.VertexProps
	var known []string
	if x.Of.Kind == pattern.EdgeRef {
		if what, rec = "edge", nil; g.Edges != nil {
			if rec = g.Edges.Props; g.Edges.Time != nil {
				known = append(known, graph.TimeNames[0])
				if n := g.Read.TimeName; n != "" {
					known = append(known, n)
				}
			}
		}
	}
	if rec != nil {
		for _, f := range rec.Schema().Fields() {
			known = append(known, f.Name)
		}
	}
	text := fmt.Sprintf("no %s has the property %s: it is NULL everywhere", what, pattern.QuoteName(x.Key))
	if near := pattern.Suggest(x.Key, known); near != "" {
		text += "; did you mean " + pattern.QuoteName(near) + "?"
	}
	return text
}

// Reader returns a function that reads one row. Times are numbers of their unit.
func (c *Column) Reader() func(row int) Value {
	if c.times != nil {
		return func(row int) Value { return Value{Kind: Int, I: c.times[row]} }
	}
	get := arrayGetter(c.array)
	if c.array.NullN() == 0 {
		return get
	}
	a := c.array
	return func(row int) Value {
		if a.IsNull(row) {
			return null
		}
		return get(row)
	}
}

func integer[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](get func(int) T) func(int) Value {
	return func(row int) Value { return Value{Kind: Int, I: int64(get(row))} }
}

func text(get func(int) string) func(int) Value {
	return func(row int) Value { return Value{Kind: Text, S: get(row)} }
}

func arrayGetter(a arrow.Array) func(int) Value {
	switch a := a.(type) {
	case *array.Boolean:
		return func(row int) Value { return boolean(a.Value(row)) }
	case *array.Int8:
		return integer(a.Value)
	case *array.Int16:
		return integer(a.Value)
	case *array.Int32:
		return integer(a.Value)
	case *array.Int64:
		return integer(a.Value)
	case *array.Uint8:
		return integer(a.Value)
	case *array.Uint16:
		return integer(a.Value)
	case *array.Uint32:
		return integer(a.Value)
	case *array.Uint64:
		return func(row int) Value {
			if x := a.Value(row); x>>63 != 0 {
				return Value{Kind: Float, F: float64(x)}
			}
			return Value{Kind: Int, I: int64(a.Value(row))}
		}
	case *array.Float32:
		return func(row int) Value { return Value{Kind: Float, F: float64(a.Value(row))} }
	case *array.Float64:
		return func(row int) Value { return Value{Kind: Float, F: a.Value(row)} }
	case *array.String:
		return text(a.Value)
	case *array.LargeString:
		return text(a.Value)
	case *array.StringView:
		return text(a.Value)
	case *array.Dictionary:
		get := arrayGetter(a.Dictionary())
		return func(row int) Value { return get(a.GetValueIndex(row)) }
	case *array.Timestamp:
		return integer(a.Value)
	case *array.Date32:
		return integer(a.Value)
	case *array.Date64:
		return integer(a.Value)
	case *array.Duration:
		return integer(a.Value)
	case *array.Null:
		return func(int) Value { return null }
	}
	return text(a.ValueStr)
}
