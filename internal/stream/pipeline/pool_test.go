package pipeline

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/testing/device"
)

// poolText has a warp that takes and gives blocks. In round r lane l takes a block of class what[64 r + l], and then gives the one back that it or
// another lane took as number what[64 r + 32 + l].
const poolText = `
#include "pipeline/pool.cuh"
struct P { Store store; Pool* pool; const u32* what; u32* out; u32 rounds, pad; };
WEFT_KERNEL(blocks, P) {
  Pool* pool = (Pool*)shared();
  if (lane() == 0) *pool = *p.pool;
  sync_warp(ALL);
  for (u32 r = 0; r < p.rounds; r++) {
    u32 at = take_blocks(p.store, pool, p.what[64 * r + lane()]);
    store_relaxed(&p.out[32 * r + lane()], at);
    sync_warp(ALL);
    u32 i = p.what[64 * r + 32 + lane()], x = i == NONE ? 0 : load_relaxed(&p.out[i]);
    give_blocks(p.store, pool, x, x ? p.what[64 * (i / 32) + i % 32] : NO_CLASS);
  }
  if (lane() == 0) *p.pool = *pool;
}
`

type poolParams struct {
	Store           store
	Pool, What, Out uint64
	Rounds, Pad     uint32
}

// TestPool: the lanes of a warp take blocks of many classes and give them back. No two blocks overlap, and in the end all memory
// is free. Blocks of many classes fill the pool, and then lanes get none.
func TestPool(t *testing.T) {
	const noClass, rounds, units = 63, 200, 3000
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		r := rand.New(rand.NewPCG(device.Seed(), 3))
		for _, classes := range []int{1, 3, 12} {
			what := make([]uint32, 64*rounds)
			given := make([]bool, 32*rounds)
			for i := range rounds {
				want := []int{0, 1, 5, 32}[r.IntN(4)]
				for l := range 32 {
					what[64*i+l], what[64*i+32+l] = noClass, ^uint32(0)
					if r.IntN(32) < want {
						what[64*i+l] = uint32(r.IntN(classes))
					}
				}
				l := 0
				for range []int{0, 3, 40}[r.IntN(3)] {
					if k := r.IntN(32 * (i + 1)); l < 32 && !given[k] && what[64*(k/32)+k%32] != noClass {
						given[k], what[64*i+32+l] = true, uint32(k)
						l++
					}
				}
			}
			var rest []uint32 // more rounds give back what is left
			for k := range given {
				if !given[k] && what[64*(k/32)+k%32] != noClass {
					rest = append(rest, uint32(k))
				}
			}
			for len(rest) > 0 {
				row := slices.Repeat([]uint32{noClass}, 32)
				n := min(len(rest), 32)
				what = append(append(what, row...), append(slices.Clone(rest[:n]), slices.Repeat([]uint32{^uint32(0)}, 32-n)...)...)
				rest = rest[n:]
			}
			n := len(what) / 64
			out := make([]uint32, 32*n)
			err := d.Do(func(c *cuda.Context) error {
				s, err := load(context.Background(), c, &model{lists: make([][]entry, 1)}, Sizes{Pool: units * unit})
				if err != nil {
					return err
				}
				in, err := c.Alloc(int64(4 * len(what)))
				if err != nil {
					return err
				}
				to, err := c.Alloc(int64(4 * len(out)))
				if err != nil {
					return err
				}
				if err := cuda.Upload(c, in, 0, what); err != nil {
					return err
				}
				m, err := c.Module(cuda.Source{Name: "blocks.cu", Text: poolText, Includes: kernels.Includes(poolText)})
				if err != nil {
					return err
				}
				k, err := m.Kernel("blocks")
				if err != nil {
					return err
				}
				x := &poolParams{Store: s.raw, Pool: s.pool.Ptr, What: in.Ptr, Out: to.Ptr, Rounds: uint32(n)}
				if err := k.Launch(cuda.Launch{Blocks: 1, Threads: 32, Shared: int(sizeOf[pool]())}, x); err != nil {
					return err
				}
				if err := cuda.Download(c, out, to, 0); err != nil {
					return err
				}
				if _, err := s.check(c); err != nil {
					t.Error(err)
				}
				var end [1]pool
				if err := cuda.Download(c, end[:], s.pool, 0); err != nil {
					return err
				}
				if end[0].Used != 1 {
					t.Errorf("%d units are in use at the end", end[0].Used)
				}
				for _, err := range []error{m.Close(), c.Free(in), c.Free(to), s.free(c)} {
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			type block struct{ at, end uint64 }
			var live []block
			used, refused := uint64(1), 0
			for i := range n {
				for l := range 32 {
					c, at := what[64*i+l], uint64(out[32*i+l])
					switch {
					case c == noClass && at != 0:
						t.Fatalf("round %d: lane %d has a block that it did not want", i, l)
					case c != noClass && at == 0:
						refused++
					case c != noClass:
						live = append(live, block{at, at + classUnits(int(c))})
						used += classUnits(int(c))
					}
				}
				slices.SortFunc(live, func(x, y block) int { return cmp.Compare(x.at, y.at) })
				for j := range live {
					if live[j].end > units || j+1 < len(live) && live[j].end > live[j+1].at {
						t.Fatalf("round %d: a block from %d to %d is not alone", i, live[j].at, live[j].end)
					}
				}
				for l := range 32 {
					if k := what[64*i+32+l]; k != ^uint32(0) && out[k] != 0 {
						j := slices.IndexFunc(live, func(b block) bool { return b.at == uint64(out[k]) })
						used -= live[j].end - live[j].at
						live = slices.Delete(live, j, j+1)
					}
				}
			}
			if used != 1 || len(live) != 0 {
				t.Errorf("%d units and %d blocks are left", used, len(live))
			}
			if classes == 1 && refused > 0 || classes == 12 && refused == 0 {
				t.Errorf("%d classes: %d blocks were refused", classes, refused)
			}
		}
	})
}
