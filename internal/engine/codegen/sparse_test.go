package codegen_test

import (
	"runtime"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestCPUSparse counts patterns over edge labels that few vertices have, and over others, with hubs, with units of work that are
// parts of lists, and with several levels of bitmaps.
func TestCPUSparse(t *testing.T) {
	onCPU(t)
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 17, M: 60000, Directed: true, EdgeLabels: 40, Skew: 1, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	hub := nodiff.Spec{N: 1 << 16, Directed: true, EdgeLabels: true}
	for v := range hub.N { // hubs are the first of a class of vertices that comes after another one
		hub.Labels = append(hub.Labels, []string{"P"})
		if v == 0 || v == 700 {
			hub.Labels[v] = []string{"Q"}
		}
	}
	for v := range 600 {
		hub.Edges = append(hub.Edges, nodiff.SpecEdge{U: 0, V: v + 1, Label: "A"}, nodiff.SpecEdge{U: v + 1, V: (v*7)%600 + 1, Label: "B"}, nodiff.SpecEdge{U: 700, V: v + 1, Label: "B"})
	}
	graphs := map[string]*graph.Graph{
		"MATCH (a)-[:A]->(b)-[:B]->(c)<-[:A]-(a)":           hub.Build(),
		"MATCH (a)-[:A]->(b)<-[:B]-(c)-[:B]->(d)-[:B]->(b)": hub.Build(),
	}
	for _, text := range []string{
		"MATCH (a)-[:5]->(b)-[:0]->(c)-[:7]->(d)",                       // a sparse one, and one with offsets
		"MATCH (a)-[:3]-(b)-[:3]-(c)-[:3]-(a)",                          // cut at a vertex of its own
		"MATCH (a)-[:2]->(b)<-[:2]-(c), NOT (a)-[:3]->(c)",              // an absent edge
		"MATCH (a)-[:4]->(b)-[:6]->(c) WHERE EXISTS { (a)-[:30]->(d) }", // lists of another plan
		"MATCH (a)-[:39]->(b)-[:39]->(c)",                               // few vertices have it
		"MATCH (a)-[:38]->(b), (a)<--(b)-[:0]->(c)",
	} {
		graphs[text] = g
	}
	levels := map[int]bool{}
	dense, none := 0, 0
	for text, g := range graphs {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := nest(g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range p.Adjs {
			if s := a.Lists.Sparse; s != nil {
				levels[s.Index().Levels] = true
			} else {
				dense++
			}
		}
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{Threads: 1}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 3} {
			got, err := engine.Once(t.Context(), codegen.CPU{Objects: device.Objects()}, g, p, engine.Options{Threads: threads}, engine.Goal{})
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("%s: %v by %d threads, %v on host: %v", text, got.Matches, threads, want.Matches, err)
			}
		}
		if want.Matches.IsZero() {
			none++
		}
	}
	if !levels[1] || !levels[2] || dense == 0 || none > 2 {
		t.Errorf("lists have %v levels of bitmaps, %d have offsets, and %d of %d patterns no match", levels, dense, none, len(graphs))
	}
}

// TestCPUMemoryOfLabel: a search over a label of few edges allocates no array with a number for each vertex.
func TestCPUMemoryOfLabel(t *testing.T) {
	onCPU(t)
	const n = 1 << 19
	s := nodiff.Spec{N: n, Directed: true, EdgeLabels: true}
	for v := range 300 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 1, Label: "A"}, nodiff.SpecEdge{U: v + 1, V: v, Label: "B"})
	}
	g := s.Build()
	q, err := gql.Parse("MATCH (a)-[:A]->(b)-[:A]->(c)<-[:B]-(d)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	run := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := engine.Once(t.Context(), codegen.CPU{Objects: device.Objects()}, g, p, engine.Options{Threads: 1}, engine.Goal{})
		runtime.ReadMemStats(&after)
		if err != nil || r.Matches.IsZero() {
			t.Fatal(r.Matches, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if bytes := run(); bytes >= 8*n {
		t.Errorf("a search of 600 edges allocates %d bytes in a graph of %d vertices", bytes, n)
	}
}
