package dynamic

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// valuesOf returns a function that reads an array of a type that graphs can have.
func valuesOf(a arrow.Array) func(i int) Value {
	get := func(i int) Value { return Value{} }
	switch a := a.(type) {
	case *array.Int8:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Int16:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Int32:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Int64:
		get = func(i int) Value { return OfInt(a.Value(i)) }
	case *array.Date32:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Date64:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Time32:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Time64:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Timestamp:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Duration:
		get = func(i int) Value { return OfInt(int64(a.Value(i))) }
	case *array.Uint8:
		get = func(i int) Value { return OfUnsigned(uint64(a.Value(i))) }
	case *array.Uint16:
		get = func(i int) Value { return OfUnsigned(uint64(a.Value(i))) }
	case *array.Uint32:
		get = func(i int) Value { return OfUnsigned(uint64(a.Value(i))) }
	case *array.Uint64:
		get = func(i int) Value { return OfUnsigned(a.Value(i)) }
	case *array.Float32:
		get = func(i int) Value { return OfFloat(float64(a.Value(i))) }
	case *array.Float64:
		get = func(i int) Value { return OfFloat(a.Value(i)) }
	case *array.Boolean:
		get = func(i int) Value { return OfBool(a.Value(i)) }
	case *array.String:
		get = func(i int) Value { return OfString(a.Value(i)) }
	case *array.LargeString:
		get = func(i int) Value { return OfString(a.Value(i)) }
	}
	return func(i int) Value {
		if a.IsNull(i) {
			return Value{}
		}
		return get(i)
	}
}

// records builds record batches of some columns.
type records struct {
	schema   *arrow.Schema
	builders []array.Builder
	put      []func(Value)
	rows     int
}

// newRecords makes a record builder for columns. Without columns it returns nil.
func newRecords(cs []Column) *records {
	if len(cs) == 0 {
		return nil
	}
	r := &records{}
	var fields []arrow.Field
	for _, c := range cs {
		fields = append(fields, arrow.Field{Name: c.Name, Type: c.Type, Nullable: true})
		b := array.NewBuilder(memory.NewGoAllocator(), c.Type)
		r.builders = append(r.builders, b)
		r.put = append(r.put, putter(b))
	}
	r.schema = arrow.NewSchema(fields, nil)
	return r
}

// putter returns a function that adds a value of the builder's type.
func putter(b array.Builder) func(Value) {
	var put func(Value)
	switch b := b.(type) {
	case *array.Int8Builder:
		put = func(v Value) { b.Append(int8(v.Int())) }
	case *array.Int16Builder:
		put = func(v Value) { b.Append(int16(v.Int())) }
	case *array.Int32Builder:
		put = func(v Value) { b.Append(int32(v.Int())) }
	case *array.Int64Builder:
		put = func(v Value) { b.Append(v.Int()) }
	case *array.Date32Builder:
		put = func(v Value) { b.Append(arrow.Date32(v.Int())) }
	case *array.Date64Builder:
		put = func(v Value) { b.Append(arrow.Date64(v.Int())) }
	case *array.Time32Builder:
		put = func(v Value) { b.Append(arrow.Time32(v.Int())) }
	case *array.Time64Builder:
		put = func(v Value) { b.Append(arrow.Time64(v.Int())) }
	case *array.TimestampBuilder:
		put = func(v Value) { b.Append(arrow.Timestamp(v.Int())) }
	case *array.DurationBuilder:
		put = func(v Value) { b.Append(arrow.Duration(v.Int())) }
	case *array.Uint8Builder:
		put = func(v Value) { b.Append(uint8(v.Unsigned())) }
	case *array.Uint16Builder:
		put = func(v Value) { b.Append(uint16(v.Unsigned())) }
	case *array.Uint32Builder:
		put = func(v Value) { b.Append(uint32(v.Unsigned())) }
	case *array.Uint64Builder:
		put = func(v Value) { b.Append(v.Unsigned()) }
	case *array.Float32Builder:
		put = func(v Value) { b.Append(float32(v.Float())) }
	case *array.Float64Builder:
		put = func(v Value) {
			if v.Kind() == Int { // of a mixed column
				v = OfFloat(float64(v.Int()))
			}
			b.Append(v.Float())
		}
	case *array.BooleanBuilder:
		put = func(v Value) { b.Append(v.Bool()) }
	case *array.StringBuilder:
		put = func(v Value) { b.Append(v.Text()) }
	case *array.LargeStringBuilder:
		put = func(v Value) { b.Append(v.Text()) }
	}
	return func(v Value) {
		if v.Kind() == Null {
			b.AppendNull()
		} else {
			put(v)
		}
	}
}

// add adds a row of the values that of returns. On nil it does nothing.
func (r *records) add(of func(Key) Value) {
	if r == nil {
		return
	}
	for k, put := range r.put {
		put(of(Key(k)))
	}
	r.rows++
}

// batch returns the rows that were added since the last batch. Without columns it returns nil.
func (r *records) batch() arrow.RecordBatch {
	if r == nil {
		return nil
	}
	cols := make([]arrow.Array, len(r.builders))
	for i, b := range r.builders {
		cols[i] = b.NewArray()
	}
	n := r.rows
	r.rows = 0
	return array.NewRecordBatch(r.schema, cols, int64(n))
}
