package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// column is a property column: an Arrow array, or the time column of the edges.
type column struct {
	array arrow.Array
	times []int64
}

// vertexColumn returns the column of a vertex property, nil if there is none.
func vertexColumn(g *graph.Graph, key string) *column { return recordColumn(g.VertexProps, key) }

// edgeColumn returns the column of an edge property, nil if there is none. The
// time of an edge is a property as graph.TimeNames says.
func edgeColumn(g *graph.Graph, key string) *column {
	if g.Edges == nil {
		return nil
	}
	if c := recordColumn(g.Edges.Props, key); c != nil {
		return c
	}
	if slices.Contains(graph.TimeNames, key) && g.Edges.Time != nil {
		return &column{times: g.Edges.Time}
	}
	return nil
}

func recordColumn(rec arrow.RecordBatch, key string) *column {
	if rec == nil {
		return nil
	}
	if at := rec.Schema().FieldIndices(key); len(at) > 0 {
		return &column{array: rec.Column(at[0])}
	}
	return nil
}

// unknownProperty warns that key is NULL for every vertex or edge.
func (s *scope) unknownProperty(what, key string, rec arrow.RecordBatch, more []string) {
	known := slices.Clone(more)
	if rec != nil {
		for _, f := range rec.Schema().Fields() {
			known = append(known, f.Name)
		}
	}
	text := fmt.Sprintf("no %s has the property %s: it is NULL everywhere", what, pattern.QuoteName(key))
	if near := pattern.Suggest(key, known); near != "" {
		text += "; did you mean " + pattern.QuoteName(near) + "?"
	}
	s.b.warn(text)
}

func (s *scope) unknownEdgeProperty(key string) {
	t := s.b.g.Edges
	if t == nil {
		s.unknownProperty("edge", key, nil, nil)
		return
	}
	var more []string
	if t.Time != nil {
		more = graph.TimeNames[:1]
	}
	s.unknownProperty("edge", key, t.Props, more)
}

// getter returns a function that reads one row.
func (c *column) getter() func(row int) value {
	if c.times != nil {
		return func(row int) value { return value{kind: kindInt, i: c.times[row]} }
	}
	get := arrayGetter(c.array)
	if c.array.NullN() == 0 {
		return get
	}
	a := c.array
	return func(row int) value {
		if a.IsNull(row) {
			return null
		}
		return get(row)
	}
}

func integer[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](get func(int) T) func(int) value {
	return func(row int) value { return value{kind: kindInt, i: int64(get(row))} }
}

func text(get func(int) string) func(int) value {
	return func(row int) value { return value{kind: kindString, s: get(row)} }
}

func arrayGetter(a arrow.Array) func(int) value {
	switch a := a.(type) {
	case *array.Boolean:
		return func(row int) value { return boolean(a.Value(row)) }
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
		return func(row int) value {
			if x := a.Value(row); x>>63 != 0 {
				return value{kind: kindFloat, f: float64(x)}
			}
			return value{kind: kindInt, i: int64(a.Value(row))}
		}
	case *array.Float32:
		return func(row int) value { return value{kind: kindFloat, f: float64(a.Value(row))} }
	case *array.Float64:
		return func(row int) value { return value{kind: kindFloat, f: a.Value(row)} }
	case *array.String:
		return text(a.Value)
	case *array.LargeString:
		return text(a.Value)
	case *array.StringView:
		return text(a.Value)
	case *array.Dictionary:
		get := arrayGetter(a.Dictionary())
		return func(row int) value { return get(a.GetValueIndex(row)) }
	case *array.Timestamp:
		return integer(a.Value)
	case *array.Date32:
		return integer(a.Value)
	case *array.Date64:
		return integer(a.Value)
	case *array.Duration:
		return integer(a.Value)
	case *array.Null:
		return func(int) value { return null }
	}
	return text(a.ValueStr)
}
