package session

import (
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	devices "github.com/weftgraph/weft/internal/testing/device"
)

// layoutText writes where the compiler puts the fields of the shared structs.
const layoutText = `
#include "base/steal.cuh"
struct P { u64* out; };
#define AT(T, f) p.out[i++] = (u64)&((T*)4096)->f - 4096 // NVRTC has no offsetof
WEFT_KERNEL(layout, P) {
  if (thread() != 0) return;
  u32 i = 0;
  p.out[i++] = sizeof(Run);
  AT(Run, control); AT(Run, counters); AT(Run, roots); AT(Run, ring); AT(Run, tasks);
  AT(Run, ring_rows); AT(Run, ring_width); AT(Run, chunk); AT(Run, vertices);
  p.out[i++] = sizeof(Control);
  AT(Control, stop); AT(Control, posted); AT(Control, closed); AT(Control, drained);
  AT(Control, fault); AT(Control, taken); AT(Control, fault_at); AT(Control, done); AT(Control, found); AT(Control, grant);
  p.out[i++] = sizeof(Counters);
  AT(Counters, matches); AT(Counters, visits); AT(Counters, lanes_busy); AT(Counters, lanes_all);
  AT(Counters, steals_block); AT(Counters, steals_grid); AT(Counters, user); AT(Counters, turn);
  AT(Counters, poll_at); AT(Counters, stop); AT(Counters, fault); AT(Counters, overflow);
  AT(Counters, cursor); AT(Counters, installing); AT(Counters, finished);
  AT(Counters, reserved); AT(Counters, drained); AT(Counters, grant);
  p.out[i++] = sizeof(Grant);
  AT(Grant, first); AT(Grant, count); AT(Grant, before);
  p.out[i++] = sizeof(Market);
  AT(Market, idle); AT(Market, map); AT(Market, fed); AT(Market, mail); AT(Market, mail_bytes); AT(Market, blocks);
  p.out[i++] = MAX_LEVELS; p.out[i++] = GRANTS; p.out[i++] = CURSOR_BITS;
  p.out[i++] = ~0ull;
}
`

func TestLayoutCompilesForGPUs(t *testing.T) {
	check.CompileCheck(t, cuda.Source{Name: "layout.cu", Text: layoutText})
}

// TestLayout: Go's structs are the compiled ones, field by field.
func TestLayout(t *testing.T) {
	var (
		r run
		c control
		k counters
		g grant
		m Market
	)
	var want []uint64
	add := func(at ...uintptr) {
		for _, x := range at {
			want = append(want, uint64(x))
		}
	}
	add(unsafe.Sizeof(r))
	add(unsafe.Offsetof(r.Control), unsafe.Offsetof(r.Counters), unsafe.Offsetof(r.Roots), unsafe.Offsetof(r.Ring), unsafe.Offsetof(r.Tasks))
	add(unsafe.Offsetof(r.RingRows), unsafe.Offsetof(r.RingWidth), unsafe.Offsetof(r.Chunk), unsafe.Offsetof(r.Vertices))
	add(unsafe.Sizeof(c))
	add(unsafe.Offsetof(c.Stop), unsafe.Offsetof(c.Posted), unsafe.Offsetof(c.Closed), unsafe.Offsetof(c.Drained))
	add(unsafe.Offsetof(c.Fault), unsafe.Offsetof(c.Taken), unsafe.Offsetof(c.FaultAt), unsafe.Offsetof(c.Done), unsafe.Offsetof(c.Found), unsafe.Offsetof(c.Grant))
	add(unsafe.Sizeof(k))
	add(unsafe.Offsetof(k.Matches), unsafe.Offsetof(k.Visits), unsafe.Offsetof(k.LanesBusy), unsafe.Offsetof(k.LanesAll))
	add(unsafe.Offsetof(k.StealsBlock), unsafe.Offsetof(k.StealsGrid), unsafe.Offsetof(k.User), unsafe.Offsetof(k.Turn))
	add(unsafe.Offsetof(k.PollAt), unsafe.Offsetof(k.Stop), unsafe.Offsetof(k.Fault), unsafe.Offsetof(k.Overflow))
	add(unsafe.Offsetof(k.Cursor), unsafe.Offsetof(k.Installing), unsafe.Offsetof(k.Finished))
	add(unsafe.Offsetof(k.Reserved), unsafe.Offsetof(k.Drained), unsafe.Offsetof(k.Grant))
	add(unsafe.Sizeof(g))
	add(unsafe.Offsetof(g.First), unsafe.Offsetof(g.Count), unsafe.Offsetof(g.Before))
	add(unsafe.Sizeof(m))
	add(unsafe.Offsetof(m.Idle), unsafe.Offsetof(m.Map), unsafe.Offsetof(m.Fed), unsafe.Offsetof(m.Mail), unsafe.Offsetof(m.MailBytes), unsafe.Offsetof(m.Blocks))
	add(maxLevels, maxGrants, cursorBits)
	want = append(want, ^uint64(0))
	devices.Each(t, func(t *testing.T, d *cuda.Device) {
		got := make([]uint64, len(want))
		err := d.Do(func(c *cuda.Context) error {
			m, err := c.Module(cuda.Source{Name: "layout.cu", Text: layoutText, Includes: kernels.Includes(layoutText)})
			if err != nil {
				return err
			}
			defer m.Close()
			k, err := m.Kernel("layout")
			if err != nil {
				return err
			}
			b, err := c.Alloc(int64(8 * len(want)))
			if err != nil {
				return err
			}
			defer c.Free(b)
			if err := k.Launch(cuda.Launch{Blocks: 1, Threads: 32}, &struct{ Out uint64 }{b.Ptr}); err != nil {
				return err
			}
			return cuda.Download(c, got, b, 0)
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("number %d is %d on the device and %d here", i, got[i], want[i])
			}
		}
	})
}
