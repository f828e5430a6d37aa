package graph

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestTakeRecord: columns of every type have the rows asked for, and nulls where
// there is no row.
func TestTakeRecord(t *testing.T) {
	for _, typ := range []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Timestamp_us,
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float32, arrow.BinaryTypes.LargeString,
	} {
		b := array.NewBuilder(memory.DefaultAllocator, typ)
		texts := []string{"1", "0", "", "1"}
		if typ.ID() == arrow.TIMESTAMP {
			texts = []string{"2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "", "2022-01-01T00:00:00Z"}
		}
		for _, text := range texts {
			if text == "" {
				b.AppendNull()
			} else if err := b.AppendValueFromString(text); err != nil {
				t.Fatal(err)
			}
		}
		a := b.NewArray()
		rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ, Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))
		rows := []uint32{3, noRow, 0, 2, 0, 1}
		got, err := takeRecord(rec, rows)
		if err != nil || got.NumRows() != int64(len(rows)) || !arrow.TypeEqual(got.Column(0).DataType(), typ) {
			t.Fatalf("%s: %v, %v", typ, got, err)
		}
		for i, r := range rows {
			want := array.NullValueStr
			if r != noRow {
				want = a.ValueStr(int(r))
			}
			if text := got.Column(0).ValueStr(i); text != want {
				t.Errorf("%s, row %d: %s, want %s", typ, i, text, want)
			}
		}
		if none, err := takeRecord(rec, nil); err != nil || none.NumRows() != 0 || none.Column(0).Len() != 0 {
			t.Errorf("%s: no rows: %v, %v", typ, none, err)
		}
	}
}
