package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
)

// TestInduced: the graph of some vertices has the edges among them, their labels and the user's ids.
func TestInduced(t *testing.T) {
	for _, directed := range []bool{false, true} {
		g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 9, M: 4000, Seed: 3, Directed: directed}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var some []uint32
		for v := range uint32(g.NumVertices()) {
			if v%3 != 1 {
				some = append(some, v)
			}
		}
		s, err := g.Induced(t.Context(), some, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range some {
			if s.IDs.String(uint32(i)) != g.IDs.String(v) {
				t.Fatalf("vertex %d has id %s, want %s", i, s.IDs.String(uint32(i)), g.IDs.String(v))
			}
			for k, c := range [][2]*graph.CSR{{&s.Out, &g.Out}, {&s.In, &g.In}} {
				var want []uint32
				for _, u := range c[1].List(v) {
					if at, ok := slices.BinarySearch(some, u); ok {
						want = append(want, uint32(at))
					}
				}
				if !slices.Equal(c[0].List(uint32(i)), want) {
					t.Fatalf("directed %v, lists %d of %d: %v, want %v", directed, k, i, c[0].List(uint32(i)), want)
				}
			}
		}
		if h := s.Handle(s.Out.Lists()); h.DegreeOrdered {
			t.Error("degrees are said to fall with ids")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestInducedColumns: labels and edges with labels, times and parallel edges go with their vertices.
func TestInducedColumns(t *testing.T) {
	b := graph.NewBuilder(graph.BuildOptions{Directed: true})
	edges := &graph.EdgeChunk{Src: []uint64{1, 1, 2, 3}, Dst: []uint64{2, 2, 3, 1}, Time: []int64{7, 8, 9, 10}}
	if err := b.AddEdges(edges); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var some []uint32
	for _, id := range []int64{1, 2} {
		v, ok := g.LookupInt(id)
		if !ok {
			t.Fatal(id)
		}
		some = append(some, v)
	}
	slices.Sort(some)
	s, err := g.Induced(t.Context(), some, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r, v := range s.Edges.Src {
		got = append(got, fmt.Sprintf("%s %s %d", s.IDs.String(v), s.IDs.String(s.Edges.Dst[r]), s.Edges.Time[r]))
	}
	if want := []string{"1 2 7", "1 2 8"}; !slices.Equal(got, want) {
		t.Errorf("edges %q, want %q", got, want)
	}
	if v, ok := s.LookupInt(2); !ok || s.IDs.Int(v) != 2 {
		t.Errorf("vertex 2 is at %d, %v", v, ok)
	}
	if _, ok := s.LookupInt(3); ok {
		t.Error("vertex 3 is there")
	}
}

// TestInducedEnds: a context that has ended is the error.
func TestInducedEnds(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 50, M: 100, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := g.Induced(ctx, []uint32{0, 1, 2}, 1); !errors.Is(err, context.Canceled) || s != nil {
		t.Errorf("%v, %v", s, err)
	}
}
