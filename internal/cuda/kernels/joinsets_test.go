package kernels_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/testing/device"
)

// joinSetsText intersects the lists of vertices 0 and 1 with a warp.
const joinSetsText = `
#include "join/find.cuh"

struct P { const u64* off; const u32* adj; u32* walked; u32* out; u32* n; u32 naive, unused; };
WEFT_KERNEL(both, P) {
  if (warp() != 0) return;
  JoinLists l = {};
  l.adj = p.adj;
  l.off = p.off;
  l.n = 2;
  JoinGroup g = {};
  g.end = ~0u;
  g.naive = p.naive;
  g.backs = 2;
  g.back[1] = 1 << 1;
  u32* row = (u32*)shared();
  if (lane() < 2) row[lane()] = lane();
  sync_warp(ALL);
  JoinFound f = join_find(g, &l, row, 2, false);
  u32 n = 0;
  for (u32 i = 0; i < f.base.n; i += 32) {
    u32 v;
    bool in = join_test(g, &l, row, f, i, f.base.n, v);
    u32 votes = ballot(ALL, in);
    if (in) p.out[n + popc(votes & ((1u << lane()) - 1))] = v;
    n += popc(votes);
  }
  if (lane() == 0) {
    *p.walked = f.base.n;
    *p.n = n;
  }
}
`

// TestJoinSets: by size the shorter list is walked, and a naive group walks the first. Both find the same candidates.
func TestJoinSets(t *testing.T) {
	var adj []uint32
	for v := range uint32(300) {
		adj = append(adj, 2*v)
	}
	first := len(adj)
	for v := range uint32(40) {
		adj = append(adj, 9*v)
	}
	off := []uint64{0, uint64(first), uint64(len(adj))}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		for naive, want := range []uint32{40, 300} {
			walked, n, out := make([]uint32, 1), make([]uint32, 1), make([]uint32, 300)
			err := d.Do(func(ctx *cuda.Context) error {
				return launch(ctx, joinSetsText, "both", 1, 32, 64, func(b *buffers) any {
					return &struct {
						Off, Adj, Walked, Out, N uint64
						Naive, _                 uint32
					}{b.in(raw(off)), b.in(raw(adj)), b.out(raw(walked)), b.out(raw(out)), b.out(raw(n)), uint32(naive), 0}
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if walked[0] != want || n[0] != 20 {
				t.Errorf("naive %d: walks a list of %d, want %d, and finds %d candidates, want 20", naive, walked[0], want, n[0])
			}
			for i, v := range out[:n[0]] {
				if v != uint32(18*i) {
					t.Errorf("naive %d: candidate %d is %d, want %d", naive, i, v, 18*i)
				}
			}
		}
	})
}
