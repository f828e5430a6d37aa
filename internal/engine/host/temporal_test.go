package host_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// hubOfLongLife is a vertex that pays n others, one each hour, and is paid by each
// five minutes later; each also pays the next one a minute after it was paid.
func hubOfLongLife(t *testing.T, n uint64) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.BuildOptions{Directed: true})
	c := &graph.EdgeChunk{}
	add := func(u, v uint64, time int64) {
		c.Src, c.Dst, c.Time = append(c.Src, u), append(c.Dst, v), append(c.Time, time)
	}
	for i := range n {
		at := int64(i) * 3600
		add(0, i+1, at)
		add(i+1, (i+1)%n+1, at+60)
		add((i+1)%n+1, 0, at+300)
	}
	if err := b.AddEdges(c); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func temporalCycle(t *testing.T, g *graph.Graph, k string, within int64, method string) *plan.Plan {
	t.Helper()
	ps, err := pattern.ByName("temporal_cycle(" + k + ")")
	if err != nil {
		t.Fatal(err)
	}
	p := ps[0].Clone()
	p.Order.Within = within
	pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: method, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

// TestHubOfLongLife: a window makes a hub cheap, whatever it did before and after.
// Lists read whole would be 10^10 events, and plans that choose vertices first have
// as many paths through the hub.
func TestHubOfLongLife(t *testing.T) {
	const n = 100_000
	g := hubOfLongLife(t, n)
	p := temporalCycle(t, g, "3", 300, "")
	if p.Method != plan.Temporal || p.Price > 100*n {
		t.Errorf("method %v, expected to read %.1e events", p.Method, p.Price)
	}
	r, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || r.Matches != engine.U64(n) {
		t.Errorf("%v triangles, want %d: %v", r.Matches, n, err)
	}
}

// TestTemporalAllocates: the memory that a search allocates does not depend on the length of the search.
func TestTemporalAllocates(t *testing.T) {
	allocs := func(n uint64) float64 {
		g := hubOfLongLife(t, n)
		p := temporalCycle(t, g, "4", 24*3600, "")
		return testing.AllocsPerRun(3, func() {
			if _, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{Threads: 1}, engine.Goal{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(50), allocs(5000); many > few+20 {
		t.Errorf("%v allocations for 50 rounds, %v for 5000", few, many)
	}
}

// TestTemporalThreads: several workers find the same matches as one, in counts and in listings, with
// windows and without.
func TestTemporalThreads(t *testing.T) {
	g := hubOfLongLife(t, 3000)
	for _, k := range []string{"3", "4", "5"} {
		p := temporalCycle(t, g, k, 50*3600, "")
		want := count(t, g, p, engine.Options{Threads: 1})
		if want == (engine.Uint128{}) {
			t.Errorf("no cycle of %s", k)
		}
		for _, o := range []engine.Options{
			{Threads: 5},
			{Threads: 3, Opt: map[string]string{"host.steal": "off"}},
			{Threads: 2, Levels: true},
		} {
			if got := count(t, g, p, o); got != want {
				t.Errorf("cycle of %s with %+v: %v, want %v", k, o, got, want)
			}
		}
	}
}

// TestTimesAtTheEnds: windows do not wrap where times are the least or greatest
// numbers.
func TestTimesAtTheEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least, most := int64(math.MinInt64), int64(math.MaxInt64)
		b := graph.NewBuilder(graph.BuildOptions{Directed: true})
		c := &graph.EdgeChunk{}
		for range rapid.IntRange(1, 12).Draw(t, "edges") {
			c.Src = append(c.Src, rapid.Uint64Range(0, 3).Draw(t, "u"))
			c.Dst = append(c.Dst, rapid.Uint64Range(0, 3).Draw(t, "v"))
			c.Time = append(c.Time, rapid.SampledFrom([]int64{least, least + 1, -1, 0, 1, most - 1, most}).Draw(t, "time"))
		}
		if err := b.AddEdges(c); err != nil {
			t.Fatal(err)
		}
		g, err := b.Build(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		p := &pattern.Pattern{Vertices: make([]pattern.Vertex, 3), Order: &pattern.Order{
			Edges: rapid.Permutation([]int{0, 1}).Draw(t, "order")[:2*rapid.IntRange(0, 1).Draw(t, "ordered")],
		}}
		for i, name := range []string{"x", "y"} {
			p.Edges = append(p.Edges, pattern.Edge{Name: name, From: i, To: i + 1, Dir: pattern.Forward, Min: 1, Max: 1})
		}
		p.Order.Within = rapid.SampledFrom([]int64{1, 2, most / 2, most - 1, most}).Draw(t, "within")
		run := func(e engine.Engine, method string) engine.Uint128 {
			pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: method, Embeddings: true})
			if err != nil {
				t.Fatal(err)
			}
			r, err := engine.Once(context.Background(), e, g, pl, engine.Options{Threads: 1}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			return r.Matches
		}
		want := run(oracle.New(), "nest")
		// As a condition a difference of more than 63 bits is a fraction, which a bound
		// of 63 bits may equal.
		nest := want
		if p.Order.Within < most-1 {
			nest = run(host.New(), "nest")
		}
		if temporal := run(host.New(), ""); nest != want || temporal != want {
			t.Fatalf("%v by the oracle, %v by the nest, %v by windows", want, nest, temporal)
		}
	})
}

// TestTemporalAbsentEdge: a vertex that no timed edge leads to is looked for among the
// neighbours that it must have, and not among those that it must not have, though they are fewer.
func TestTemporalAbsentEdge(t *testing.T) {
	b := graph.NewBuilder(graph.BuildOptions{Directed: true})
	if err := b.AddEdges(&graph.EdgeChunk{Src: []uint64{0, 1, 0, 0, 2}, Dst: []uint64{1, 2, 3, 4, 4}, Time: []int64{1, 2, 3, 4, 5}}); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	edge := func(from, to int, name string) pattern.Edge {
		return pattern.Edge{From: from, To: to, Dir: pattern.Forward, Min: 1, Max: 1, Name: name, Negated: from == 2}
	}
	for _, last := range [][]pattern.Edge{{edge(0, 3, ""), edge(2, 3, "")}, {edge(2, 3, ""), edge(0, 3, "")}} {
		p := &pattern.Pattern{
			Vertices: make([]pattern.Vertex, 4), Edges: append([]pattern.Edge{edge(0, 1, "x"), edge(1, 2, "y")}, last...),
			Order: &pattern.Order{Edges: []int{0, 1}},
		}
		pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: "temporal"})
		if err != nil {
			t.Fatal(err)
		}
		for _, levels := range []bool{false, true} {
			if got := count(t, g, pl, engine.Options{Threads: 1, Levels: levels}); got != engine.U64(1) {
				t.Errorf("%s: %v matches, want 1", pattern.Format(p), got)
			}
		}
	}
}

// TestTemporalGap: the latest time so far stays that of all edges before an edge without a
// time.
func TestTemporalGap(t *testing.T) {
	b := graph.NewBuilder(graph.BuildOptions{Directed: true})
	if err := b.AddEdges(&graph.EdgeChunk{Src: []uint64{0, 1, 2, 3, 3}, Dst: []uint64{1, 2, 3, 4, 5}, Time: []int64{10, 20, 100, 3, 6}}); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := &pattern.Pattern{Vertices: make([]pattern.Vertex, 5), Order: &pattern.Order{Within: 15}}
	for v, name := range []string{"x", "y", "", "z"} {
		p.Edges = append(p.Edges, pattern.Edge{From: v, To: v + 1, Dir: pattern.Forward, Min: 1, Max: 1, Name: name})
	}
	pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: "temporal"})
	if err != nil {
		t.Fatal(err)
	}
	if got := count(t, g, pl, engine.Options{Threads: 1}); got != engine.U64(1) {
		t.Errorf("%s: %v matches, want 1", pattern.Format(p), got)
	}
}
