//go:build interop

// Files of Apache's Go implementation are read, and it reads what is written here.
// The tag keeps its many packages out of the usual tests: go test -tags interop.
package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

var interopCodecs = []compress.Compression{
	compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip,
	compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw,
}

// TestInteropRead reads every type in every encoding, codec and version of pages.
func TestInteropRead(t *testing.T) {
	types := []struct {
		phys      pq.Type
		encodings []pq.Encoding
	}{
		{pq.Types.Boolean, []pq.Encoding{pq.Encodings.Plain, pq.Encodings.RLE}},
		{pq.Types.Int32, []pq.Encoding{pq.Encodings.Plain, pq.Encodings.PlainDict, pq.Encodings.DeltaBinaryPacked, pq.Encodings.ByteStreamSplit}},
		{pq.Types.Int64, []pq.Encoding{pq.Encodings.Plain, pq.Encodings.PlainDict, pq.Encodings.DeltaBinaryPacked, pq.Encodings.ByteStreamSplit}},
		{pq.Types.Int96, []pq.Encoding{pq.Encodings.Plain, pq.Encodings.PlainDict}},
		{pq.Types.Float, []pq.Encoding{pq.Encodings.Plain, pq.Encodings.PlainDict, pq.Encodings.ByteStreamSplit}},
		{pq.Types.Double, []pq.Encoding{pq.Encodings.Plain, pq.Encodings.PlainDict, pq.Encodings.ByteStreamSplit}},
		{pq.Types.ByteArray, []pq.Encoding{pq.Encodings.Plain, pq.Encodings.PlainDict, pq.Encodings.DeltaLengthByteArray, pq.Encodings.DeltaByteArray}},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	files := 0
	for _, typ := range types {
		for _, enc := range typ.encodings {
			for _, codec := range interopCodecs {
				for _, version := range []pq.DataPageVersion{pq.DataPageV1, pq.DataPageV2} {
					for _, rep := range []pq.Repetition{pq.Repetitions.Required, pq.Repetitions.Optional} {
						for _, wide := range []bool{false, true} {
							name := fmt.Sprintf("%s/%s/%s/v%d/%s/wide=%v", typ.phys, enc, codec, version, rep, wide)
							want, data := interopFile(t, rng, typ.phys, enc, codec, version, rep, wide)
							got, err := readColumn(data, 0)
							if err != nil {
								t.Fatalf("%s: %v", name, err)
							}
							if !reflect.DeepEqual(got, want) {
								t.Fatalf("%s: read %.300v, want %.300v", name, got, want)
							}
							files++
						}
					}
				}
			}
		}
	}
	t.Logf("%d files", files)
}

// interopFile writes a column in two row groups of several pages each.
func interopFile(t *testing.T, rng *rand.Rand, phys pq.Type, enc pq.Encoding, codec compress.Compression, version pq.DataPageVersion, rep pq.Repetition, wide bool) ([]any, []byte) {
	t.Helper()
	n, err := schema.NewPrimitiveNode("c", rep, phys, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	root, err := schema.NewGroupNode("schema", pq.Repetitions.Required, schema.FieldList{n}, -1)
	if err != nil {
		t.Fatal(err)
	}
	dict := enc == pq.Encodings.PlainDict
	props := []pq.WriterProperty{pq.WithCompression(codec), pq.WithDataPageVersion(version), pq.WithDictionaryDefault(dict), pq.WithDataPageSize(1500), pq.WithBatchSize(100)}
	if !dict {
		props = append(props, pq.WithEncoding(enc))
	}
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root, file.WithWriterProps(pq.NewWriterProperties(props...)))
	var want []any
	number := func() int64 {
		if wide {
			return int64(rng.Uint64())
		}
		return rng.Int64N(50)
	}
	for range 2 {
		rg := w.AppendRowGroup()
		cw, err := rg.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		rows := 900 + rng.IntN(200)
		var def []int16
		var values []int64
		for i := range rows {
			d := int16(0)
			if rep == pq.Repetitions.Optional {
				if d = int16(rng.IntN(5)+1) / 2; d > 1 || i < 40 {
					d = 1
				}
				def = append(def, d)
			}
			if rep == pq.Repetitions.Required || d == 1 {
				x := number()
				values = append(values, x)
				want = append(want, interopValue(phys, x))
			} else {
				want = append(want, nil)
			}
		}
		interopWrite(t, cw, def, values)
		if err := rg.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return want, buf.Bytes()
}

func interopText(x int64) string {
	return fmt.Sprintf("text %d"[:5+int(uint64(x)%3)], x) + fmt.Sprint(x)
}

// interopValue is what a value is read as.
func interopValue(phys pq.Type, x int64) any {
	switch phys {
	case pq.Types.Boolean:
		return x%2 != 0
	case pq.Types.Int32:
		return int64(int32(x))
	case pq.Types.Int96:
		return interop96(x).ToTime().UnixNano()
	case pq.Types.Float:
		return float64(float32(x))
	case pq.Types.Double:
		return float64(x) / 3
	case pq.Types.ByteArray:
		return interopText(x)
	}
	return x
}

func interop96(x int64) (out pq.Int96) {
	out.SetNanoSeconds(x / 2)
	return out
}

func interopWrite(t *testing.T, cw file.ColumnChunkWriter, def []int16, values []int64) {
	t.Helper()
	var err error
	switch cw := cw.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = cw.WriteBatch(mapped(values, func(x int64) bool { return x%2 != 0 }), def, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = cw.WriteBatch(mapped(values, func(x int64) int32 { return int32(x) }), def, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = cw.WriteBatch(values, def, nil)
	case *file.Int96ColumnChunkWriter:
		_, err = cw.WriteBatch(mapped(values, interop96), def, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = cw.WriteBatch(mapped(values, func(x int64) float32 { return float32(x) }), def, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = cw.WriteBatch(mapped(values, func(x int64) float64 { return float64(x) / 3 }), def, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = cw.WriteBatch(mapped(values, func(x int64) pq.ByteArray { return pq.ByteArray(interopText(x)) }), def, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func mapped[T any](v []int64, f func(int64) T) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

// TestInteropWrite has the other program read what is written here.
func TestInteropWrite(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		rec := randomRecord(rng, 1+rng.IntN(3000))
		var buf bytes.Buffer
		w, err := NewWriter(&buf, rec.Schema(), int64(1+rng.IntN(4000)))
		if err == nil {
			err = w.Write(rec)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := file.NewParquetReader(bytes.NewReader(buf.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if r.NumRows() != rec.NumRows() {
			t.Fatalf("%d rows, want %d", r.NumRows(), rec.NumRows())
		}
		want := leafTexts(rec)
		for c := range r.MetaData().Schema.NumColumns() {
			var got []string
			for g := range r.NumRowGroups() {
				got = append(got, interopColumn(t, r, g, c)...)
			}
			if !reflect.DeepEqual(got, want[c]) {
				t.Fatalf("round %d, column %s: %.200v, want %.200v", round, r.MetaData().Schema.Column(c).Path(), got, want[c])
			}
		}
	}
}

// interopColumn returns the levels and values of a column as texts.
func interopColumn(t *testing.T, r *file.Reader, g, c int) (out []string) {
	t.Helper()
	cr, err := r.RowGroup(g).Column(c)
	if err != nil {
		t.Fatal(err)
	}
	d := cr.Descriptor()
	const n = 1 << 16
	def, rep := make([]int16, n), make([]int16, n)
	for cr.HasNext() {
		var total int64
		var values func(i int) any
		switch cr := cr.(type) {
		case *file.BooleanColumnChunkReader:
			v := make([]bool, n)
			total, _, err = cr.ReadBatch(n, v, def, rep)
			values = func(i int) any { return v[i] }
		case *file.Int64ColumnChunkReader:
			v := make([]int64, n)
			total, _, err = cr.ReadBatch(n, v, def, rep)
			values = func(i int) any { return v[i] }
		case *file.Float64ColumnChunkReader:
			v := make([]float64, n)
			total, _, err = cr.ReadBatch(n, v, def, rep)
			values = func(i int) any { return v[i] }
		case *file.ByteArrayColumnChunkReader:
			v := make([]pq.ByteArray, n)
			total, _, err = cr.ReadBatch(n, v, def, rep)
			values = func(i int) any { return string(v[i]) }
		default:
			t.Fatalf("a column of type %s", cr.Type())
		}
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for i := range int(total) {
			if d.MaxDefinitionLevel() > 0 && def[i] < d.MaxDefinitionLevel() {
				out = append(out, fmt.Sprintf("%d:%d", rep[i], def[i]))
				continue
			}
			out = append(out, fmt.Sprintf("%d:%v", rep[i], values(at)))
			at++
		}
		clear(rep)
	}
	return out
}

// leafTexts are the levels and values of a record's columns, worked out by rules
// of their own.
func leafTexts(rec arrow.RecordBatch) (out [][]string) {
	for i, f := range rec.Schema().Fields() {
		switch a := rec.Column(i).(type) {
		case *array.Struct:
			for k, sub := range f.Type.(*arrow.StructType).Fields() {
				var col []string
				for row := range a.Len() {
					switch level := 0; {
					case f.Nullable && a.IsNull(row):
						col = append(col, "0:0")
					case sub.Nullable && a.Field(k).IsNull(row):
						if f.Nullable {
							level++
						}
						col = append(col, fmt.Sprintf("0:%d", level))
					default:
						col = append(col, "0:"+plainText(a.Field(k), row))
					}
				}
				out = append(out, col)
			}
		case *array.List:
			var col []string
			for row := range a.Len() {
				lo, hi := a.ValueOffsets(row)
				if lo == hi {
					col = append(col, "0:0")
				}
				for k := lo; k < hi; k++ {
					col = append(col, fmt.Sprintf("%d:%s", min(1, k-lo), plainText(a.ListValues(), int(k))))
				}
			}
			out = append(out, col)
		default:
			var col []string
			for row := range a.Len() {
				if f.Nullable && a.IsNull(row) {
					col = append(col, "0:0")
				} else {
					col = append(col, "0:"+plainText(a, row))
				}
			}
			out = append(out, col)
		}
	}
	return out
}

func plainText(a arrow.Array, i int) string {
	if ts, ok := a.(*array.Timestamp); ok {
		return fmt.Sprint(int64(ts.Value(i)))
	}
	return fmt.Sprint(a.GetOneForMarshal(i))
}
