package kernels_test

import (
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/testing/device"
)

// streamText walks 32 lists a warp in each of the ways that base/stream.cuh has. List i
// is words off[i] … off[i+1]-1; elements that a multiple of 3 and the list's lane
// add up to pass.
const streamText = `
#include "base/stream.cuh"
struct P { const u32 *off, *data; u32 *counts, *filtered, *kept, *walked; };

template <u32 MOST> DEV void walk(const P& p) {
  u32 i = block() * 32 + lane();
  Set a = {p.data + p.off[i], p.off[i + 1] - p.off[i]};
  Stream s = stream<MOST>(a);
  auto passes = [&](u32 x, u32 k) { return (x + shfl(ALL, s.from, k)) % 3 == 0; };
  p.counts[i] = count_each(a, s, passes);
  p.kept[i] = filter_each(p.filtered + p.off[i], a, s, passes);
  u32* walked = p.walked;
  each(s, [&](Window w) {
    u32 from = block() * 32 + shfl(ALL, s.from, w.of);
    if (w.live) atomic_add(&walked[from], w.x);
  });
}
WEFT_KERNEL(usual, P) { walk<STREAM_MOST>(p); }
WEFT_KERNEL(wide, P) { walk<20>(p); }
WEFT_KERNEL(widest, P) { walk<0>(p); }
`

// TestStream compares walks with loops over the lists, also of lists that are
// taken as too long to be laid end to end.
func TestStream(t *testing.T) {
	const warps = 40
	r := random()
	off := []uint32{0}
	var data []uint32
	for i := range 32 * warps {
		n := 0
		switch most := []int{1, 4, 20, 90}[i/32%4]; {
		case i/32 >= 8 || i/32 > 0 && r.IntN(3) > 0: // the first warp has no elements
			n = r.IntN(most + 1)
		}
		for range n {
			data = append(data, r.Uint32N(1<<20))
		}
		off = append(off, uint32(len(data)))
	}
	counts, kept, walked := make([]uint32, 32*warps), make([][]uint32, 32*warps), make([]uint32, 32*warps)
	for i := range counts {
		for _, x := range data[off[i]:off[i+1]] {
			walked[i] += x
			if (x+uint32(i%32))%3 == 0 {
				counts[i]++
				kept[i] = append(kept[i], x)
			}
		}
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		err := d.Do(func(c *cuda.Context) error {
			m, err := c.Module(cuda.Source{Name: "stream.cu", Text: streamText, Includes: kernels.Includes(streamText)})
			if err != nil {
				return err
			}
			b := &bench{T: t, c: c, m: m}
			for _, name := range []string{"usual", "wide", "widest"} {
				lists, elements := up(b, off), up(b, data)
				numbers := func() cuda.Buffer { return up(b, make([]uint32, 32*warps)) }
				n, k, w, out := numbers(), numbers(), numbers(), up(b, make([]uint32, len(data)))
				b.run(name, warps, 32, 0, &struct{ Off, Data, Counts, Filtered, Kept, Walked uint64 }{
					lists.Ptr, elements.Ptr, n.Ptr, out.Ptr, k.Ptr, w.Ptr})
				if got := down[uint32](b, n, 32*warps); !slices.Equal(got, counts) {
					t.Errorf("%s: count_each gives %v, want %v", name, got, counts)
				}
				if got := down[uint32](b, w, 32*warps); !slices.Equal(got, walked) {
					t.Errorf("%s: each goes over elements of the sums %v, want %v", name, got, walked)
				}
				sizes, filtered := down[uint32](b, k, 32*warps), down[uint32](b, out, len(data))
				for i := range kept {
					if got := filtered[off[i] : off[i]+sizes[i]]; !slices.Equal(got, kept[i]) {
						t.Errorf("%s: filter_each keeps %v of list %d, want %v", name, got, i, kept[i])
					}
				}
				b.must(c.Free(lists))
				b.must(c.Free(elements))
			}
			return m.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
