package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/parquet"
	"github.com/weftgraph/weft/internal/vfs"
)

func nullable(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

// tables are the forms of a table with rows of JSON: its records have two rows.
func tables(t testing.TB, fields []arrow.Field, rows string) map[string][]byte {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	all, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	defer all.Release()
	var stream, file, pq bytes.Buffer
	writers := []interface {
		Write(arrow.RecordBatch) error
		Close() error
	}{ipc.NewWriter(&stream, ipc.WithSchema(schema))}
	f, err := ipc.NewFileWriter(&file, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	writers = append(writers, f)
	p, err := parquet.NewWriter(&pq, schema, 2)
	var unsupported *parquet.UnsupportedError
	switch {
	case err == nil:
		writers = append(writers, p)
	case !errors.As(err, &unsupported):
		t.Fatal(err)
	}
	for _, w := range writers {
		for i := int64(0); i < all.NumRows(); i += 2 {
			if err := w.Write(all.NewSlice(i, min(i+2, all.NumRows()))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string][]byte{"u.arrows": stream.Bytes(), "u.arrow": file.Bytes()}
	if err == nil {
		out["u.parquet"] = pq.Bytes()
	}
	for name, data := range out {
		if strings.Contains(name, ".gz") || strings.Contains(name, ".zst") {
			continue
		}
		var z bytes.Buffer
		gz := gzip.NewWriter(&z)
		if _, err := gz.Write(data); err != nil {
			t.Fatal(err)
		}
		gz.Close()
		out[name+".gz"] = z.Bytes()
		zs, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		out[name+".zst"] = zs.EncodeAll(data, nil)
		zs.Close()
	}
	return out
}

// updatesOf reads a file, or the same bytes from a pipe, and shows its updates and mistakes.
func updatesOf(t testing.TB, name string, data []byte, pipe bool, o Options) (out []string) {
	t.Helper()
	path, in := "-", io.Reader(bytes.NewReader(data))
	if !pipe {
		path, in = filepath.Join(t.TempDir(), name), nil
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(context.Background(), vfs.OS{}, path, in, o, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer r.Close()
	var u Update
	for {
		switch err := r.Next(&u); {
		case err == io.EOF:
			return out
		case err != nil:
			var bad *InputError
			if !errors.As(err, &bad) {
				t.Fatalf("%s: %v", name, err)
			}
			text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), path), "standard input")
			out = append(out, bad.Kind.String()+text)
		default:
			out = append(out, show(&u))
		}
	}
}

var (
	int64s = arrow.PrimitiveTypes.Int64
	floats = arrow.PrimitiveTypes.Float64
	texts0 = arrow.BinaryTypes.String
)

// TestTables: the updates of a table are those of the same objects, in each form of a file, from a file and from a pipe.
func TestTables(t *testing.T) {
	for _, c := range []struct {
		name   string
		fields []arrow.Field
		rows   string
		texts  bool
		want   string // objects
	}{
		{
			name:   "edges",
			fields: []arrow.Field{nullable("op", texts0), nullable("src", int64s), nullable("dst", int64s), nullable("label", texts0), nullable("time", int64s), nullable("w", floats), nullable("n", int64s), nullable("ok", arrow.FixedWidthTypes.Boolean), nullable("s", texts0)},
			rows: `[{"op":"+","src":1,"dst":2,"label":"A","time":5,"w":1.5,"n":-3,"ok":true,"s":"a \"b\\"},{"op":"Insert","src":1,"dst":3,"w":2},
				{"op":"-","src":1,"dst":2,"label":"A","time":5,"w":1.5},{"op":" DELETE ","src":1,"dst":3},{"op":"upsert","src":4,"dst":5,"w":1,"n":2},
				{"op":"update","src":4,"dst":5,"n":7},{"op":"+I","src":6,"dst":7},{"op":"delete_edge","src":6,"dst":7},{"op":"c","src":8,"dst":9}]`,
			want: `{"op":"+","u":1,"v":2,"label":"A","time":5,"properties":{"w":1.5,"n":-3,"ok":true,"s":"a \"b\\"}}
{"op":"+","u":1,"v":3,"properties":{"w":2.0}}
{"op":"-","u":1,"v":2,"label":"A","time":5}
{"op":"-","u":1,"v":3}
{"op":"+","u":4,"v":5,"properties":{"w":1.0,"n":2}}
{"op":"=","u":4,"v":5,"properties":{"w":1.0}}
{"op":"=","u":4,"v":5,"properties":{"n":2}}
{"op":"=","u":4,"v":5,"properties":{"n":7}}
{"op":"+","u":6,"v":7}
{"op":"-","u":6,"v":7}
{"op":"+","u":8,"v":9}`,
		},
		{
			name:   "vertices and edges, text ids",
			fields: []arrow.Field{nullable("Action", texts0), nullable("id", texts0), nullable("from_account", texts0), nullable("to_account", texts0), nullable("labels", texts0), nullable("age", int64s)},
			texts:  true,
			rows: `[{"Action":"add","id":"ann","labels":"Person; Customer","age":7},{"Action":"+v","id":"bob"},{"Action":"add","id":"tx1","from_account":"ann","to_account":"bob"},
				{"Action":"set","id":"ann","labels":"Person"},{"Action":"upsert","id":"bob","labels":"X","age":3},{"Action":"remove node","id":"ann"},{"Action":"-v","from_account":"bob"}]`,
			want: `{"op":"+v","id":"ann","labels":["Person","Customer"],"properties":{"age":7}}
{"op":"+v","id":"bob"}
{"op":"+","u":"ann","v":"bob","properties":{"id":"tx1"}}
{"op":"=v","id":"ann","labels":["Person"]}
{"op":"+v","id":"bob","labels":["X"],"properties":{"age":3}}
{"op":"=v","id":"bob","labels":["X"]}
{"op":"=v","id":"bob","properties":{"age":3}}
{"op":"-v","id":"ann"}
{"op":"-v","id":"bob"}`,
		},
		{
			name:   "no operation, dates, numbers as text",
			fields: []arrow.Field{nullable("source", texts0), nullable("target", texts0), nullable("timestamp", &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}), nullable("type", int64s)},
			rows:   `[{"source":"1","target":"2","timestamp":"2024-01-31T12:00:00.250Z","type":7},{"source":"2","target":"3","timestamp":"2024-02-01T00:00:00Z"}]`,
			want: `{"op":"+","u":1,"v":2,"label":7,"time":"2024-01-31T12:00:00.25Z"}
{"op":"+","u":2,"v":3,"time":"2024-02-01"}`,
		},
		{
			name:   "signs",
			fields: []arrow.Field{nullable("sign", int64s), nullable("u", int64s), nullable("v", int64s)},
			rows:   `[{"sign":1,"u":1,"v":2},{"sign":-1,"u":1,"v":2}]`,
			want: `{"op":"+","u":1,"v":2}
{"op":"-","u":1,"v":2}`,
		},
		{
			name: "types of Arrow alone",
			fields: []arrow.Field{
				nullable("op", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: texts0}), nullable("src", arrow.PrimitiveTypes.Uint32), nullable("dst", arrow.PrimitiveTypes.Float32),
				nullable("day", arrow.FixedWidthTypes.Date32), nullable("span", arrow.FixedWidthTypes.Duration_ms), nullable("list", arrow.ListOf(int64s)),
			},
			rows: `[{"op":"+","src":1,"dst":2,"day":"2024-01-31","span":"1500ms","list":[1]},{"op":"-","src":1,"dst":2}]`,
			want: `{"op":"+","u":1,"v":2,"properties":{"day":"2024-01-31T00:00:00Z","span":1500}}
{"op":"-","u":1,"v":2}`,
		},
		{name: "none", fields: []arrow.Field{nullable("op", texts0), nullable("src", int64s), nullable("dst", int64s)}, rows: `[]`},
	} {
		o := Options{TextIDs: c.texts, Lateness: -1, Times: Times{Unit: 1e3}}
		want := updatesOf(t, "u.ndjson", []byte(c.want), false, o)
		for name, data := range tables(t, c.fields, c.rows) {
			for _, pipe := range []bool{false, true} {
				if got := updatesOf(t, name, data, pipe, o); !slices.Equal(got, want) {
					t.Errorf("%s, %s, pipe %v:\n%s\nwant\n%s", c.name, name, pipe, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		}
	}
}

// TestTableMistakes: a mistake has its row and its column, and the next row follows.
func TestTableMistakes(t *testing.T) {
	fields := []arrow.Field{nullable("op", texts0), nullable("src", int64s), nullable("dst", int64s), nullable("id", int64s), nullable("time", texts0), nullable("w", floats)}
	rows := `[{"op":"+","src":1,"dst":2,"time":"10"},{"op":"put","src":1,"dst":2},{"src":1,"dst":2},{"op":"+","src":1},{"op":"+","src":1,"dst":-5},{"op":"+"},
		{"op":"+","src":1,"dst":2,"time":"soon"},{"op":"+","src":1,"dst":3,"time":"3"},{"op":"=","src":1,"dst":3},{"op":"-v"},{"op":"+","src":7,"dst":8,"time":"11"}]`
	want := []string{
		`add 1-2 : @10`,
		`malformed: row 2, column op: what happens is +, -, =, insert, delete, update or upsert, for a vertex +v, -v or =v: "put"`,
		`malformed: row 3, column op: what happens is +, -, =, insert, delete, update or upsert, for a vertex +v, -v or =v: ""`,
		`bad_id: row 4, column dst: an empty vertex id`,
		`bad_id: row 5, column dst: negative vertex id: ids are 0 … 2^63-1: "-5"`,
		`bad_id: row 6: the row has neither both ends of an edge nor the id of a vertex`,
		`bad_time: row 7, column time: a time: not a number, and not a date such as 2024-01-31T12:00:00Z: "soon"`,
		`late: row 8: the time 3 is 7 before the latest time, and at most 5 are allowed`,
		`malformed: row 9: the row changes nothing: each of its properties and labels is null`,
		`bad_id: row 10: the row has neither both ends of an edge nor the id of a vertex`,
		`add 7-8 : @11`,
	}
	for name, data := range tables(t, fields, rows) {
		for _, pipe := range []bool{false, true} {
			got := updatesOf(t, name, data, pipe, Options{Lateness: 5})
			if !slices.Equal(got, want) {
				t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// TestTableColumns: a table that has no updates is refused before the first row, and each part of a table that is missing is an error.
func TestTableColumns(t *testing.T) {
	for _, c := range []struct {
		fields []arrow.Field
		o      Format
		err    string
	}{
		{[]arrow.Field{nullable("op", texts0), nullable("a", int64s)}, "", "columns src and dst"},
		{[]arrow.Field{nullable("op", texts0), nullable("src", int64s)}, "", "columns src and dst"},
		{[]arrow.Field{nullable("op", floats), nullable("src", int64s), nullable("dst", int64s)}, "", "column op has type float64"},
		{[]arrow.Field{nullable("src", int64s), nullable("dst", int64s), nullable("time", arrow.FixedWidthTypes.Boolean)}, "", "column time has type bool"},
	} {
		for name, data := range tables(t, c.fields, `[]`) {
			_, err := Open(t.Context(), vfs.OS{}, "-", bytes.NewReader(data), Options{Format: c.o}, nil)
			var at *format.Error
			if !errors.As(err, &at) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", name, err, c.err)
			}
		}
	}
	fields := []arrow.Field{nullable("src", int64s), nullable("dst", int64s)}
	for name, data := range tables(t, fields, `[{"src":1,"dst":2},{"src":1,"dst":3},{"src":1,"dst":4}]`) {
		if strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst") {
			continue
		}
		for _, f := range []Format{Arrow, Parquet} {
			r, err := Open(t.Context(), vfs.OS{}, "-", bytes.NewReader(data), Options{Format: f}, nil)
			if fits := strings.Contains(name, string(f)); fits != (err == nil) {
				t.Errorf("%s as %s: %v", name, f, err)
			}
			if err == nil {
				r.Close()
			}
		}
		whole := len(updatesOf(t, name, data, true, Options{Lateness: -1}))
		for n := 8; n < len(data); n += 7 {
			r, err := Open(t.Context(), vfs.OS{}, "-", bytes.NewReader(data[:n]), Options{Lateness: -1}, nil)
			for k := 0; err == nil; k++ {
				if err = r.Next(new(Update)); k > whole {
					t.Fatalf("%s cut to %d bytes has %d updates", name, n, k)
				}
			}
			// An Arrow stream may end after any record.
			if err == io.EOF && name != "u.arrows" {
				t.Errorf("%s cut to %d bytes is whole", name, n)
			}
			if r != nil {
				r.Close()
			}
		}
	}
	if _, err := Record(t.Context(), vfs.OS{}, "-", bytes.NewReader(tables(t, fields, `[]`)["u.arrow"]), nil); !errors.Is(err, format.ErrHeader) {
		t.Errorf("a table in the log of lines: %v", err)
	}
}

// TestTablePosition: the position has the row, and the update in the row if others follow.
func TestTablePosition(t *testing.T) {
	fields := []arrow.Field{nullable("op", texts0), nullable("src", int64s), nullable("dst", int64s), nullable("n", int64s)}
	data := tables(t, fields, `[{"op":"upsert","src":1,"dst":2,"n":3},{"op":"x"},{"op":"-","src":1,"dst":2}]`)["u.parquet"]
	r, err := Open(t.Context(), vfs.OS{}, "-", bytes.NewReader(data), Options{Lateness: -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got [][2]int64
	tolerant := Tolerant{Reader: r}
	for tolerant.Next(new(Update)) == nil {
		row, update := r.Position()
		got = append(got, [2]int64{row, update})
	}
	if want := [][2]int64{{1, 1}, {1, 0}, {3, 0}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := tolerant.Mistakes[Malformed].Load(); n != 1 {
		t.Errorf("%d mistakes", n)
	}
}

// FuzzTables reads bytes of any kind as a table. Nothing panics, and each mistake names its row.
func FuzzTables(f *testing.F) {
	fields := []arrow.Field{nullable("op", texts0), nullable("src", int64s), nullable("dst", int64s), nullable("id", texts0), nullable("time", arrow.FixedWidthTypes.Timestamp_us), nullable("w", floats)}
	for _, data := range tables(f, fields, `[{"op":"upsert","src":1,"dst":2,"w":3,"time":"2024-01-31T12:00:00Z"},{"op":"+v","id":"a"},{"op":"-"}]`) {
		f.Add(data, false)
		f.Add(data[:len(data)-9], true)
	}
	f.Fuzz(func(t *testing.T, in []byte, texts bool) {
		if !bytes.HasPrefix(in, []byte("PAR1")) && !bytes.HasPrefix(in, []byte("ARROW1")) && !bytes.HasPrefix(in, []byte{255, 255, 255, 255}) {
			return
		}
		r, err := Open(context.Background(), vfs.OS{}, "-", bytes.NewReader(in), Options{TextIDs: texts, Lateness: -1}, nil)
		if err != nil {
			return
		}
		defer r.Close()
		var u Update
		for range 1000 {
			err := r.Next(&u)
			var bad *InputError
			if errors.As(err, &bad) {
				var at *format.Error
				if !errors.As(err, &at) || !strings.Contains(err.Error(), ": row ") || strings.Contains(err.Error(), "\n") {
					t.Fatalf("%#v", err)
				}
			} else if err != nil {
				return
			}
		}
	})
}
