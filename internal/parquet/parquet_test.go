package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// readColumn reads a column of a file as plain values, in parts of odd sizes.
func readColumn(data []byte, col int) ([]any, error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var out []any
	for g := range f.Groups() {
		r, err := f.Group(g, func(c int) bool { return c == col })
		if err != nil {
			return nil, err
		}
		for size := 1; r.Left() > 0; size = size*3 + 1 {
			rec, err := r.Next(size)
			if err != nil {
				return nil, err
			}
			for i := range int(rec.NumRows()) {
				out = append(out, plainValue(rec.Column(col), i))
			}
		}
	}
	return out, nil
}

func plainValue(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Uint32:
		return a.Value(i)
	case *array.Uint64:
		return a.Value(i)
	case *array.List:
		lo, hi := a.ValueOffsets(i)
		out := []any{}
		for k := lo; k < hi; k++ {
			out = append(out, plainValue(a.ListValues(), int(k)))
		}
		return out
	}
	return a.ValueStr(i)
}

// randomRecord has a column of each type that can be written; some repeat few
// values, some are nearly sorted, some are empty.
func randomRecord(rng *rand.Rand, rows int) arrow.RecordBatch {
	few := rng.IntN(2) == 0
	number := func() int64 {
		if few {
			return rng.Int64N(5) - 2
		}
		return int64(rng.Uint64()) >> rng.IntN(64)
	}
	nulls := rng.IntN(3)
	texts := arrow.ListOfNonNullable(arrow.BinaryTypes.String)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "int", Type: arrow.PrimitiveTypes.Int64},
		{Name: "int?", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "float?", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "bool", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "bool?", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String},
		{Name: "text?", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "time?", Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true},
		{Name: "list", Type: texts},
		{Name: "edge", Type: arrow.StructOf(arrow.Field{Name: "src", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "w", Type: arrow.PrimitiveTypes.Float64, Nullable: true})},
		{Name: "edge?", Type: arrow.StructOf(arrow.Field{Name: "src", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "w", Type: arrow.PrimitiveTypes.Int64, Nullable: true}), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	var put func(to array.Builder, nullable bool)
	put = func(to array.Builder, nullable bool) {
		if nullable && rng.IntN(4) < nulls {
			to.AppendNull()
			return
		}
		switch to := to.(type) {
		case *array.Int64Builder:
			to.Append(number())
		case *array.Float64Builder:
			to.Append(float64(number()) / 8)
		case *array.BooleanBuilder:
			to.Append(number()%2 != 0)
		case *array.StringBuilder:
			to.Append(strings.Repeat("é", rng.IntN(4)) + fmt.Sprint(number()))
		case *array.TimestampBuilder:
			to.Append(arrow.Timestamp(number()))
		case *array.ListBuilder:
			to.Append(true)
			for range rng.IntN(3) {
				put(to.ValueBuilder(), false)
			}
		case *array.StructBuilder:
			to.Append(true)
			for i, f := range to.Type().(*arrow.StructType).Fields() {
				put(to.FieldBuilder(i), f.Nullable)
			}
		}
	}
	for range rows {
		for i, f := range schema.Fields() {
			put(b.Field(i), f.Nullable)
		}
	}
	return b.NewRecordBatch()
}

func fileOf(t *testing.T, rec arrow.RecordBatch, groupRows int64) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, rec.Schema(), groupRows)
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestRoundTrip reads what was written; structs are not read.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		rec := randomRecord(rng, rng.IntN(3000))
		data := fileOf(t, rec, int64(1+rng.IntN(4000)))
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if n := f.Schema().NumFields(); n != 9 || len(f.Skipped()) != 4 {
			t.Fatalf("%d columns, and not %q", n, f.Skipped())
		}
		for c := range 9 {
			got, err := readColumn(data, c)
			if err != nil {
				t.Fatalf("%s: %v", f.Schema().Field(c).Name, err)
			}
			for i := range int(rec.NumRows()) {
				if want := plainValue(rec.Column(c), i); fmt.Sprint(got[i]) != fmt.Sprint(want) {
					t.Fatalf("%s, row %d: %v, want %v", f.Schema().Field(c).Name, i, got[i], want)
				}
			}
			if len(got) != int(rec.NumRows()) {
				t.Fatalf("%d rows, want %d", len(got), rec.NumRows())
			}
		}
	}
}

// TestLongRuns crosses the sizes of pages, of samples for dictionaries, and of
// row groups.
func TestLongRuns(t *testing.T) {
	const rows = 3*pageValues + 5
	b := array.NewInt64Builder(memory.DefaultAllocator)
	s := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range rows {
		b.Append(int64(i / 1000))
		s.Append(strings.Repeat("x", i%40))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	data := fileOf(t, array.NewRecordBatch(schema, []arrow.Array{b.NewArray(), s.NewArray()}, rows), 2*pageValues+1)
	if len(data) > 64<<10 {
		t.Errorf("%d bytes: values that repeat take little room", len(data))
	}
	for c, want := range []func(i int) any{func(i int) any { return int64(i / 1000) }, func(i int) any { return strings.Repeat("x", i%40) }} {
		got, err := readColumn(data, c)
		if err != nil || len(got) != rows {
			t.Fatalf("%d rows, %v", len(got), err)
		}
		for i := range got {
			if got[i] != want(i) {
				t.Fatalf("row %d: %v, want %v", i, got[i], want(i))
			}
		}
	}
}

// TestOthersFiles reads files that other programs wrote; testdata/README.md says
// how they were made. Each has a text next to it with its columns and rows.
func TestOthersFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got strings.Builder
		for c, field := range f.Schema().Fields() {
			v, err := readColumn(data, c)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			fmt.Fprintf(&got, "%s %s %v\n", field.Name, field.Type, v)
		}
		for _, s := range f.Skipped() {
			fmt.Fprintln(&got, s)
		}
		want, err := os.ReadFile(strings.TrimSuffix(name, "parquet") + "txt")
		if err != nil || got.String() != string(want) {
			t.Errorf("%s:\n%s\nwant (%v)\n%s", name, got.String(), err, want)
		}
	}
}

// TestDamage changes bytes of a file: an error, or a file whose values can be
// read, and never a panic. What stands in a page is always found.
func TestDamage(t *testing.T) {
	rec := randomRecord(rand.New(rand.NewPCG(7, 8)), 24)
	data := fileOf(t, rec, 20)
	if _, err := Open(bytes.NewReader(data[:len(data)-1]), int64(len(data)-1)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut: %v", err)
	}
	found := 0
	for i := 0; i < len(data); i += 5 {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		for c := range 9 {
			if _, err := readColumn(bad, c); errors.Is(err, ErrChecksum) {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("%d damaged pages were found", found)
	}
}

// TestPromises: a size that a page only promises allocates nothing.
func TestPromises(t *testing.T) {
	const promised = 1<<31 - 1
	var before, after runtime.MemStats
	for _, codec := range []int32{codecUncompressed, codecSnappy, codecGzip, codecBrotli, codecZstd, codecLZ4Raw} {
		b := append(binary.AppendUvarint(nil, promised), "little"...)
		runtime.ReadMemStats(&before)
		if out, err := decompress(codec, b, promised); err == nil {
			t.Errorf("codec %d: %d bytes", codec, len(out))
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<24 {
			t.Errorf("codec %d: %d bytes were allocated", codec, n)
		}
	}
	p := &pages[[]byte]{open: openBytes}
	if err := p.dictionary(&pageHeader{values: promised}, make([]byte, 100)); !errors.Is(err, errData) {
		t.Errorf("a dictionary: %v", err)
	}
}

// TestBombs: a page that has more than its header says is refused before it fills the memory.
func TestBombs(t *testing.T) {
	var before, after runtime.MemStats
	for codec, open := range map[int32]func(io.Writer) (io.WriteCloser, error){
		codecGzip: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		codecZstd: func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := open(&b)
		if err != nil {
			t.Fatal(err)
		}
		for range 64 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&before)
		if out, err := decompress(codec, b.Bytes(), 100); err == nil {
			t.Errorf("codec %d: %d bytes", codec, len(out))
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<24 {
			t.Errorf("codec %d: %d bytes were allocated", codec, n)
		}
	}
}

// TestLevels: a run may repeat a level that the schema does not have, for which no value is there.
func TestLevels(t *testing.T) {
	l := &leaf{phys: physInt64, maxDef: 1, field: arrow.Field{Type: arrow.PrimitiveTypes.Int64}}
	for level, want := range map[byte]bool{0: true, 1: true, 2: false, 3: false, 255: false} {
		p := &pages[int64]{l: l, page: 4, def: &runs{b: []byte{4 << 1, level}, width: 1}}
		p.values = &plain[int64]{b: make([]byte, 4*8), width: 8, get: getInt64}
		c := &flat[int64]{p: p, put: appendInt}
		if _, err := c.read(4); (err == nil) != want {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.parquet")
	for _, name := range files {
		if data, err := os.ReadFile(name); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for c := range 4 {
			file, err := Open(bytes.NewReader(data), int64(len(data)))
			if err != nil || file.NumRows() > 1<<16 || c >= file.Schema().NumFields() {
				return
			}
			// An error is right, too; a panic is not.
			_, _ = readColumn(data, c)
		}
	})
}
