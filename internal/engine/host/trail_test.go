package host_test

import (
	"context"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestTrailsByFormula: trails of a simple graph as a sum over the vertices that
// coincide, against taking every match in hand. TestNoDiff has labels.
func TestTrailsByFormula(t *testing.T) {
	undirected := generate(t, gen.Spec{Model: "er", N: 40, P: 0.25, Seed: 3})
	var arcs [][2]uint32 // with reciprocal ones
	for u := range uint32(24) {
		for v := range uint32(24) {
			if u != v && (u*7+v*5)%4 == 0 {
				arcs = append(arcs, [2]uint32{u, v})
			}
		}
	}
	directed := graph.FromEdges(24, arcs, true)
	for _, name := range []string{"triangle", "path(3)", "path(4)", "star(3)", "cycle(4)", "cycle(5)", "diamond", "bowtie", "tailed_triangle"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p := ps[0].Clone()
		p.Mode = pattern.Trail
		for _, g := range []*graph.Graph{undirected, directed} {
			for forward := range 3 { // no edge, every other and all; the others take either direction
				if forward > 0 && !g.Directed {
					break
				}
				q := p.Clone()
				for i := range q.Edges {
					if forward == 2 || forward == 1 && i%2 == 0 {
						q.Edges[i].Dir = pattern.Forward
					}
				}
				want, got := embeddings(t, g, q, "nest"), embeddings(t, g, q, "formula")
				if got == nil || got.Cmp(want) != 0 {
					t.Errorf("%s, directed=%v, %d: %v trails by the formula, %v by the nest", name, g.Directed, forward, got, want)
				}
			}
		}
	}
}

// TestTrailsChoose: where a nest would take long the formula is chosen, and not
// where an edge table could have two edges between the same vertices.
func TestTrailsChoose(t *testing.T) {
	g := generate(t, gen.Spec{Model: "er", N: 400, P: 0.2, Seed: 1})
	ps, err := pattern.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	p := ps[0].Clone()
	p.Mode = pattern.Trail
	pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	if pl.Method != plan.Decomposed || len(pl.Formula.Terms) != 1 {
		t.Errorf("triangles as trails are counted by %v, formula %v", pl.Method, pl.Formula)
	}
	var arcs [][2]uint32
	for u, o := range g.Out.Off[:len(g.Out.Off)-1] {
		for _, v := range g.Out.Adj[o:g.Out.Off[u+1]] {
			if (u+int(v))%3 > 0 || u < int(v) {
				arcs = append(arcs, [2]uint32{uint32(u), v})
			}
		}
	}
	if pl, err := planner.Compile(graph.FromEdges(400, arcs, true), p, plan.Options{Root: plan.NoRoot}); err != nil || pl.Method != plan.Decomposed {
		t.Errorf("triangles of edges of either direction as trails are counted by %v (%v)", pl.Method, err)
	}
	if pl, err = planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Listing: true}); err != nil || pl.Formula != nil {
		t.Errorf("a listing has the formula %v (%v)", pl.Formula, err)
	}
}

// TestTrailsEither: edges of either direction in a directed graph with reciprocal edges
// and parallel edges of the pattern, by the formula and by the oracle.
func TestTrailsEither(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "data vertices")
		var arcs [][2]uint32
		for u := range n {
			for v := range n {
				if u != v && rapid.IntRange(0, 2).Draw(t, "arc") == 0 {
					arcs = append(arcs, [2]uint32{uint32(u), uint32(v)})
				}
			}
		}
		g := graph.FromEdges(n, arcs, true)
		p := &pattern.Pattern{Mode: pattern.Trail, Vertices: make([]pattern.Vertex, rapid.IntRange(2, 5).Draw(t, "vertices"))}
		edge := func(u, v int) {
			dir := rapid.SampledFrom([]pattern.Dir{pattern.Either, pattern.Either, pattern.Forward}).Draw(t, "direction")
			p.Edges = append(p.Edges, pattern.Edge{From: u, To: v, Dir: dir, Min: 1, Max: 1})
		}
		for v := 1; v < len(p.Vertices); v++ {
			edge(rapid.IntRange(0, v-1).Draw(t, "parent"), v)
		}
		for range rapid.IntRange(0, 2).Draw(t, "more edges") {
			u := rapid.IntRange(1, len(p.Vertices)-1).Draw(t, "from")
			edge(u, rapid.IntRange(0, u-1).Draw(t, "to")) // perhaps parallel to another
		}
		if err := p.Validate(); err != nil {
			t.Skipf("drawn, but no pattern: %v", err)
		}
		want := new(big.Int)
		if err := oracle.Embeddings(context.Background(), g, p, func(oracle.Match) bool { want.Add(want, big.NewInt(1)); return true }); err != nil {
			t.Fatal(err)
		}
		pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: "formula"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Once(context.Background(), host.New(), g, pl, engine.Options{Threads: 2}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Matches.Big(); got.Cmp(want) != 0 {
			t.Fatalf("%s: %v trails by the formula, %v by the oracle", pattern.Format(p), got, want)
		}
	})
}
