package host_test

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

func generate(t *testing.T, s gen.Spec) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(context.Background(), s, 2)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// embeddings counts p by a method, or skips when the method has no plan for it.
func embeddings(t *testing.T, g *graph.Graph, p *pattern.Pattern, method string) *big.Int {
	t.Helper()
	pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Method: method})
	if err != nil {
		return nil
	}
	n := count(t, g, pl, engine.Options{Threads: 3}).Big()
	if pl.Restricted {
		n.Mul(n, pl.Aut)
	}
	return n
}

// TestMethodsAgreeOnDenseGraphs: neighbourhoods of more than one machine word,
// which the graphs of TestNoDiff do not have; edge-induced and induced.
func TestMethodsAgreeOnDenseGraphs(t *testing.T) {
	names, most := []string{"motifs(3)", "motifs(4)", "wheel(4)", "gmatch:P5", "gmatch:P6", "gmatch:P7", "gmatch:P8", "gmatch:P9", "house", "bull", "bowtie", "cycle(5)"}, 60
	spec := gen.Spec{Model: "er", N: 90, P: 0.8, Seed: 5}
	if testing.Short() {
		names, most = []string{"motifs(3)", "motifs(4)", "wheel(4)"}, 20
		spec.N, spec.P = 72, 0.95
		t.Log("-short: patterns of four vertices and a wheel alone, since the race detector takes minutes for the others")
	}
	g := generate(t, spec)
	compared := 0
	for _, name := range names {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ps {
			for _, induced := range []bool{false, true} {
				p := p.Clone()
				p.Induced = induced
				want := embeddings(t, g, p, "nest")
				for _, method := range []string{"local", "formula", ""} {
					got := embeddings(t, g, p, method)
					if got == nil {
						continue
					}
					compared++
					if got.Cmp(want) != 0 {
						t.Errorf("%s induced=%v by %q: %v embeddings, by the nest %v", p.Name, induced, method, got, want)
					}
				}
			}
		}
	}
	if compared < most {
		t.Errorf("only %d counts were compared", compared)
	}
}

// TestCompleteGraph: in a complete graph every injective map is an embedding.
// Its rows are long enough for the vector kernels.
func TestCompleteGraph(t *testing.T) {
	n := 600
	if testing.Short() {
		n = 260
		t.Log("-short: 260 vertices, since the race detector takes 30 times as long for 600")
	}
	g := generate(t, gen.Spec{Model: "cliques", N: 1, K: uint64(n)})
	for _, name := range []string{"triangle", "diamond", "cycle(4)", "tailed_triangle", "star(3)", "clique(4)"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		want := big.NewInt(1)
		for i := range ps[0].Vertices {
			want.Mul(want, big.NewInt(int64(n-i)))
		}
		for _, method := range []string{"local", ""} {
			if got := embeddings(t, g, ps[0], method); got != nil && got.Cmp(want) != 0 {
				t.Errorf("%s by %q in a complete graph of %d: %v, want %v", name, method, n, got, want)
			}
		}
	}
}

// TestLabelledLocal: label ranges become masks over a neighbourhood.
func TestLabelledLocal(t *testing.T) {
	names, most := []string{"triangle", "diamond", "clique(4)", "cycle(4)", "gmatch:P6", "gmatch:P8", "house"}, 40
	if testing.Short() {
		names, most = names[:4], 20
		t.Log("-short: patterns of up to four vertices alone, since the race detector takes minutes for the others")
	}
	plainGraph := generate(t, gen.Spec{Model: "er", N: 120, P: 0.6, Seed: 9})
	b := graph.NewBuilder(graph.BuildOptions{})
	vc, ec := &graph.VertexChunk{}, &graph.EdgeChunk{}
	for v := range uint32(plainGraph.NumVertices()) {
		vc.ID = append(vc.ID, uint64(v))
		vc.Labels = append(vc.Labels, []string{fmt.Sprint("L", v%3)})
		for _, u := range plainGraph.Out.List(v) {
			if u < v {
				ec.Src, ec.Dst = append(ec.Src, uint64(v)), append(ec.Dst, uint64(u))
			}
		}
	}
	if err := b.AddVertices(vc); err != nil {
		t.Fatal(err)
	}
	if err := b.AddEdges(ec); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range names {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		// Every other vertex, and each alone: of two sets of a tail then one has a mask.
		for only := -1; only < len(ps[0].Vertices); only++ {
			p := ps[0].Clone()
			for i := range p.Vertices {
				if only < 0 && i%2 == 0 || i == only {
					p.Vertices[i].Label = &pattern.Label{Op: pattern.LabelName, Name: fmt.Sprint("L", i%3)}
				}
			}
			want := embeddings(t, g, p, "nest")
			for _, method := range []string{"local", "large", "formula", ""} {
				if only >= 0 && method == "large" {
					continue
				}
				if got := embeddings(t, g, p, method); got != nil {
					compared++
					if got.Cmp(want) != 0 {
						t.Errorf("%s, label of %d, by %q: %v, by the nest %v", name, only, method, got, want)
					}
				}
			}
		}
	}
	if compared < most {
		t.Errorf("only %d counts were compared", compared)
	}
}
