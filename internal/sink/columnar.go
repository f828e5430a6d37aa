package sink

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/parquet"
)

// recordRows is the number of rows that a worker gathers into one record.
const recordRows = 64 << 10

// groupRows is the number of rows in a group of a Parquet file, which is held in
// memory until it is full.
const groupRows = 128 << 10

// columnar is the target of the formats that take Arrow records.
type columnar struct {
	cols   []Column
	schema *arrow.Schema
	write  func(arrow.RecordBatch) error
	end    func() error
	note   func() error // says that rows are missing; nil: the format has no place for it
}

func newArrow(w io.Writer, cols []Column) (target, error) {
	schema := schemaOf(cols)
	out := ipc.NewWriter(w, ipc.WithSchema(schema))
	note := func() error {
		b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
		defer b.Release()
		empty := b.NewRecordBatch()
		defer empty.Release()
		rec := array.NewRecordBatchWithMetadata(schema, empty.Columns(), 0, arrow.MetadataFrom(map[string]string{IncompleteKey: "false"}))
		defer rec.Release()
		return out.Write(rec)
	}
	return &columnar{cols, schema, out.Write, out.Close, note}, nil
}

func newParquet(w io.Writer, cols []Column) (target, error) {
	cols = withoutSpans(cols)
	schema := schemaOf(cols)
	out, err := parquet.NewWriter(w, schema, groupRows)
	if err != nil {
		return nil, err
	}
	return &columnar{cols, schema, out.Write, out.Close, nil}, nil
}

// withoutSpans are cols with durations as texts: Parquet has no type for them.
func withoutSpans(cols []Column) []Column {
	cols = slices.Clone(cols)
	for i := range cols {
		c := &cols[i]
		if c.Type == Duration {
			value := c.value
			c.Type = String
			c.value = func(m []uint32, e []uint64) any {
				if s, ok := value(m, e).(Span); ok {
					return s.String()
				}
				return value(m, e)
			}
		}
		c.fields = withoutSpans(c.fields)
	}
	return cols
}

func schemaOf(cols []Column) *arrow.Schema {
	var fields []arrow.Field
	for _, c := range cols {
		fields = append(fields, field(c))
	}
	return arrow.NewSchema(fields, nil)
}

func field(c Column) arrow.Field {
	f := arrow.Field{Name: c.Name, Nullable: c.source == fromValue}
	switch c.Type {
	case Int:
		f.Type = arrow.PrimitiveTypes.Int64
	case Float:
		f.Type = arrow.PrimitiveTypes.Float64
	case Bool:
		f.Type = arrow.FixedWidthTypes.Boolean
	case Timestamp:
		f.Type = &arrow.TimestampType{Unit: c.unit, TimeZone: "UTC"}
	case Duration:
		f.Type = &arrow.DurationType{Unit: c.unit}
	case String, Count:
		f.Type = arrow.BinaryTypes.String
	case EdgeType:
		var sub []arrow.Field
		for _, x := range c.fields {
			sub = append(sub, field(x))
		}
		f.Type = arrow.StructOf(sub...)
	}
	return f
}

func (t *columnar) encoder() encoder {
	return &columnarEncoder{t: t, b: array.NewRecordBuilder(memory.NewGoAllocator(), t.schema)}
}

func (t *columnar) close() error { return t.end() }

type columnarEncoder struct {
	t    *columnar
	b    *array.RecordBuilder
	rows int
}

func (e *columnarEncoder) add(b *engine.Batch) (bool, error) {
	for j := range e.t.cols {
		c := &e.t.cols[j]
		to := e.b.Field(j)
		for i := range b.Rows {
			m, edges := row(b, i)
			if err := appendValue(to, c, m, edges); err != nil {
				return false, err
			}
		}
	}
	e.rows += b.Rows
	return e.rows >= recordRows, nil
}

// appendValue adds the value of c in a row. A number that left the type of its
// column, as a sum beyond 63 bits does, is an error.
func appendValue(to array.Builder, c *Column, m []uint32, e []uint64) error {
	switch c.source {
	case fromVertex:
		switch to := to.(type) {
		case *array.Int64Builder:
			to.Append(c.g.IDs.Int(m[c.index]))
		case *array.StringBuilder:
			to.Append(c.g.IDs.String(m[c.index]))
		}
		return nil
	case fromEdge:
		s := to.(*array.StructBuilder)
		s.Append(true)
		for i := range c.fields {
			if err := appendValue(s.FieldBuilder(i), &c.fields[i], nil, e[c.index:c.index+1]); err != nil {
				return err
			}
		}
		return nil
	}
	x := c.value(m, e)
	switch to := to.(type) {
	case *array.Int64Builder:
		if v, ok := x.(int64); ok {
			to.Append(v)
			return nil
		}
	case *array.Float64Builder:
		if v, ok := x.(float64); ok {
			to.Append(v)
			return nil
		}
		if v, ok := x.(int64); ok {
			to.Append(float64(v))
			return nil
		}
	case *array.TimestampBuilder:
		if v, ok := x.(Instant); ok {
			to.Append(arrow.Timestamp(v.N))
			return nil
		}
	case *array.DurationBuilder:
		if v, ok := x.(Span); ok {
			to.Append(arrow.Duration(v.N))
			return nil
		}
	case *array.BooleanBuilder:
		if v, ok := x.(bool); ok {
			to.Append(v)
			return nil
		}
	case *array.StringBuilder:
		switch x := x.(type) {
		case string:
			to.Append(x)
			return nil
		case *big.Int:
			to.Append(x.String())
			return nil
		}
	}
	if x != nil {
		return fmt.Errorf("column %s holds %s, and one row has %v: write it as text, CSV or JSON", c.Name, to.Type(), x)
	}
	to.AppendNull()
	return nil
}

func (e *columnarEncoder) flush() error {
	if e.rows == 0 {
		return nil
	}
	rec := e.b.NewRecordBatch()
	e.rows = 0
	err := e.t.write(rec)
	rec.Release()
	return err
}
