package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// timedGraph has two edges with properties of each kind that an order may be on.
func timedGraph(t *testing.T, read graph.ReadStats) *graph.Graph {
	t.Helper()
	mem := memory.NewGoAllocator()
	var fields []arrow.Field
	var columns []arrow.Array
	for name, kind := range map[string]arrow.DataType{
		"s": arrow.FixedWidthTypes.Timestamp_s, "ms": arrow.FixedWidthTypes.Timestamp_ms, "ns": arrow.FixedWidthTypes.Timestamp_ns,
		"us": arrow.FixedWidthTypes.Duration_us, "day": arrow.FixedWidthTypes.Date32, "ms64": arrow.FixedWidthTypes.Date64,
		"i": arrow.PrimitiveTypes.Int64, "f": arrow.PrimitiveTypes.Float64, "text": arrow.BinaryTypes.String,
	} {
		b := array.NewBuilder(mem, kind)
		for _, v := range []string{"1", "2"} {
			if slices.Contains([]arrow.Type{arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64}, kind.ID()) {
				v = "1970-01-0" + v
			}
			if err := b.AppendValueFromString(v); err != nil {
				b.AppendEmptyValue()
			}
		}
		fields, columns = append(fields, arrow.Field{Name: name, Type: kind, Nullable: true}), append(columns, b.NewArray())
	}
	b := graph.NewBuilder(graph.BuildOptions{Directed: true, Read: read})
	err := b.AddEdges(&graph.EdgeChunk{
		Src: []uint64{1, 2}, Dst: []uint64{2, 3}, Time: []int64{10, 20},
		Props: array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, 2),
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestWithinUnits: a duration is held against the unit of the property.
func TestWithinUnits(t *testing.T) {
	files := timedGraph(t, graph.ReadStats{})
	for _, c := range []struct {
		g      *graph.Graph
		on     string
		within int64
		unit   bool
		want   string // the bound, or the error
		warns  bool
	}{
		{files, "", 90e9, true, "time - x.time <= 90", true},
		{files, "ts", 1500e6, true, "ts - x.ts <= 1", true},
		{files, "", 90, false, "time - x.time <= 90", false},
		{timedGraph(t, graph.ReadStats{TimeUnit: 1e3}), "", 1500e6, true, "<= 1500000", false},
		{timedGraph(t, graph.ReadStats{TimeDigits: 6}), "", 1500e6, true, "<= 1500000", true},
		{timedGraph(t, graph.ReadStats{TimeDigits: 18}), "", 3600e9, true, "x.time < y.time\n", true},
		{files, "s", 90e9, true, "<= 90", false},
		{files, "ms", 90e9, true, "<= 90000", false},
		{files, "us", 90e9, true, "<= 90000000", false},
		{files, "ns", 90e9, true, "<= 90000000000", false},
		{files, "day", 60 * 3600e9, true, "<= 2", false},
		{files, "ms64", 90e9, true, "<= 90000", false},
		{files, "f", 7, false, "<= 7", false},
		{files, "i", 90e9, true, "plain number", false},
		{files, "f", 90e9, true, "plain number", false},
		{files, "text", 7, false, "a time or a number", false},
	} {
		p := named(t, "path(3)")
		p.Edges[0].Name, p.Edges[1].Name = "x", "y"
		p.Order = &pattern.Order{Edges: []int{0, 1}, On: c.on, Within: c.within, Duration: c.unit}
		pl, err := planner.Compile(c.g, p, plan.Options{Root: plan.NoRoot, Method: "nest", Order: "given", Given: []int{0, 1, 2}})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			for _, check := range pl.Edges[1].Checks {
				got += check.Text + "\n"
			}
		}
		if !strings.Contains(got, c.want) || err == nil && (len(pl.Warnings) > 0) != c.warns {
			t.Errorf("on %q within %d (with a unit: %v): %q, want %q (warnings: %v)", c.on, c.within, c.unit, got, c.want, pl.Warnings)
		}
	}
}

// TestOrderAsked: edge extension is taken for a query with an order in time, unless the caller
// asks for a rule of orders or another method.
func TestOrderAsked(t *testing.T) {
	g := timedGraph(t, graph.ReadStats{})
	for _, c := range []struct {
		order, method string
		want          bool
	}{{"", "", true}, {"auto", "", true}, {"cost", "direct", true}, {"ri", "", false}, {"", "nest", false}, {"ri", "temporal", true}} {
		p := named(t, "path(3)")
		p.Edges[0].Name, p.Edges[1].Name = "x", "y"
		p.Order = &pattern.Order{Edges: []int{0, 1}}
		pl := compile(t, g, p, plan.Options{Root: plan.NoRoot, Method: c.method, Order: c.order})
		if got := pl.Method == plan.Temporal; got != c.want {
			t.Errorf("order %q, method %q: edge extension %t, want %t", c.order, c.method, got, c.want)
		}
	}
}

// TestUntimedFirst: edge extension reaches each vertex, the pattern's first among them, that
// only an edge without a time leads to.
func TestUntimedFirst(t *testing.T) {
	p := named(t, "path(4)")
	p.Edges[1].Name, p.Edges[2].Name = "x", "y"
	p.Order = &pattern.Order{Edges: []int{1, 2}}
	pl, err := planner.Compile(timedGraph(t, graph.ReadStats{}), p, plan.Options{Root: plan.NoRoot, Method: "temporal"})
	if err != nil || pl.Method != plan.Temporal {
		t.Fatalf("no edge extension: %v", err)
	}
}
