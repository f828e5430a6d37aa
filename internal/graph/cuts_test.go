package graph

import (
	"context"
	"slices"
	"strconv"
	"testing"
)

// TestRangesAreNarrow: few edges among billions of vertices are cut into ranges whose
// lists fit memory, and every vertex with edges is in the range that its number says.
func TestRangesAreNarrow(t *testing.T) {
	const n = 1<<32 - 2
	shift := binShift(n)
	arcs := make([]uint64, uint32(n)>>shift+1)
	for _, v := range []uint32{7, 1 << 20, 1<<20 + 1<<shift, n - 1} {
		arcs[v>>shift] = 3
	}
	k, err := cutVertices(n, arcs)
	if err != nil {
		t.Fatal(err)
	}
	if k.lo[0] != 0 || k.lo[k.len()] != n || k.len() > 8 {
		t.Errorf("%d ranges from %d to %d", k.len(), k.lo[0], k.lo[k.len()])
	}
	sum := uint64(0)
	for r, c := range k.arcs {
		lo, hi := k.lo[r], k.lo[r+1]
		if hi <= lo || c > 0 && hi-lo > rangeVertices {
			t.Errorf("range %d of %d arcs: %d to %d", r, c, lo, hi)
		}
		for _, v := range []uint32{lo, hi - 1} {
			if int(k.of[v>>k.shift]) != r {
				t.Errorf("vertex %d is in range %d, not %d", v, k.of[v>>k.shift], r)
			}
		}
		sum += c
	}
	if sum != 12 {
		t.Errorf("%d arcs in ranges", sum)
	}
}

// TestBuilderRepeats builds graphs of several ranges in which edges repeat, some
// vertices' more than others', so that degrees are in another order than the first
// one, and holds them against maps.
func TestBuilderRepeats(t *testing.T) {
	const n = 20_000
	var pairs [][2]uint32
	for i := range uint64(150_000) {
		h := mix64(i)
		u, v := uint32(h%n), uint32(h>>32%(h>>60*1000+50))
		for range 1 + u%5*(v%3) {
			pairs = append(pairs, [2]uint32{u, v})
		}
		if h>>59&1 != 0 {
			pairs = append(pairs, [2]uint32{v, u})
		}
	}
	for _, directed := range []bool{false, true} {
		out, in, any := map[uint32]map[uint32]bool{}, map[uint32]map[uint32]bool{}, map[uint32]map[uint32]bool{}
		add := func(m map[uint32]map[uint32]bool, u, v uint32) {
			if m[u] == nil {
				m[u] = map[uint32]bool{}
			}
			m[u][v] = true
		}
		arcs, loops := map[[2]uint32]bool{}, 0
		for _, p := range pairs {
			if p[0] == p[1] {
				loops++
				continue
			}
			arcs[p] = true
			add(out, p[0], p[1])
			add(in, p[1], p[0])
			add(any, p[0], p[1])
			add(any, p[1], p[0])
		}
		if !directed {
			out, in = any, any
		}
		for _, threads := range []int{1, 3} {
			b := NewBuilder(BuildOptions{Directed: directed, Threads: threads})
			c := &EdgeChunk{}
			for _, p := range pairs {
				c.Src, c.Dst = append(c.Src, uint64(p[0])), append(c.Dst, uint64(p[1]))
			}
			if err := b.AddRange(n); err != nil {
				t.Fatal(err)
			}
			if err := b.AddEdges(c); err != nil {
				t.Fatal(err)
			}
			g, err := b.Build(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			id := func(v uint32) uint32 {
				x, _ := strconv.Atoi(g.IDs.String(v))
				return uint32(x)
			}
			for v := range uint32(n) {
				x := id(v)
				if v > 0 {
					y := id(v - 1)
					if len(any[y]) < len(any[x]) || len(any[y]) == len(any[x]) && y > x {
						t.Fatalf("%d of degree %d comes before %d of degree %d", y, len(any[y]), x, len(any[x]))
					}
				}
				for way, l := range [][]uint32{g.Out.List(v), g.In.List(v)} {
					want := []map[uint32]map[uint32]bool{out, in}[way][x]
					if len(l) != len(want) || !slices.IsSorted(l) {
						t.Fatalf("list %d of %d has %d elements, not %d", way, x, len(l), len(want))
					}
					for i, u := range l {
						if !want[id(u)] || i > 0 && l[i-1] == u {
							t.Fatalf("list %d of %d has %d", way, x, id(u))
						}
					}
				}
			}
			r, kept := g.Read, uint64(len(arcs))
			if !directed {
				kept = uint64(len(g.Out.Adj)) / 2
			}
			if r.Kept != kept || r.Reciprocal != uint64(len(arcs))-kept || r.SelfLoops != uint64(loops) || r.Duplicates != uint64(len(pairs)-len(arcs)-loops) {
				t.Errorf("%+v for %d pairs, %d arcs, %d loops", r, len(pairs), len(arcs), loops)
			}
			g.Close()
		}
	}
}
