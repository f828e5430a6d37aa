package dynamic

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/graph"
)

// TestRefused checks that an update that is an error changes nothing, not even the version.
func TestRefused(t *testing.T) {
	numbers, texts := New(true, false), New(false, true)
	full := New(false, false)
	full.ids.end = maxID
	long := New(false, false)
	long.shards[0].lists.chunks = make([][]uint32, maxChunks/8*7+1)
	long.touch(0)
	long.compact()
	tests := []struct {
		name string
		g    *Graph
		do   func(g *Graph) (Result, error)
		is   error
		text string
	}{
		{"text id", numbers, func(g *Graph) (Result, error) { return g.AddVertex(Text("a"), 0) }, ErrID, `bad vertex id "a": the graph's ids are numbers`},
		{"number", texts, func(g *Graph) (Result, error) { return g.RemoveVertex(Num(1)) }, ErrID, "bad vertex id 1: the graph's ids are texts"},
		{"large number", numbers, func(g *Graph) (Result, error) { return g.AddEdge(Num(0), Num(math.MaxInt64+1), NoLabel) }, ErrID, "below 2^63"},
		{"edge label", numbers, func(g *Graph) (Result, error) { return g.AddEdge(Num(0), Num(1), 1) }, nil, "the graph has 0 edge labels, and none has number 1"},
		{"any label", numbers, func(g *Graph) (Result, error) { return g.RemoveEdge(Num(0), Num(1), AnyLabel) }, nil, "none has number"},
		{"class", texts, func(g *Graph) (Result, error) { return g.Relabel(Text("a"), 1) }, nil, "the graph has 1 classes, and none has number 1"},
		{"ids", full, func(g *Graph) (Result, error) { return g.AddEdge(Num(0), Num(1), NoLabel) }, ErrTooLarge, "no internal ids are left"},
		{"lists", long, func(g *Graph) (Result, error) { return g.AddEdge(Num(0), Num(1), NoLabel) }, ErrTooLarge, "no room is left for neighbour lists"},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			_, err := x.do(x.g)
			if err == nil || x.is != nil && !errors.Is(err, x.is) || !strings.Contains(err.Error(), x.text) {
				t.Errorf("%v, want %q", err, x.text)
			}
			if x.g.Version() != 0 || x.g.NumVertices() != 0 || len(x.g.Events()) != 0 {
				t.Errorf("version %d, %d vertices, %v", x.g.Version(), x.g.NumVertices(), x.g.Events())
			}
		})
	}
}

// TestLongWindow checks that a window refuses more versions than marks can tell apart.
func TestLongWindow(t *testing.T) {
	g := New(false, false)
	g.Begin()
	g.version = math.MaxUint32
	if _, err := g.AddVertex(Num(1), 0); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	g.Settle()
	if res, err := g.AddVertex(Num(1), 0); res != Applied || err != nil {
		t.Fatal(res, err)
	}
}

// TestFromRefuses checks that nothing of a static graph is left out silently.
func TestFromRefuses(t *testing.T) {
	build := func(c *graph.EdgeChunk) *graph.Graph {
		b := graph.NewBuilder(graph.BuildOptions{KeepDuplicates: true})
		if err := b.AddEdges(c); err != nil {
			t.Fatal(err)
		}
		s, err := b.Build(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	times := build(&graph.EdgeChunk{Src: []uint64{1, 1}, Dst: []uint64{2, 2}, Time: []int64{3, 3}})
	defer times.Close()
	if _, err := From(context.Background(), times); err == nil || !strings.Contains(err.Error(), "1 edges whose ends, label and time are those of others") {
		t.Error(err)
	}
	twice := build(&graph.EdgeChunk{Src: []uint64{1, 1}, Dst: []uint64{2, 2}})
	defer twice.Close()
	if _, err := From(context.Background(), twice); err == nil || !strings.Contains(err.Error(), "1 edges that are equal to others") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("stopped")
	cancel(cause)
	one := graph.FromEdges(2, [][2]uint32{{0, 1}}, false)
	defer one.Close()
	if _, err := From(ctx, one); !errors.Is(err, cause) {
		t.Error(err)
	}
	g, err := From(context.Background(), one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Now().Snapshot(ctx); !errors.Is(err, cause) {
		t.Error(err)
	}
}

// TestRowedFrom checks that all edges of a graph have rows if most have properties in the beginning, and only those with properties otherwise.
func TestRowedFrom(t *testing.T) {
	for with, want := range map[int]bool{0: false, 5: false, 59: false, 60: true, 80: true} {
		g := New(true, false)
		key, err := g.EdgeKey("w", arrow.PrimitiveTypes.Int64)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 80 {
			var ps []Property
			if i >= 80-with {
				ps = []Property{{key, OfInt(int64(i))}}
			}
			if _, err := g.AddEdge(Num(uint64(i)), Num(uint64(i+1)), NoLabel, ps...); err != nil {
				t.Fatal(err)
			}
		}
		if g.Rowed() != (with == 80) { // the first edge decides
			t.Errorf("%d of 80 edges have properties, and the graph says that each has a row: %v", with, g.Rowed())
		}
		s, err := g.Now().Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		from, err := From(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		rows := with
		if want {
			rows = 80
		}
		if from.Rowed() != want || from.rows.n != uint32(rows) || from.NumEdges() != 80 {
			t.Errorf("%d of 80 edges have properties: %d rows, each edge has one: %v", with, from.rows.n, from.Rowed())
		}
		for i := range uint64(80) {
			var values []Value
			for _, x := range []*Graph{g, from} {
				u, _ := x.Vertex(Num(i))
				v, _ := x.Vertex(Num(i + 1))
				for _, e := range x.Now().Edges(u, v, Out, NoLabel, Always, nil) {
					values = append(values, x.Now().EdgeValue(e.ID, key))
				}
			}
			if len(values) != 2 || values[0] != values[1] {
				t.Errorf("edge %d: %v", i, values)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullRange adds vertices to a class until it has several ranges of ids, and reads lists within them.
func TestFullRange(t *testing.T) {
	g := New(false, false)
	a, b := g.Class("a"), g.Class("b")
	hub := Num(1 << 40)
	if res, err := g.AddVertex(hub, b); res != Applied || err != nil {
		t.Fatal(res, err)
	}
	layout := g.Layout()
	const n = 1000
	for i := range uint64(n) {
		if res, err := g.AddVertex(Num(i), a); res != Applied || err != nil {
			t.Fatal(res, err)
		}
		if i%10 == 0 { // ranges of another class between those of a
			if res, err := g.AddVertex(Num(n+i), g.Class("b", string(rune('A'+i/10%26)))); res != Applied || err != nil {
				t.Fatal(res, err)
			}
		}
		for _, id := range []uint64{i, n + i/10*10} {
			if _, err := g.AddEdge(hub, Num(id), NoLabel); err != nil {
				t.Fatal(err)
			}
		}
	}
	rs := g.Ranges(a)
	if len(rs) < 2 || g.Layout() == layout {
		t.Fatalf("ranges %v", rs)
	}
	v, _ := g.Vertex(hub)
	var buf []uint32
	got := g.Now().List(v, Out, NoLabel, rs, &buf)
	if len(got) != n || g.Now().Len(v, Out, NoLabel, rs, &buf) != n {
		t.Fatalf("%d neighbours", len(got))
	}
	for i, x := range got {
		if g.ClassOf(x) != a || i > 0 && got[i-1] >= x {
			t.Fatalf("neighbour %d is %d of class %v", i, x, g.Labels(g.ClassOf(x)))
		}
	}
	if got := g.Now().Len(v, Out, NoLabel, g.Ranges(g.ClassesWith("b")...), &buf); got != n/10 {
		t.Fatalf("%d neighbours with label b", got)
	}
	checkArena(t, g)
}

// TestWindowUse checks that wrong use is found.
func TestWindowUse(t *testing.T) {
	g := New(false, false)
	for range 3 {
		if _, err := g.AddVertex(Num(1), 0); err != nil {
			t.Fatal(err)
		}
	}
	g.Begin()
	for name, do := range map[string]func(){"before": func() { g.At(2) }, "after": func() { g.At(4) }, "begin": g.Begin} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			do()
		}()
	}
}

// TestFirstEdgeLabel names the first edge label of a graph in a window that already has marks.
func TestFirstEdgeLabel(t *testing.T) {
	g := New(true, false)
	m := newModel(true, false)
	for _, window := range [][]update{
		{{op: "+e", u: "1", v: "2", label: ""}, {op: "+e", u: "1", v: "3", label: ""}, {op: "+e", u: "2", v: "3", label: ""}},
		{{op: "-e", u: "1", v: "2", label: ""}, {op: "+e", u: "4", v: "1", label: ""}, {op: "-v", u: "3", v: "", label: ""}, {op: "+e", u: "1", v: "2", label: "a"}, {op: "+e", u: "1", v: "2", label: ""}, {op: "-e", u: "1", v: "2", label: "a"}},
	} {
		first := g.Version()
		g.Begin()
		versions := []*model{m.clone()}
		for _, x := range window {
			must(t, g, x, m.apply(x))
			versions = append(versions, m.clone())
		}
		for i, x := range versions {
			x.compare(t, g.At(first+uint64(i)))
		}
		g.Settle()
		m.compare(t, g.Now())
		checkArena(t, g)
	}
}
