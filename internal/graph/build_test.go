package graph

import (
	"context"
	"slices"
	"testing"
)

// TestBuilderApart builds a matching of vertices that lie far apart, so that
// sources leap on their way to the lists, and a star over every hundredth of them,
// whose edges are given twice.
func TestBuilderApart(t *testing.T) {
	const n = 500_000
	want := map[uint32][]uint32{}
	pairs := make([][2]uint32, 0, n)
	add := func(u, v uint32) {
		pairs = append(pairs, [2]uint32{u, v})
		want[u], want[v] = append(want[u], v), append(want[v], u)
	}
	for i := range uint32(n/2 - 1) {
		add(i, n-1-i)
	}
	for i := uint32(100); i < n; i += 100 {
		if i != n-1-i && i != n/2 && i != n/2-1 {
			add(n/2, i)
			pairs = append(pairs, [2]uint32{i, n / 2})
		}
	}
	for _, threads := range []int{1, 3} {
		b := NewBuilder(BuildOptions{Threads: threads})
		c := &EdgeChunk{}
		for _, p := range pairs {
			c.Src, c.Dst = append(c.Src, uint64(p[0])), append(c.Dst, uint64(p[1]))
		}
		if err := b.AddEdges(c); err != nil {
			t.Fatal(err)
		}
		g, err := b.Build(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if g.NumVertices() != n-1 {
			t.Fatal(g.NumVertices())
		}
		var ids []uint32
		for v := range uint32(g.NumVertices()) {
			l := g.Out.List(v)
			if !slices.IsSorted(l) {
				t.Fatalf("the list of %d is not in order", v)
			}
			ids = ids[:0]
			for _, u := range l {
				ids = append(ids, uint32(g.IDs.Int(u)))
			}
			slices.Sort(ids)
			w := want[uint32(g.IDs.Int(v))]
			slices.Sort(w)
			if !slices.Equal(ids, w) {
				t.Fatalf("the list of %d is %v, not %v", g.IDs.Int(v), ids, w)
			}
		}
		g.Close()
	}
}
