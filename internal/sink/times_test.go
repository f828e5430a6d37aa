package sink

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
)

// timedGraph has one edge, with a time in milliseconds, a date, and a duration in
// seconds; its properties are missing in a second edge.
func timedGraph(t *testing.T) *graph.Graph {
	t.Helper()
	pool := memory.NewGoAllocator()
	day, gap := array.NewDate32Builder(pool), array.NewDurationBuilder(pool, &arrow.DurationType{Unit: arrow.Second})
	day.Append(19792)
	gap.Append(5400)
	day.AppendNull()
	gap.AppendNull()
	cols := []arrow.Array{day.NewArray(), gap.NewArray()}
	schema := arrow.NewSchema([]arrow.Field{{Name: "day", Type: cols[0].DataType(), Nullable: true}, {Name: "gap", Type: cols[1].DataType(), Nullable: true}}, nil)
	b := graph.NewBuilder(graph.BuildOptions{Directed: true})
	if err := b.AddEdges(&graph.EdgeChunk{
		Src: []uint64{0, 1}, Dst: []uint64{1, 2}, Time: []int64{1710072000500, -1}, Props: array.NewRecordBatch(schema, cols, 2),
	}); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.Read.TimeUnit, g.Read.TimeEpoch = 1e6, true
	return g
}

func TestTimes(t *testing.T) {
	g := timedGraph(t)
	p := &pattern.Pattern{Vertices: []pattern.Vertex{{Name: "a"}, {Name: "b"}}, Edges: []pattern.Edge{{Name: "e", To: 1, Min: 1, Max: 1}}}
	prop := func(key string) pattern.Expr {
		return pattern.Prop{Of: pattern.Ref{Kind: pattern.EdgeRef}, Key: key}
	}
	epoch := pattern.Lit{Value: pattern.Timestamp{Nanos: 1710072000e9}}
	var cols []Column
	for _, c := range []struct {
		name string
		x    pattern.Expr
	}{
		{"ts", prop("ts")}, {"day", prop("day")}, {"gap", prop("gap")},
		{"since", pattern.Binary{Op: pattern.OpSub, X: prop("ts"), Y: epoch}},
		{"plain", pattern.Binary{Op: pattern.OpMod, X: prop("ts"), Y: pattern.Lit{Value: int64(1000)}}},
		{"e", pattern.RefExpr{Of: pattern.Ref{Kind: pattern.EdgeRef}}},
	} {
		col, err := Expr(g, p, c.name, c.x, func(int) int { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		cols = append(cols, col)
	}
	b := &engine.Batch{Rows: 2, Width: 2, Vertices: []uint32{0, 1, 1, 2}, EdgeWidth: 1, Edges: []uint64{0, 1}}
	for row := range 2 { // rows are in the order of the graph's ids
		if u, _ := Ends(g, uint64(row)); g.IDs.Int(u) == 1 {
			b.Edges = []uint64{1, 0}
		}
	}
	for format, want := range map[string]string{
		"csv": "ts,day,gap,since,plain,e\n" +
			`2024-03-10T12:00:00.5Z,2024-03-10T00:00:00Z,PT1H30M,PT0.5S,500,"{""src"":0,""dst"":1,""time"":""2024-03-10T12:00:00.5Z"",""day"":""2024-03-10T00:00:00Z"",""gap"":""PT1H30M""}"` + "\n" +
			`1969-12-31T23:59:59.999Z,,,-P19792DT12H0.001S,-1,"{""src"":1,""dst"":2,""time"":""1969-12-31T23:59:59.999Z"",""day"":null,""gap"":null}"` + "\n",
		"ndjson": `{"ts":"2024-03-10T12:00:00.5Z","day":"2024-03-10T00:00:00Z","gap":"PT1H30M","since":"PT0.5S","plain":500,"e":{"src":0,"dst":1,"time":"2024-03-10T12:00:00.5Z","day":"2024-03-10T00:00:00Z","gap":"PT1H30M"}}` + "\n" +
			`{"ts":"1969-12-31T23:59:59.999Z","day":null,"gap":null,"since":"-P19792DT12H0.001S","plain":-1,"e":{"src":1,"dst":2,"time":"1969-12-31T23:59:59.999Z","day":null,"gap":null}}` + "\n",
	} {
		if got := write(t, format, cols, b); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
	if got := write(t, "table", cols[:2], b); !strings.Contains(got, "2024-03-10T12:00:00.5Z    2024-03-10T00:00:00Z\n") {
		t.Errorf("table:\n%s", got)
	}
	in, err := ipc.NewReader(strings.NewReader(write(t, "arrow", cols, b)))
	if err != nil || !in.Next() {
		t.Fatal(err)
	}
	rec := in.RecordBatch()
	types, first := "", ""
	for i, c := range rec.Columns()[:4] {
		types += rec.Schema().Field(i).Type.String() + " "
		first += c.ValueStr(0) + " "
	}
	if want := "timestamp[ms, tz=UTC] timestamp[s, tz=UTC] duration[s] duration[ms] "; types != want {
		t.Errorf("types of Arrow: %s, want %s", types, want)
	}
	if want := "2024-03-10T12:00:00.5Z 2024-03-10T00:00:00Z 5400s 500ms "; first != want {
		t.Errorf("first row of Arrow: %s, want %s", first, want)
	}
	f, err := file.NewParquetReader(bytes.NewReader([]byte(write(t, "parquet", cols, b))))
	if err != nil {
		t.Fatal(err)
	}
	types = ""
	for i := range 4 {
		types += f.MetaData().Schema.Column(i).LogicalType().String() + "\n"
	}
	want := "Timestamp(isAdjustedToUTC=true, timeUnit=milliseconds, is_from_converted_type=false, force_set_converted_type=false)\n"
	if want += want + "String\nString\n"; types != want {
		t.Errorf("types of Parquet:\n%swant\n%s", types, want)
	}
	chunk, err := f.RowGroup(0).Column(0)
	if err != nil {
		t.Fatal(err)
	}
	times := make([]int64, 2)
	if _, n, err := chunk.(*file.Int64ColumnChunkReader).ReadBatch(2, times, make([]int16, 2), nil); n != 2 || err != nil || times[0] != 1710072000500 || times[1] != -1 {
		t.Errorf("times of Parquet: %v, %v", times, err)
	}
}

// TestTimesWithoutEpoch: times whose unit is known, and not their beginning, are numbers.
func TestTimesWithoutEpoch(t *testing.T) {
	g := timedGraph(t)
	g.Read.TimeEpoch = false
	p := &pattern.Pattern{Vertices: []pattern.Vertex{{Name: "a"}, {Name: "b"}}, Edges: []pattern.Edge{{Name: "e", To: 1, Min: 1, Max: 1}}}
	col, err := Expr(g, p, "e", pattern.RefExpr{Of: pattern.Ref{Kind: pattern.EdgeRef}}, func(int) int { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	for row := range uint64(2) {
		want := `"time":1710072000500,`
		if u, _ := Ends(g, row); g.IDs.Int(u) == 1 {
			want = `"time":-1,`
		}
		if got := write(t, "ndjson", []Column{col}, &engine.Batch{Rows: 1, EdgeWidth: 1, Edges: []uint64{row}}); !strings.Contains(got, want) {
			t.Errorf("%s has no %s", got, want)
		}
	}
}
