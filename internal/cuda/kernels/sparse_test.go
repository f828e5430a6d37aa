package kernels_test

import (
	"math/rand/v2"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/testing/device"
)

const sparseText = `#include "base/graph.cuh"
struct SparseParams { Lists lists; u64* out; u32 n, levels; };
WEFT_KERNEL(entries, SparseParams) {
  Adj a = adj_of(p.lists);
  a.levels = p.levels;
  for (u32 v = block() * threads() + thread(); v <= p.n; v += blocks() * threads()) p.out[v] = entries_below(SparseAdj{a}, v);
}
`

// TestEntriesBelow: kernels find the number of entries before each vertex, and behind the last, in sparse lists with one to three levels of
// bitmaps: of vertices next to each other, far apart, at the first and the last id, and of none.
func TestEntriesBelow(t *testing.T) {
	r := rand.New(rand.NewPCG(device.Seed(), 5))
	levels := map[int]bool{}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for _, n := range []int{1, 63, 64, 65, 700, 5000, 70_000} {
			for _, share := range []int{0, 1, 3, 40, 1000, 20_000} {
				for _, ends := range []bool{false, true} {
					c := graph.CSR{Off: make([]uint64, n+1)}
					for v := range n {
						if share > 0 && r.IntN(share) == 0 || ends && (v == 0 || v == n-1) {
							c.Adj = append(c.Adj, make([]uint32, 1+r.IntN(3))...)
						}
						c.Off[v+1] = uint64(len(c.Adj))
					}
					x := graph.NewSparse(&c).Index()
					levels[x.Levels] = true
					out := make([]uint64, n+1)
					err := d.Do(func(ctx *cuda.Context) error {
						return launch(ctx, sparseText, "entries", 2, 64, 0, func(b *buffers) any {
							return &struct {
								Words, Adj, Rows, Out uint64
								N, Levels             uint32
							}{b.in(raw(x.Words)), 0, b.in(raw(x.Off)), b.out(raw(out)), uint32(n), uint32(x.Levels)}
						})
					})
					if err != nil {
						t.Fatal(err)
					}
					for v, got := range out {
						if got != c.Off[v] {
							t.Fatalf("%d vertices, one in %d has a list, the ends have: %t; %d levels: %d entries below %d, not %d", n, share, ends, x.Levels, got, v, c.Off[v])
						}
					}
				}
			}
		}
	})
	if !levels[1] || !levels[2] || !levels[3] {
		t.Errorf("levels: %v", levels)
	}
}
