package kernels_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/testing/device"
)

// measureText intersects pairs of lists, a group a pair, by the walk or by a
// binary search of every element in the whole of the longer list.
const measureText = `
#include "base/setops.cuh"
struct P { const u32* lists; u32* out; u64* total; u64 pairs; u32 na, nb; };
template <int N, class F> DEV void over(const P& p, F f) {
  Group<N> g;
  u64 sum = 0, step = (u64)blocks() * threads() / N;
  for (u64 i = ((u64)block() * threads() + thread()) / N; i < p.pairs; i += step) {
    const u32* at = p.lists + i * (p.na + p.nb);
    sum += f(g, p.out + i * p.na, Set{at, p.na}, Set{at + p.na, p.nb});
  }
  if (g.leader()) atomic_add(p.total, sum);
}
struct COUNT { template <class G> DEV u32 operator()(G g, u32*, Set a, Set b) const { return intersect_count(g, a, b); } };
struct WRITE { template <class G> DEV u32 operator()(G g, u32* out, Set a, Set b) const { return intersect(g, out, a, b); } };
struct WHOLE { template <class G> DEV u32 operator()(G g, u32*, Set a, Set b) const { return count_if(g, a, [=](u32 x) { return contains(b, x); }); } };
WEFT_KERNEL(count1, P) { over<1>(p, COUNT()); }
WEFT_KERNEL(count4, P) { over<4>(p, COUNT()); }
WEFT_KERNEL(count8, P) { over<8>(p, COUNT()); }
WEFT_KERNEL(count16, P) { over<16>(p, COUNT()); }
WEFT_KERNEL(count32, P) { over<32>(p, COUNT()); }
WEFT_KERNEL(write32, P) { over<32>(p, WRITE()); }
WEFT_KERNEL(whole8, P) { over<8>(p, WHOLE()); }
WEFT_KERNEL(whole32, P) { over<32>(p, WHOLE()); }
`

// TestMeasure prints, as JSON lines, how many list elements a second the set
// operations take on the GPU, elements of both lists together. With WEFT_MEASURE
// set; skipped elsewhere, and where there is no GPU.
func TestMeasure(t *testing.T) {
	if os.Getenv("WEFT_MEASURE") == "" {
		t.Skip("WEFT_MEASURE is not set")
	}
	d, err := cuda.Open(0, device.Objects().Images)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	r := rand.New(rand.NewPCG(device.Seed(), 9))
	err = d.Do(func(c *cuda.Context) error {
		m, err := c.Module(cuda.Source{Name: "measure.cu", Text: measureText, Includes: kernels.Includes(measureText)})
		if err != nil {
			return err
		}
		defer m.Close()
		for _, size := range [][2]int{{8, 8}, {16, 64}, {32, 32}, {32, 512}, {128, 128}, {128, 2048}, {1024, 1024}, {1024, 16384}, {8192, 8192}} {
			if err := measure(c, m, r, d.Info(), size[0], size[1]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func measure(c *cuda.Context, m *cuda.Module, r *rand.Rand, info cuda.Info, na, nb int) error {
	const words = 1 << 26 // 256 MiB: more than L2 holds
	pairs := words / (na + nb)
	lists := make([]uint32, pairs*(na+nb))
	want := uint64(0)
	// Some pairs are drawn, the rest are these again elsewhere in memory.
	drawn := min(pairs, 64)
	for i := range pairs {
		at := lists[i*(na+nb):]
		if i >= drawn {
			copy(at[:na+nb], lists[i%drawn*(na+nb):])
		} else {
			copy(at, randomSet(r, na, 3*nb))
			copy(at[na:], randomSet(r, nb, 3*nb))
		}
	}
	for i := range drawn {
		at := lists[i*(na+nb):]
		n := uint64(0)
		for _, x := range at[:na] {
			if _, ok := slices.BinarySearch(at[na:na+nb], x); ok {
				n++
			}
		}
		want += n * uint64((pairs-i+drawn-1)/drawn)
	}
	var bufs [3]cuda.Buffer
	for i, bytes := range []int{4 * len(lists), 4 * pairs * na, 8} {
		b, err := c.Alloc(int64(bytes))
		if err != nil {
			return err
		}
		defer c.Free(b)
		bufs[i] = b
	}
	if err := cuda.Upload(c, bufs[0], 0, lists); err != nil {
		return err
	}
	start, err := c.Event()
	if err != nil {
		return err
	}
	defer start.Close()
	end, err := c.Event()
	if err != nil {
		return err
	}
	defer end.Close()
	p := struct {
		Lists, Out, Total, Pairs uint64
		NA, NB                   uint32
	}{bufs[0].Ptr, bufs[1].Ptr, bufs[2].Ptr, uint64(pairs), uint32(na), uint32(nb)}
	for _, name := range []string{"count1", "count4", "count8", "count16", "count32", "write32", "whole8", "whole32"} {
		k, err := m.Kernel(name)
		if err != nil {
			return err
		}
		blocks, err := k.Resident(256, 0)
		if err != nil {
			return err
		}
		var ms []float64
		for range 6 { // the first warms up
			if err := c.Clear(bufs[2], nil); err != nil {
				return err
			}
			if err := start.Record(nil); err != nil {
				return err
			}
			if err := k.Launch(cuda.Launch{Blocks: blocks, Threads: 256}, &p); err != nil {
				return err
			}
			if err := end.Record(nil); err != nil {
				return err
			}
			if err := end.Synchronize(); err != nil {
				return err
			}
			took, err := end.Since(start)
			if err != nil {
				return err
			}
			ms = append(ms, took.Seconds()*1e3)
		}
		got := make([]uint64, 1)
		if err := cuda.Download(c, got, bufs[2], 0); err != nil {
			return err
		}
		if got[0] != want {
			return fmt.Errorf("%s of %d and %d: %d elements in common, want %d", name, na, nb, got[0], want)
		}
		slices.Sort(ms[1:])
		median := ms[3]
		line, err := json.Marshal(map[string]any{
			"device": info.Name, "kernel": name, "a": na, "b": nb, "pairs": pairs, "registers": k.Registers,
			"ms": median, "spread_ms": ms[5] - ms[1], "giga_elements_per_s": float64(len(lists)) / median / 1e6,
		})
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return nil
}
