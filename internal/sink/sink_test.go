package sink

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/parquet"
)

func pathGraph() *graph.Graph {
	return graph.FromEdges(4, [][2]uint32{{0, 1}, {1, 2}, {2, 3}}, false)
}

func write(t *testing.T, format string, cols []Column, b *engine.Batch) string {
	t.Helper()
	var buf bytes.Buffer
	w, err := New(&buf, Options{Format: format, Columns: cols})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Emit(0, b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestTextFormats(t *testing.T) {
	g := pathGraph()
	one, _ := g.LookupInt(1)
	two, _ := g.LookupInt(2)
	awkward := `a"b,` + "\n" + "\xff"
	cols := []Column{Vertex(g, "a", 0), Edge(g, "e", 0), Value("s", String, func([]uint32, []uint64) any { return awkward }),
		Value("none", Int, func([]uint32, []uint64) any { return nil })}
	id := g.Out.Off[one]
	for i, v := range g.Out.List(one) {
		if v == two {
			id += uint64(i)
		}
	}
	b := &engine.Batch{Rows: 2, Width: 1, Vertices: []uint32{one, two}, EdgeWidth: 1, Edges: []uint64{id, id}}
	for format, want := range map[string]string{
		"csv": "a,e,s,none\n" +
			"1,\"{\"\"src\"\":1,\"\"dst\"\":2}\",\"a\"\"b,\n\xff\",\n" +
			"2,\"{\"\"src\"\":1,\"\"dst\"\":2}\",\"a\"\"b,\n\xff\",\n",
		"ndjson": `{"a":1,"e":{"src":1,"dst":2},"s":"a\"b,\n�","none":null}` + "\n" +
			`{"a":2,"e":{"src":1,"dst":2},"s":"a\"b,\n�","none":null}` + "\n",
		"table": "a  e                  s       none\n" +
			"1  {\"src\":1,\"dst\":2}  a\"b, \ufffd     -\n" +
			"2  {\"src\":1,\"dst\":2}  a\"b, \ufffd     -\n",
	} {
		if got := write(t, format, cols, b); got != want {
			t.Errorf("%s:\n%q, want\n%q", format, got, want)
		}
	}
	var rows []map[string]any
	if err := json.Unmarshal([]byte(write(t, "json", cols, b)), &rows); err != nil || len(rows) != 2 {
		t.Errorf("json: %v, %v", rows, err)
	}
	if got := write(t, "json", cols, &engine.Batch{}); strings.Join(strings.Fields(got), "") != "[]" {
		t.Errorf("no rows in json: %q", got)
	}
}

// TestCounts: JSON has whole numbers up to 2^53 and strings beyond; the other formats
// have digits.
func TestCounts(t *testing.T) {
	last := new(big.Int).Lsh(big.NewInt(1), 53)
	values := []any{big.NewInt(0), last, new(big.Int).Add(last, big.NewInt(1)), nil, "1 2"}
	cols := []Column{Value("n", Count, func(m []uint32, _ []uint64) any { return values[m[0]] })}
	for format, want := range map[string]string{
		"csv":    "n\n0\n9007199254740992\n9007199254740993\n\"\"\n1 2\n",
		"ndjson": `{"n":0}` + "\n" + `{"n":9007199254740992}` + "\n" + `{"n":"9007199254740993"}` + "\n" + `{"n":null}` + "\n" + `{"n":"1 2"}` + "\n",
		"table":  "               n\n               0\n9007199254740992\n9007199254740993\n               -\n             1 2\n",
	} {
		if got := write(t, format, cols, Rows(0, len(values))); got != want {
			t.Errorf("%s:\n%q, want\n%q", format, got, want)
		}
	}
	r, err := ipc.NewReader(strings.NewReader(write(t, "arrow", cols, Rows(0, len(values)))))
	if err != nil || !r.Next() {
		t.Fatal(err)
	}
	if got := r.RecordBatch().Column(0).String(); got != `["0" "9007199254740992" "9007199254740993" (null) "1 2"]` {
		t.Errorf("arrow: %s", got)
	}
}

func TestColumnarFormats(t *testing.T) {
	g := pathGraph()
	cols := []Column{Vertex(g, "a", 0), Edge(g, "e", 0), Value("x", Float, func(m []uint32, _ []uint64) any { return float64(m[0]) })}
	b := &engine.Batch{Rows: 3, Width: 1, Vertices: []uint32{0, 1, 2}, EdgeWidth: 1, Edges: []uint64{0, 1, 2}}
	r, err := ipc.NewReader(strings.NewReader(write(t, "arrow", cols, b)))
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for r.Next() {
		rows += r.RecordBatch().NumRows()
	}
	if rows != 3 || r.Err() != nil {
		t.Errorf("arrow: %d rows, %v", rows, r.Err())
	}
	data := write(t, "parquet", cols, b)
	pq, err := parquet.Open(strings.NewReader(data), int64(len(data)))
	if err != nil || pq.NumRows() != 3 {
		t.Errorf("parquet: %v", err)
	}
}

// TestParquetGroups: rows wait in memory for no more than a group.
func TestParquetGroups(t *testing.T) {
	const rows = 2*groupRows + 1
	b := &engine.Batch{Rows: rows, Width: 1, Vertices: make([]uint32, rows)}
	data := write(t, "parquet", []Column{Vertex(pathGraph(), "a", 0)}, b)
	pq, err := parquet.Open(strings.NewReader(data), int64(len(data)))
	if err != nil || pq.NumRows() != rows || pq.Groups() != 3 {
		t.Errorf("%v, %d rows in %d groups", err, pq.NumRows(), pq.Groups())
	}
}

// TestWorkers checks that many workers lose and mix nothing.
func TestWorkers(t *testing.T) {
	g := pathGraph()
	for _, format := range Formats {
		var buf bytes.Buffer
		const workers, batches, rows = 4, 50, 300
		w, err := New(&buf, Options{Format: format, Columns: []Column{Vertex(g, "a", 0), Vertex(g, "b", 1)}, Workers: workers, Interval: 1})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for n := range workers {
			wg.Go(func() {
				b := &engine.Batch{Rows: rows, Width: 2, Vertices: make([]uint32, 2*rows)}
				for range batches {
					if err := w.Emit(n, b); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if format == "ndjson" || format == "csv" || format == "table" {
			lines := strings.Split(strings.TrimSuffix(buf.String(), "\n"), "\n")
			if n := workers * batches * rows; len(lines) != n && len(lines) != n+1 {
				t.Errorf("%s: %d lines, want %d", format, len(lines), n)
			}
			for _, l := range lines[1:] {
				if l != lines[1] {
					t.Fatalf("%s: a torn line %q", format, l)
				}
			}
		}
	}
}

// TestTableRows: once the widths are known, rows cost no memory, and rows that
// another worker had in hand are written in the same widths.
func TestTableRows(t *testing.T) {
	g := pathGraph()
	wide := strings.Repeat("é", 5)
	cols := []Column{Vertex(g, "vertex", 0), Value("text", String, func(m []uint32, _ []uint64) any {
		return wide[:2*m[0]]
	}), Value("x", Float, func(m []uint32, _ []uint64) any { return nil })}
	var out bytes.Buffer
	w, err := New(&out, Options{Format: "table", Columns: cols, Workers: 2, Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	b := &engine.Batch{Rows: tableHead, Width: 1, Vertices: make([]uint32, tableHead)}
	for i := range b.Vertices {
		b.Vertices[i] = uint32(i % 4)
	}
	few := &engine.Batch{Rows: 2, Width: 1, Vertices: []uint32{3, 0}}
	_, _ = w.Emit(1, few), w.Emit(0, b)
	if err := w.Emit(1, few); err != nil {
		t.Fatal(err)
	}
	numbers := &engine.Batch{Rows: b.Rows, Width: 1, Vertices: make([]uint32, tableHead)}
	if n := testing.AllocsPerRun(100, func() { _ = w.Emit(0, numbers) }); n > tableHead/10 {
		t.Errorf("%v allocations for %d rows", n, tableHead)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if want := 1 + tableHead + 4 + 101*tableHead; len(lines) != want {
		t.Errorf("%d lines, want %d", len(lines), want)
	}
	known := map[string]bool{"vertex  text  x": true}
	for v := range 4 {
		text := wide[:2*v]
		known[fmt.Sprintf("%6s  %-4s  -", g.IDs.String(uint32(v)), text)] = true
	}
	for _, l := range lines {
		if !known[l] {
			t.Fatalf("a line %q", l)
		}
	}
}

type broken struct{ after int }

func (b *broken) Write(p []byte) (int, error) {
	if b.after -= len(p); b.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestErrors(t *testing.T) {
	g := pathGraph()
	for _, format := range Formats {
		w, err := New(&broken{after: 20}, Options{Format: format, Columns: []Column{Vertex(g, "a", 0)}})
		if err == nil {
			b := &engine.Batch{Rows: 1000, Width: 1, Vertices: make([]uint32, 1000)}
			for range 100 {
				if err = w.Emit(0, b); err != nil {
					break
				}
			}
			if cerr := w.Close(); err == nil {
				err = cerr
			}
		}
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", format, err)
		}
	}
	if _, err := New(io.Discard, Options{Format: "xml"}); !errors.Is(err, ErrFormat) {
		t.Errorf("xml: %v", err)
	}
}

// once is a writer whose write number at fails, from 0, and no other.
type once struct{ at, n int }

func (o *once) Write(p []byte) (int, error) {
	if o.n++; o.n == o.at+1 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// TestEveryWrite: the error of each single write is reported, though those after it
// succeed.
func TestEveryWrite(t *testing.T) {
	cols := []Column{Vertex(pathGraph(), "a", 0)}
	all := func(w io.Writer, format string) error {
		s, err := New(w, Options{Format: format, Columns: cols, Interval: time.Hour})
		if err != nil {
			return err
		}
		err = s.Emit(0, Rows(0, 3))
		return errors.Join(err, s.Close())
	}
	for _, format := range Formats {
		whole := &once{at: -1}
		if err := all(whole, format); err != nil || whole.n == 0 {
			t.Fatal(format, err, whole.n)
		}
		for at := range whole.n {
			if err := all(&once{at: at}, format); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s: write %d of %d failed, and the error is %v", format, at, whole.n, err)
			}
		}
	}
}

// TestWideNumbers: a number that is wider than its column, in a row that comes after the
// widths are known, takes the room that it needs and no other's.
func TestWideNumbers(t *testing.T) {
	cols := []Column{
		Value("a", String, func([]uint32, []uint64) any { return "xyz" }),
		Value("n", Int, func(m []uint32, _ []uint64) any {
			if m[0] == tableHead {
				return int64(1234567)
			}
			return int64(m[0] % 2 * 10)
		}),
	}
	var out bytes.Buffer
	w, err := New(&out, Options{Format: "table", Columns: cols, Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Emit(0, Rows(0, tableHead)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Emit(0, Rows(tableHead, 1)), w.Close()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	want := []string{"a     n", "xyz   0", "xyz  10"}
	if got := lines[:3]; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := lines[len(lines)-2], "xyz  1234567"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestParts: what is written in several parts is one text, with one beginning.
func TestParts(t *testing.T) {
	cols := []Column{Vertex(pathGraph(), "a", 0)}
	for format, want := range map[string]string{
		"csv":    "a\n0\n1\n2\n",
		"ndjson": "{\"a\":0}\n{\"a\":1}\n{\"a\":2}\n",
		"json":   "[\n{\"a\":0},\n{\"a\":1},\n{\"a\":2}\n]\n",
		"table":  "a\n0\n1\n2\n",
	} {
		var out bytes.Buffer
		w, err := New(&out, Options{Format: format, Columns: cols, Interval: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []int64{0, 1, 2} {
			v, _ := pathGraph().LookupInt(id)
			if err := w.Emit(0, Rows(int(v), 1)); err != nil {
				t.Fatal(err)
			}
			w.flushAll()
		}
		if err := w.Close(); err != nil || out.String() != want {
			t.Errorf("%s: %q, want %q, %v", format, &out, want, err)
		}
	}
}

// TestRecords: the rows of an Arrow stream are written in records of recordRows, and
// no sooner.
func TestRecords(t *testing.T) {
	cols := []Column{Vertex(pathGraph(), "a", 0)}
	var out bytes.Buffer
	w, err := New(&out, Options{Format: "arrow", Columns: cols, Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	head := out.Len()
	for _, n := range []int{1, recordRows - 2} {
		if err := w.Emit(0, &engine.Batch{Rows: n, Width: 1, Vertices: make([]uint32, n)}); err != nil || out.Len() != head {
			t.Errorf("%d bytes of rows are written before a record is full, %v", out.Len()-head, err)
		}
	}
	if err := w.Emit(0, Rows(0, 1)); err != nil || out.Len() < head+4*recordRows {
		t.Errorf("%d bytes are written of a full record, %v", out.Len()-head, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	var rows []int64
	for r.Next() {
		rows = append(rows, r.RecordBatch().NumRows())
	}
	if !slices.Equal(rows, []int64{recordRows}) {
		t.Errorf("records of %d rows", rows)
	}
}

func BenchmarkText(b *testing.B) {
	const n = 1 << 20
	g := graph.FromEdges(n, [][2]uint32{{0, 1}}, false)
	batch := &engine.Batch{Rows: 1024, Width: 3, Vertices: make([]uint32, 3*1024)}
	for i := range batch.Vertices {
		batch.Vertices[i] = uint32(i) * 2654435761 % n
	}
	for _, format := range []string{"table", "csv", "ndjson", "arrow", "parquet"} {
		b.Run(format, func(b *testing.B) {
			w, err := New(io.Discard, Options{Format: format, Columns: []Column{Vertex(g, "a", 0), Vertex(g, "b", 1), Vertex(g, "c", 2)}})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				_ = w.Emit(0, batch)
			}
			b.ReportMetric(float64(b.N)*1024/b.Elapsed().Seconds()/1e6, "Mrows/s")
			_ = w.Close()
		})
	}
}

func TestAppendInt(t *testing.T) {
	for _, room := range []int{0, 3, 64} {
		for p := int64(1); p < 1e17; p *= 10 {
			for _, x := range []int64{p - 1, p, p + 1, -p, 7 * p} {
				got := string(appendInt(append(make([]byte, 0, room), "ab"...), x))
				if want := "ab" + strconv.FormatInt(x, 10); got != want {
					t.Fatalf("%q, want %q", got, want)
				}
			}
		}
	}
}

// TestTableText: what a terminal may not print is replaced, in a cell without control
// characters too.
func TestTableText(t *testing.T) {
	for value, want := range map[string]string{"é": "é", "é\xff": "é\ufffd", "\xff": "\ufffd", "a\tb": "a b", "plain": "plain"} {
		col := Value("v", String, func([]uint32, []uint64) any { return value })
		if got := write(t, "table", []Column{col}, Rows(0, 1)); strings.Join(strings.Fields(got), " ") != "v "+want {
			t.Errorf("%q is written as %q", value, got)
		}
	}
}

// TestOneColumn: a missing value in the only column is a row that readers do not skip.
func TestOneColumn(t *testing.T) {
	values := []any{nil, "", "x", " x", "#x", nil}
	col := Value("v", String, func(m []uint32, _ []uint64) any { return values[m[0]] })
	if got, want := write(t, "csv", []Column{col}, Rows(0, len(values))), "v\n\"\"\n\"\"\nx\n\" x\"\n\"#x\"\n\"\"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := write(t, "csv", []Column{col, Value("n", Int, func([]uint32, []uint64) any { return nil })}, Rows(0, 2)), "v,n\n,\n\"\",\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTableOfNothing: a table tells a missing value from text.
func TestTableOfNothing(t *testing.T) {
	values := []any{nil, "", "-", "x"}
	col := Value("v", String, func(m []uint32, _ []uint64) any { return values[m[0]] })
	if got, want := write(t, "table", []Column{col}, Rows(0, len(values))), "v\n-\n\n-\nx\n"; got != want {
		t.Errorf("not of the graph: %q, want %q", got, want)
	}
	col.data = true
	if got, want := write(t, "table", []Column{col}, Rows(0, len(values))), "v\n-\n\"\"\n\"-\"\nx\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDistinctNames: columns of one name, and an edge's properties that are called like
// its ends, get names of their own.
func TestDistinctNames(t *testing.T) {
	one := func(name string) Column { return Value(name, Int, func([]uint32, []uint64) any { return int64(1) }) }
	cols := []Column{one("a"), one("a_2"), one("a"), one("a"), one("b")}
	if got, want := write(t, "ndjson", cols, Rows(0, 1)), `{"a":1,"a_2":1,"a_3":1,"a_4":1,"b":1}`+"\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	g := pathGraph()
	fields := arrow.NewSchema([]arrow.Field{{Name: "src", Type: arrow.PrimitiveTypes.Int64}, {Name: "src_2", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, fields)
	for i := range g.NumEdges() {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Int64Builder).Append(int64(i))
	}
	g.Edges = &graph.EdgeTable{Src: []uint32{0, 1, 2}, Dst: []uint32{1, 2, 3}, Props: b.NewRecordBatch()}
	batch := &engine.Batch{Rows: 1, EdgeWidth: 1, Edges: []uint64{0}}
	got := write(t, "ndjson", []Column{Edge(g, "e", 0)}, batch)
	if !strings.Contains(got, `"src_3":0,"src_2":0`) {
		t.Errorf("%s has no src_3", got)
	}
}

// TestEdgeFields: an edge has src and dst, and the columns that the graph has of edges.
func TestEdgeFields(t *testing.T) {
	table := func(change func(*graph.EdgeTable)) *graph.Graph {
		g := pathGraph()
		g.EdgeLabels = []string{"X"}
		g.Edges = &graph.EdgeTable{Src: []uint32{0, 1, 2}, Dst: []uint32{1, 2, 3}}
		change(g.Edges)
		return g
	}
	for _, c := range []struct {
		g    *graph.Graph
		want string
	}{
		{pathGraph(), "src dst"},
		{table(func(*graph.EdgeTable) {}), "src dst"},
		{table(func(e *graph.EdgeTable) { e.Label = []uint32{0, graph.NoLabel, 0} }), "src dst label"},
		{table(func(e *graph.EdgeTable) { e.Time = []int64{5, 6, 7} }), "src dst time"},
	} {
		var names []string
		e := Edge(c.g, "e", 0)
		for _, f := range e.Fields() {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("fields %q, want %q", got, c.want)
		}
	}
}
