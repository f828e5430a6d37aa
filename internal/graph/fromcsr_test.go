package graph

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFromCSR(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		directed := rapid.Bool().Draw(t, "directed")
		twist := rapid.Bool().Draw(t, "twist") // repeats, loops, no order
		adj := make([][]uint32, n)
		var pairs [][2]uint32
		for range rapid.IntRange(0, 40).Draw(t, "m") {
			u, v := rapid.Uint32Range(0, uint32(n-1)).Draw(t, "u"), rapid.Uint32Range(0, uint32(n-1)).Draw(t, "v")
			if u == v && !twist {
				continue
			}
			pairs = append(pairs, [2]uint32{u, v})
			adj[u] = append(adj[u], v)
			if !directed && u != v {
				adj[v] = append(adj[v], u)
			}
		}
		in := CSRInput{Directed: directed, Off: []uint64{0}, Threads: 2}
		for _, l := range adj {
			if !twist {
				slices.Sort(l)
				l = slices.Compact(l)
			}
			in.Adj = append(in.Adj, l...)
			in.Off = append(in.Off, uint64(len(in.Adj)))
		}
		g, err := FromCSR(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		h := FromEdges(n, pairs, directed)
		if !slices.Equal(g.Out.Adj, h.Out.Adj) || !slices.Equal(g.Out.Off, h.Out.Off) || !slices.Equal(g.In.Adj, h.In.Adj) || !slices.Equal(g.IDs.Num, h.IDs.Num) {
			t.Fatalf("%v %v, want %v %v", g.Out, g.IDs.Num, h.Out, h.IDs.Num)
		}
		if g.Read.Kept != h.Read.Kept {
			t.Fatal(g.Read, h.Read)
		}
	})
}

func TestFromCSRErrors(t *testing.T) {
	for name, in := range map[string]CSRInput{
		"none":        {},
		"range":       {Off: []uint64{0, 1, 2}, Adj: []uint32{1, 2}},
		"one side":    {Off: []uint64{0, 1, 1}, Adj: []uint32{1}},
		"one side, 2": {Off: []uint64{0, 2, 3, 3}, Adj: []uint32{1, 2, 2}},
		"descend":     {Off: []uint64{0, 3, 2}, Adj: []uint32{1, 0}},
		"end":         {Off: []uint64{0, 1, 9}, Adj: []uint32{1, 0}},
		"labels":      {Off: []uint64{0, 0}, Label: []uint32{1, 2}},
	} {
		if _, err := FromCSR(context.Background(), in); !errors.Is(err, ErrColumns) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g, err := FromCSR(context.Background(), CSRInput{Off: []uint64{0, 1, 2}, Adj: []uint32{1, 0}, Label: []uint32{1, 0}, LabelNames: []string{"B", "A"}})
	if err != nil || len(g.Classes) != 2 || g.VertexLabels[0] != "A" || g.IDs.Num[0] != 0 {
		t.Fatal(g, err)
	}
}
