package graph

import (
	"context"
	"slices"
	"testing"
)

// TestBuilderApart builds a matching of vertices that lie far apart, so that sources leap on
// their way to the lists. A star over every hundredth of these vertices has its edges given
// twice.
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

// TestBuilderGaps builds graphs whose ids leave some numbers out. It does so in each way in
// which vertices keep their numbers while the graph is built. Some vertices have only a
// self-loop, or are only known of.
func TestBuilderGaps(t *testing.T) {
	for _, c := range []struct{ edges, gap uint64 }{{2000, 2}, {100, 10}} { // many edges a vertex, and few
		b := NewBuilder(BuildOptions{Threads: 2})
		if err := b.AddRange(3); err != nil {
			t.Fatal(err)
		}
		e := &EdgeChunk{Src: []uint64{44}, Dst: []uint64{44}}
		var want []int64
		for i := range uint64(50) {
			if i < 3 || i%c.gap != 1 {
				want = append(want, int64(i))
			}
		}
		ends := func(i uint64) (u, v int64) {
			live := want[3:]
			return live[i%uint64(len(live))], live[i/7%uint64(len(live))]
		}
		for i := range c.edges {
			if u, v := ends(i); u != 44 && v != 44 {
				e.Src, e.Dst = append(e.Src, uint64(u)), append(e.Dst, uint64(v))
			}
		}
		if err := b.AddEdges(e); err != nil {
			t.Fatal(err)
		}
		g, err := b.Build(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(slices.Values(g.IDs.Num)); !slices.Equal(got, want) || int(g.Classes[0].End) != len(want) {
			t.Fatalf("vertices %v, not %v; %d in the class", got, want, g.Classes[0].End)
		}
		for i := range c.edges {
			x, y := ends(i)
			u, _ := g.LookupInt(x)
			v, _ := g.LookupInt(y)
			if x != y && x != 44 && y != 44 && !g.Has(u, v) {
				t.Fatalf("no edge from %d to %d", x, y)
			}
		}
		if v, ok := g.LookupInt(44); !ok || g.Degree(v) != 0 {
			t.Fatal("a vertex with a self-loop and nothing else is wrong")
		}
	}
}
