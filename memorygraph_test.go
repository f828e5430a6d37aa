package weft

import (
	"bytes"
	stdcmp "cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

// recordsOf is a reader of records of two rows each; nil is null.
func recordsOf(t testing.TB, names []string, rows [][]any) array.RecordReader {
	t.Helper()
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
		for _, row := range rows {
			switch row[i].(type) {
			case int64:
				fields[i].Type = arrow.PrimitiveTypes.Int64
			case float64:
				fields[i].Type = arrow.PrimitiveTypes.Float64
			case bool:
				fields[i].Type = arrow.FixedWidthTypes.Boolean
			case time.Time:
				fields[i].Type = arrow.FixedWidthTypes.Timestamp_s
			}
		}
	}
	schema := arrow.NewSchema(fields, nil)
	var recs []arrow.RecordBatch
	for part := range slices.Chunk(rows, 2) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for _, row := range part {
			for i, x := range row {
				switch x := x.(type) {
				case nil:
					b.Field(i).AppendNull()
				case int64:
					b.Field(i).(*array.Int64Builder).Append(x)
				case float64:
					b.Field(i).(*array.Float64Builder).Append(x)
				case bool:
					b.Field(i).(*array.BooleanBuilder).Append(x)
				case string:
					b.Field(i).(*array.StringBuilder).Append(x)
				case time.Time:
					b.Field(i).(*array.TimestampBuilder).Append(arrow.Timestamp(x.Unix()))
				}
			}
		}
		recs = append(recs, b.NewRecordBatch())
	}
	r, err := array.NewRecordReader(schema, recs)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// everything lists all edges and vertices of a graph, with all their data.
func everything(t *testing.T, g *Graph) (edges []Edge, vertices []string) {
	t.Helper()
	q, err := Parse("MATCH REPEATABLE ELEMENTS (a)-[e]->(b)")
	if err != nil {
		t.Fatal(err)
	}
	for m, err := range g.Match(t.Context(), q, WithList(Embeddings)) {
		if err != nil {
			t.Fatal(err)
		}
		e, _ := m.Edge("e")
		if !slices.ContainsFunc(edges, func(x Edge) bool { return cmp.Equal(x, e) }) {
			edges = append(edges, e)
		}
	}
	slices.SortFunc(edges, func(a, b Edge) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	path := filepath.Join(t.TempDir(), "v.csv")
	if err := g.Write(t.Context(), "-", WriteOptions{Format: "csv", Vertices: path, AllowLoss: true, Stdout: io.Discard}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	vertices = strings.Split(string(text), "\n")
	slices.Sort(vertices)
	return edges, vertices
}

// same compares a graph with one from a file.
func same(t *testing.T, what string, want, got *Graph) {
	t.Helper()
	we, wv := everything(t, want)
	ge, gv := everything(t, got)
	if d := cmp.Diff(we, ge); d != "" {
		t.Errorf("%s: edges: want (-), got (+)\n%s", what, d)
	}
	if d := cmp.Diff(wv, gv); d != "" {
		t.Errorf("%s: vertices: want (-), got (+)\n%s", what, d)
	}
	w, g := want.Read(), got.Read()
	if w.Lines != g.Lines || w.Kept != g.Kept || w.SelfLoops != g.SelfLoops || w.Duplicates != g.Duplicates || w.Reciprocal != g.Reciprocal {
		t.Errorf("%s: read %+v, want %+v", what, g, w)
	}
	if want.Directed() != got.Directed() {
		t.Errorf("%s: directed: %v, want %v", what, got.Directed(), want.Directed())
	}
}

const memoryEdges = `src,dst,type,time:unix_s,w:float,n,ok,note
ann,bob,likes,86400,1.5,1,true,a
bob,cyd,,86401,,2,false,
ann,bob,knows,-1,2.5,,,c
bob,bob,,7,,,,
ann,bob,likes,86400,1.5,1,true,a
bob,ann,,5,,,,
`

// TestMemoryGraph: a graph from edges or records in memory, or from a stream, equals the graph from a file with the
// same rows.
func TestMemoryGraph(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	type p = map[string]any
	edges := []Edge{
		{"ann", "bob", "likes", at(86400), p{"w": 1.5, "n": 1, "ok": true, "note": "a"}},
		{"bob", "cyd", "", at(86401), p{"n": int8(2), "ok": false, "note": nil}},
		{"ann", "bob", "knows", at(-1), p{"w": float32(2.5), "note": "c"}},
		{Src: "bob", Dst: "bob", Time: at(7)},
		{"ann", "bob", "likes", at(86400), p{"w": 1.5, "n": uint64(1), "ok": true, "note": "a"}},
		{Src: "bob", Dst: "ann", Time: at(5)},
	}
	rows := [][]any{
		{"ann", "bob", "likes", at(86400), 1.5, int64(1), true, "a"},
		{"bob", "cyd", nil, at(86401), nil, int64(2), false, nil},
		{"ann", "bob", "knows", at(-1), 2.5, nil, nil, "c"},
		{"bob", "bob", nil, at(7), nil, nil, nil, nil},
		{"ann", "bob", "likes", at(86400), 1.5, int64(1), true, "a"},
		{"bob", "ann", nil, at(5), nil, nil, nil, nil},
	}
	vertices := []Vertex{
		{"ann", []string{"P"}, p{"age": 30, "name": "Ann"}},
		{ID: "bob", Labels: []string{"P", "Q"}},
		{ID: "cyd", Properties: p{"age": 41, "name": "Cyd"}},
	}
	vertexRows := [][]any{{"ann", "P", int64(30), "Ann"}, {"bob", "P;Q", nil, nil}, {"cyd", nil, int64(41), "Cyd"}}
	for _, directed := range []bool{false, true} {
		want := opened(t, memoryEdges, socialVertices, WithDirected(directed))
		side := filepath.Join(t.TempDir(), "v.csv")
		if err := os.WriteFile(side, []byte(socialVertices), 0o600); err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, _ = io.WriteString(z, memoryEdges)
		_ = z.Close()
		columns := []string{"s", "d", "kind", "at", "w", "n", "ok", "note"}
		named := WithColumns("src", "dst", "label", "time", "w", "n", "ok", "note")
		for what, make := range map[string]func(...Option) (*Graph, error){
			"edges": func(o ...Option) (*Graph, error) {
				return FromEdges(t.Context(), Edges(edges...), append(o, WithVertexRows(Vertices(vertices...)))...)
			},
			"edges 2": func(o ...Option) (*Graph, error) {
				return FromEdges(t.Context(), Edges(edges...), append(o, WithVertices(side))...)
			},
			"records": func(o ...Option) (*Graph, error) {
				return FromRecords(t.Context(), recordsOf(t, columns, rows), append(o, named, WithVertexRecords(recordsOf(t, []string{"id", "labels", "age", "name"}, vertexRows)))...)
			},
			"stream": func(o ...Option) (*Graph, error) {
				return Read(t.Context(), iotest.OneByteReader(strings.NewReader(memoryEdges)), append(o, WithVertices(side))...)
			},
			"gzip": func(o ...Option) (*Graph, error) {
				return Read(t.Context(), iotest.HalfReader(&zipped), append(o, WithVertexRows(Vertices(vertices...)))...)
			},
		} {
			got, err := make(WithDirected(directed))
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			same(t, what, want, got)
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestMemoryGraphNumbers: integer ids stay numbers over several chunks. A property with integers and fractions has
// floats.
func TestMemoryGraphNumbers(t *testing.T) {
	const n = 150_000
	g, err := FromEdges(t.Context(), func(yield func(Edge, error) bool) {
		for i := range n {
			e := Edge{Src: i, Dst: uint32(i + 1), Properties: map[string]any{"w": i}}
			if i == n-1 {
				e.Label, e.Properties["w"] = "last", 0.5
			}
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if g.NumVertices() != n+1 || g.NumEdges() != n || g.Read().Columns != "src,dst,label,w:float64" {
		t.Errorf("%d vertices, %d edges, columns %s", g.NumVertices(), g.NumEdges(), g.Read().Columns)
	}
	_, got := values(t, g, "MATCH (a)-[e]-(b) WHERE e.w = 70000 OR e.w < 1 RETURN e.w")
	slices.SortFunc(got, func(a, b []any) int { return stdcmp.Compare(a[0].(float64), b[0].(float64)) })
	if d := cmp.Diff([][]any{{0.0}, {0.0}, {0.5}, {0.5}, {70000.0}, {70000.0}}, got); d != "" {
		t.Error(d)
	}
}

// TestMemoryGraphErrors: an error in data in memory has its row and its cause.
func TestMemoryGraphErrors(t *testing.T) {
	broken := errors.New("the source broke")
	edges := func(all ...Edge) error { _, err := FromEdges(t.Context(), Edges(all...)); return err }
	vertices := func(all ...Vertex) error {
		_, err := FromEdges(t.Context(), Edges(Edge{Src: 1, Dst: 2}), WithVertexRows(Vertices(all...)))
		return err
	}
	records := func(names []string, row ...any) error {
		_, err := FromRecords(t.Context(), recordsOf(t, names, [][]any{row}))
		return err
	}
	one := Edge{Src: 1, Dst: 2}
	type p = map[string]any
	for _, c := range []struct {
		err  error
		path string
		line int64
		want string
	}{
		{edges(one, Edge{Src: 1, Dst: -2}), "edges", 2, "target: negative vertex id: -2"},
		{edges(one, Edge{Src: "a", Dst: 2}), "edges", 2, `source: vertex ids do not fit together: the text "a", and others are numbers`},
		{edges(Edge{Src: "a", Dst: 2}), "edges", 1, "target: vertex ids do not fit together: the number 2, and others are text"},
		{edges(Edge{Src: "a", Dst: ""}), "edges", 1, "target: an empty (null) value"},
		{edges(Edge{Dst: 1}), "edges", 1, "source: an empty (null) value"},
		{edges(Edge{Src: 1.5, Dst: 1}), "edges", 1, "source: wrong columns: a float64 is not an id: ids are integers or strings"},
		{edges(Edge{Src: uint64(1 << 63), Dst: 1}), "edges", 1, "source: number too large: 9223372036854775808"},
		{edges(Edge{Src: "\xff", Dst: "b"}), "edges", 1, `source: not UTF-8: "\xff"`},
		{edges(one, Edge{Src: 1, Dst: 2, Time: 5}), "edges", 2, "wrong columns: edges with a time and edges without one"},
		{edges(Edge{Src: 1, Dst: 2, Time: 5}, Edge{Src: 1, Dst: 2, Time: time.Now()}), "edges", 2, "wrong columns: times that are integers and times that are time.Time"},
		{edges(Edge{Src: 1, Dst: 2, Time: time.Time{}}), "edges", 1, "time: a time outside the years 1678 to 2261"},
		{edges(Edge{Src: 1, Dst: 2, Time: "x"}), "edges", 1, "wrong columns: a string is not a time: times are integers or time.Time"},
		{edges(Edge{Src: 1, Dst: 2, Time: 1, Properties: map[string]any{"time": 70}}), "edges", 1, "wrong columns: the edge has a time and a property called time, and e.time could mean either"},
		{edges(Edge{Src: 1, Dst: 2, Properties: p{"x": 1}}, Edge{Src: 1, Dst: 2, Properties: p{"x": "y"}}), "edges", 2, "wrong columns: the property x is a string, and a int in others"},
		{edges(Edge{Src: 1, Dst: 2, Properties: p{"x": int64(1<<53 + 1)}}, Edge{Src: 1, Dst: 2, Properties: p{"x": 0.5}}), "edges", 2, "wrong columns: the property x has whole numbers that no float holds"},
		{edges(Edge{Src: 1, Dst: 2, Properties: p{"x": []int{1}}}), "edges", 1, "property x: wrong columns: a []int: values are integers, floats, bools, strings and time.Time"},
		{vertices(Vertex{ID: 1}, Vertex{}), "vertices", 2, "an empty (null) value"},
		{vertices(Vertex{ID: "a"}), "vertices", 0, "vertex ids do not fit together: its vertex ids are text and the edges' are numbers, or the other way round"},
		{records([]string{"src", "x"}, int64(1), int64(2)), "records", 0, "wrong columns: no column dst (or target, to); the columns are src, x (name them in order with --columns)"},
		{records([]string{"src", "dst"}, nil, "b"), "records", 0, "row 1, column src: an empty (null) value"},
	} {
		var input *InputError
		if !errors.Is(c.err, ErrInput) || !errors.As(c.err, &input) {
			t.Errorf("%T %v, want an InputError with %s", c.err, c.err, c.want)
			continue
		}
		if input.Path != c.path || input.Line != c.line || input.Message != c.want {
			t.Errorf("%s, line %d: %q; want %s, line %d: %q", input.Path, input.Line, input.Message, c.path, c.line, c.want)
		}
	}
	_, err := FromEdges(t.Context(), func(yield func(Edge, error) bool) { _ = yield(one, nil) && yield(Edge{}, broken) })
	if !errors.Is(err, broken) || !errors.Is(err, ErrInput) || err.Error() != "edges: after edge 1: the source broke" {
		t.Errorf("a source that breaks: %v", err)
	}
	_, err = Read(t.Context(), io.MultiReader(strings.NewReader("1 2\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("a stream that breaks: %v", err)
	}
	_, err = Read(t.Context(), strings.NewReader("1 2\n3 -4\n"))
	var input *InputError
	if !errors.As(err, &input) || input.Path != "input" || input.Line != 2 || input.Column != 3 {
		t.Errorf("a stream with a mistake: %v", err)
	}
}

// TestReadFormats: a stream needs no seeking in any format.
func TestReadFormats(t *testing.T) {
	want := opened(t, memoryEdges, "", WithDirected(true))
	for _, name := range []string{"tsv", "arrow", "parquet", "weft"} {
		var b bytes.Buffer
		if err := want.Write(t.Context(), "-", WriteOptions{Format: name, Stdout: &b}); err != nil {
			t.Fatal(err)
		}
		got, err := Read(t.Context(), iotest.HalfReader(&b))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		we, _ := everything(t, want)
		ge, _ := everything(t, got)
		if d := cmp.Diff(we, ge); d != "" {
			t.Errorf("%s: want (-), got (+)\n%s", name, d)
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestReadNamedStream: a file that is read as a stream has its name in messages. Its extension means the same as in
// Open.
func TestReadNamedStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.el")
	if err := os.WriteFile(path, []byte("1 2\n2 3\n2 -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = Read(t.Context(), f)
	_, want := Open(t.Context(), path)
	if err == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
}

// TestReadEnds: a context ends a call that waits for its input.
func TestReadEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	defer out.Close()
	go func() {
		_, _ = io.WriteString(out, "1 2\n")
		cancel()
	}()
	if _, err := Read(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	n := 0
	_, err := FromEdges(ctx, func(yield func(Edge, error) bool) {
		for i := 0; yield(Edge{Src: i, Dst: i + 1}, nil); i++ {
			if n++; n == 5000 {
				cancel()
			}
		}
	})
	if !errors.Is(err, context.Canceled) || n > 10_000 {
		t.Errorf("FromEdges: %v after %d edges", err, n)
	}
}
