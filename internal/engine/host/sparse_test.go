package host_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestSparseLists: a search finds the same in sparse lists, in the offsets that a long search makes
// of them, and in lists that the graph stores with offsets.
func TestSparseLists(t *testing.T) {
	for _, text := range []string{
		"MATCH (a)-->(b)-->(c)", "MATCH (a)-->(b)-->(c), (a)-->(c)", "MATCH (a)--(b)--(c)--(d)--(a)", "MATCH (a)-->(b)<--(c), NOT (a)-->(c)",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var want engine.Uint128
		for i, stored := range []func(*graph.Handle) *graph.Handle{
			nil, func(h *graph.Handle) *graph.Handle {
				return graph.NewHandle(graph.Lists{Sparse: graph.NewSparse(h.Flat())})
			},
		} {
			g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 900, Seed: 3, Directed: true}, 2)
			if err != nil {
				t.Fatal(err)
			}
			g.Stored = stored
			p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot})
			if err != nil {
				t.Fatal(err)
			}
			for _, price := range []float64{1, 1e9} { // of a short search and of a long one
				p.Price = price
				before := p.Adjs[0].Lists.Pairs()
				r, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{Threads: 2}, engine.Goal{})
				if err != nil || i == 0 && price == 1 && r.Matches.IsZero() {
					t.Fatal(r.Matches, err)
				}
				if i == 0 && price == 1 {
					want = r.Matches
				}
				if r.Matches != want || p.Adjs[0].Lists.Pairs() != before {
					t.Errorf("%s: %v matches, want %v", text, r.Matches, want)
				}
				if sparse := p.Adjs[0].Lists.Sparse != nil; sparse != (i == 1) {
					t.Errorf("%s: sparse %v", text, sparse)
				}
			}
		}
	}
}
