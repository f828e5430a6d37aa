package host_test

import (
	"runtime"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestShortSearchOfLabel: a short search of an edge label makes no array with a number for each vertex of the graph, though its
// restrictions cut lists at their own vertex. A long one makes it, and both find the same.
func TestShortSearchOfLabel(t *testing.T) {
	const n = 1 << 16
	s := nodiff.Spec{N: n, Directed: true, EdgeLabels: true}
	for v := 0; v+4 < n; v += 4 { // a quarter of the vertices has lists, so that these have an offset for each vertex
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 4, Label: "A"}, nodiff.SpecEdge{U: v + 1, V: v + 2, Label: "B"})
	}
	s.Edges = append(s.Edges, nodiff.SpecEdge{U: 8, V: 0, Label: "A"}) // the only triangle
	g := s.Build()
	q, err := gql.Parse("MATCH (a)-[:A]->(b)-[:A]->(c)-[:A]->(a)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: plan.EitherOrder, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	run := func(price float64) (bytes uint64) {
		p.Price = price
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{Threads: 1}, engine.Goal{})
		runtime.ReadMemStats(&after)
		if err != nil || r.Matches != engine.U64(1) {
			t.Fatalf("price %g: %v, %v", price, r.Matches, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	run(1)
	if short, long := run(1), run(1e9); short >= 4*n || long < 8*n {
		t.Errorf("a short search allocates %d bytes, and a long one %d", short, long)
	}
}
