package gen

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
)

func maxDegree(g *graph.Graph) int {
	m := 0
	for v := range uint32(g.NumVertices()) {
		m = max(m, g.Degree(v))
	}
	return m
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		s      Spec
		n      int
		m      uint64
		degree int // of the largest vertex; -1: not fixed
	}{
		// The figures of another program with the same parameters.
		{Spec{Model: "rmat", Scale: 16, M: 1000000, Seed: 7}, 65536, 992463, 3003},
		{Spec{Model: "rgg", Scale: 14, Degree: 12, Seed: 3}, 16384, 97027, 26},
		{Spec{Model: "er", N: 1000, M: 5000, Seed: 1}, 1000, 5000, -1},
		{Spec{Model: "er", N: 5, M: 10, Seed: 1}, 5, 10, 4},
		{Spec{Model: "er", N: 5, M: 20, Seed: 1, Directed: true}, 5, 20, 4},
		{Spec{Model: "er", N: 40, P: 1}, 40, 780, 39},
		{Spec{Model: "er", N: 40}, 40, 0, 0},
		{Spec{Model: "ws", N: 100, K: 4}, 100, 200, 4},
		{Spec{Model: "ba", N: 2, K: 1}, 2, 1, 1},
		{Spec{Model: "ba", N: 1000, K: 1, Seed: 4}, 1000, 999, -1},
		{Spec{Model: "grid", Dims: []uint64{4, 5}}, 20, 31, 4},
		{Spec{Model: "grid", Dims: []uint64{4, 5}, Torus: true}, 20, 40, 4},
		{Spec{Model: "grid", Dims: []uint64{2, 2, 2}, Torus: true}, 8, 12, 3},
		{Spec{Model: "grid", Dims: []uint64{7}}, 7, 6, 2},
		{Spec{Model: "cliques", N: 3, K: 4}, 12, 18, 3},
		{Spec{Model: "cliques", N: 3, K: 4, Ring: true}, 12, 21, 4},
		{Spec{Model: "cliques", N: 2, K: 1, Ring: true}, 2, 1, 1},
		{Spec{Model: "star", N: 9}, 10, 9, 9},
	} {
		var last *graph.Graph
		for _, threads := range []int{1, 3} {
			g, err := Generate(context.Background(), c.s, threads)
			if err != nil {
				t.Fatalf("%+v: %v", c.s, err)
			}
			if g.NumVertices() != c.n || g.NumEdges() != c.m || c.degree >= 0 && maxDegree(g) != c.degree {
				t.Errorf("%+v: %d vertices, %d edges, degree %d", c.s, g.NumVertices(), g.NumEdges(), maxDegree(g))
			}
			if last != nil && !slices.Equal(last.Out.Adj, g.Out.Adj) {
				t.Errorf("%+v: threads change the result", c.s)
			}
			last = g
		}
	}
}

func TestRandomModels(t *testing.T) {
	count := func(s Spec) float64 {
		g, err := Generate(context.Background(), s, 2)
		if err != nil {
			t.Fatal(err)
		}
		return float64(g.NumEdges())
	}
	if m := count(Spec{Model: "er", N: 2000, P: 0.01, Seed: 5}); m < 19400 || m > 20600 {
		t.Error("er:", m)
	}
	if m := count(Spec{Model: "ws", N: 2000, K: 10, P: 0.3, Seed: 5}); m < 9900 || m > 10000 {
		t.Error("ws:", m)
	}
	g, err := Generate(context.Background(), Spec{Model: "ba", N: 5000, K: 4, Seed: 5}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if m, d := g.NumEdges(), maxDegree(g); m < 19500 || m > 20000 || d < 100 {
		t.Error("ba:", m, d)
	}
	if count(Spec{Model: "er", N: 500, M: 600, Seed: 1}) != 600 {
		t.Error("er")
	}
}

func TestSpecErrors(t *testing.T) {
	for _, s := range []Spec{
		{}, {Model: "tree"}, {Model: "rmat", Scale: 40, M: 1}, {Model: "rmat", Scale: 4}, {Model: "rmat", Scale: 4, M: 1, K: 3},
		{Model: "er"}, {Model: "er", N: 3, M: 4}, {Model: "er", N: 3, P: 1.5}, {Model: "er", N: 3, P: -.5}, {Model: "er", N: 3, P: math.NaN()}, {Model: "er", N: 3, M: 1, P: .5},
		{Model: "er", N: 1 << 33}, {Model: "ws", N: 10, K: 3}, {Model: "ws", N: 4, K: 4}, {Model: "ba", N: 3, K: 3},
		{Model: "grid"}, {Model: "grid", Dims: []uint64{0}}, {Model: "grid", Dims: []uint64{1 << 20, 1 << 20}},
		{Model: "cliques", N: 1 << 20, K: 1 << 20}, {Model: "cliques", N: 1, K: 3, Ring: true},
		{Model: "rgg", Scale: 4}, {Model: "rgg", Scale: 2, Degree: 100},
	} {
		if _, err := Generate(context.Background(), s, 1); !errors.Is(err, ErrSpec) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Generate(ctx, Spec{Model: "star", N: 10}, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSameAsFile compares with a gMatch CSR file that another generator wrote:
// WEFT_GEN_FILE, with WEFT_GEN_MODEL rmat (scale 16, 10^6 draws, seed 7) or rgg
// (scale 14, degree 12, seed 3).
func TestSameAsFile(t *testing.T) {
	name := os.Getenv("WEFT_GEN_FILE")
	if name == "" {
		t.Skip("WEFT_GEN_FILE is not set")
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{Model: "rmat", Scale: 16, M: 1000000, Seed: 7}
	if os.Getenv("WEFT_GEN_MODEL") == "rgg" {
		s = Spec{Model: "rgg", Scale: 14, Degree: 12, Seed: 3}
	}
	g, err := Generate(context.Background(), s, 2)
	if err != nil {
		t.Fatal(err)
	}
	n := int(binary.LittleEndian.Uint32(b))
	off := func(v int) int { return int(binary.LittleEndian.Uint64(b[8+8*v:])) }
	adj := b[8+8*(n+1)+4*n:]
	for v := range n {
		u, _ := g.LookupInt(int64(v))
		var got []uint32
		for _, w := range g.Out.List(u) {
			got = append(got, uint32(g.IDs.Int(w)))
		}
		slices.Sort(got)
		var want []uint32
		for i := off(v); i < off(v+1); i++ {
			want = append(want, binary.LittleEndian.Uint32(adj[4*i:]))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("vertex %d: %v, want %v", v, got, want)
		}
	}
}

// TestHundredMillion measures: WEFT_BIG=1 go test -run HundredMillion -v
func TestHundredMillion(t *testing.T) {
	if os.Getenv("WEFT_BIG") == "" {
		t.Skip("WEFT_BIG is not set")
	}
	measure(t, Spec{Model: "rmat", Scale: 22, M: 105_000_000, Seed: 1, Directed: os.Getenv("WEFT_BIG") == "directed"}, os.Getenv("WEFT_BIG") == "twice")
}

// TestLabels: labels follow the power law, do not depend on threads, and change no edge.
func TestLabels(t *testing.T) {
	for _, directed := range []bool{false, true} {
		s := Spec{Model: "rmat", Scale: 12, M: 60000, Seed: 5, Directed: directed}
		plain, err := Generate(t.Context(), s, 2)
		if err != nil {
			t.Fatal(err)
		}
		s.VertexLabels, s.EdgeLabels, s.Skew = 4, 50, 1
		var last *graph.Graph
		for _, threads := range []int{1, 3} {
			g, err := Generate(t.Context(), s, threads)
			if err != nil {
				t.Fatal(err)
			}
			if g.NumEdges() != plain.NumEdges() || g.NumVertices() != 4096 || len(g.VertexLabels) != 4 || len(g.EdgeLabels) != 50 {
				t.Fatalf("%d edges of %d, %d vertices, labels %v %v", g.NumEdges(), plain.NumEdges(), g.NumVertices(), g.VertexLabels, g.EdgeLabels)
			}
			counts, none := g.EdgeLabelCounts()
			sum := 0.0
			for k := range counts {
				sum += 1 / float64(k+1)
			}
			for k, n := range counts {
				want := float64(g.NumEdges()) / float64(k+1) / sum
				if d := float64(n) - want; none > 0 || d*d > 25*want {
					t.Errorf("label %s: %d edges, want about %.0f", g.EdgeLabels[k], n, want)
				}
			}
			for k, n := range g.VertexLabelCounts() {
				want := 4096 / float64(k+1) / (1 + 1./2 + 1./3 + 1./4)
				if d := float64(n) - want; d*d > 25*want {
					t.Errorf("label %s: %d vertices, want about %.0f", g.VertexLabels[k], n, want)
				}
			}
			if last != nil && (!slices.Equal(last.Edges.Label, g.Edges.Label) || !slices.Equal(last.Edges.Dst, g.Edges.Dst)) {
				t.Error("threads change the labels")
			}
			last = g
		}
	}
	for _, s := range []Spec{{Skew: 1}, {EdgeLabels: 1 << 21}, {EdgeLabels: 2, Skew: -1}, {VertexLabels: 2, Skew: math.NaN()}} {
		s.Model, s.N = "star", 3
		if err := s.Check(); !errors.Is(err, ErrSpec) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
