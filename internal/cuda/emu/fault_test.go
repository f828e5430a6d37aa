//go:build linux && (amd64 || arm64)

package emu

import (
	_ "embed"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

//go:embed testdata/faults.cu
var faults string

// faultParams is the argument of every kernel in faults.cu.
type faultParams struct {
	Cells uint64
	N     uint64
}

// try launches a kernel of faults.cu over 100 cleared cells of 4 bytes, and returns the launch's error and the cells.
func try(t *testing.T, o Options, kernel string, l cuda.Launch, n int64) ([]uint32, error) {
	t.Helper()
	d, err := Open(o)
	if errors.Is(err, cuda.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	cells := make([]uint32, 100)
	err = d.Do(func(c *cuda.Context) error {
		m, err := c.Module(cuda.Source{Name: "faults.cu", Text: faults, Includes: kernels.Includes(faults), Debug: true})
		if err != nil {
			return err
		}
		k, err := m.Kernel(kernel)
		if err != nil {
			return err
		}
		b, err := c.Alloc(400)
		if err != nil {
			return err
		}
		if err := c.Clear(b, nil); err != nil {
			return err
		}
		if err := k.Launch(l, &faultParams{Cells: b.Ptr, N: uint64(n)}); err != nil {
			return err
		}
		return cuda.Download(c, cells, b, 0)
	})
	return cells, err
}

// TestFaults runs kernels that break a rule, in order and shuffled. The device must say which and where, and be lost.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		kernel string
		l      cuda.Launch
		n      int64
		want   []string // parts of the error
	}{
		{"outside_mask", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"reads lane", "not in the mask", "faults.cu:"}},
		{"not_in_own_mask", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"lane 31", "not in its own mask"}},
		{"returned_before", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"lane 5", "return"}},
		{"no_such_lanes", cuda.Launch{Blocks: 1, Threads: 40}, 0, []string{"warp 1", "lanes 8-31 do not exist"}},
		{"two_kinds", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"ballot", "any", "same mask"}},
		{"crossed_masks", cuda.Launch{Blocks: 2, Threads: 64}, 0, []string{"deadlock", "wait in sync_warp(0x", "faults.cu:"}},
		{"barrier_and_collective", cuda.Launch{Blocks: 1, Threads: 64}, 0, []string{"deadlock", "sync_block", "ballot"}},
		{"two_barriers", cuda.Launch{Blocks: 1, Threads: 64}, 0, []string{"sync_block_or", "sync_block_count"}},
		{"waits_for_all", cuda.Launch{Blocks: 50, Threads: 32}, 50, []string{"no progress", "not resident", "blocks 8 to 49", "waits in spin"}},
		{"never_set", cuda.Launch{Blocks: 2, Threads: 64}, 0, []string{"no progress", "in spin at faults.cu:"}},
		{"never_set_block", cuda.Launch{Blocks: 2, Threads: 64}, 0, []string{"no progress"}},
		{"runs_on", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"no progress", "without ever calling spin"}},
		{"writes_at", cuda.Launch{Blocks: 1, Threads: 32}, 100, []string{"outside an allocation", "byte 400 of 400"}},
		{"writes_at", cuda.Launch{Blocks: 1, Threads: 32}, -1, []string{"outside an allocation", "byte -4 of 400"}},
		{"writes_at", cuda.Launch{Blocks: 1, Threads: 32}, 1000, []string{"byte 4000 of an allocation of 400 bytes"}},
		{"reads_null", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"null pointer"}},
		{"shared_at", cuda.Launch{Blocks: 1, Threads: 32, Shared: 100}, 25, []string{"outside its shared memory", "offset 100 of 100"}},
		{"shared_at", cuda.Launch{Blocks: 1, Threads: 32, Shared: 100}, 1000, []string{"byte 4000 of 100 bytes of shared memory"}},
		{"misaligned", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"not aligned"}},
		{"traps", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"runs into a trap"}},
		{"divides", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"divides by zero"}},
		{"overflows_stack", cuda.Launch{Blocks: 1, Threads: 32}, 1 << 40, []string{"more than its stack"}},
		{"asserts", cuda.Launch{Blocks: 2, Threads: 32}, 7, []string{"thread 7 of block 1", "assertion failed", "faults.cu:"}},
		{"copies_to_global", cuda.Launch{Blocks: 1, Threads: 32, Shared: 64}, 0, []string{"is not shared memory"}},
		{"odd_width", cuda.Launch{Blocks: 1, Threads: 32}, 0, []string{"not a power of 2"}},
	} {
		for _, seed := range []uint64{0, 5} {
			o := Options{Seed: seed}
			if c.want[0] == "no progress" {
				o.Patience = 400 * time.Millisecond
			}
			began := time.Now()
			_, err := try(t, o, c.kernel, c.l, c.n)
			if !errors.Is(err, cuda.ErrLaunch) || !errors.Is(err, cuda.ErrLost) {
				t.Errorf("%s, %d, seed %d: %v", c.kernel, c.n, seed, err)
				continue
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s, %d, seed %d: no %q in: %v", c.kernel, c.n, seed, part, err)
				}
			}
			if d := time.Since(began); d > 2*time.Minute { // the first compiles
				t.Errorf("%s: found after %v", c.kernel, d)
			}
		}
	}
}

// TestShuffledSchedule runs kernels that are wrong but work while lanes run in order; some seed must show it.
func TestShuffledSchedule(t *testing.T) {
	right := func(cells []uint32) bool { return cells[0] == 1 }
	for _, kernel := range []string{"forgets_barrier", "forgets_sync_warp", "forgets_copy_wait"} {
		found := false
		for seed := uint64(1); seed <= 20 && !found; seed++ {
			cells, err := try(t, Options{Seed: seed}, kernel, cuda.Launch{Blocks: 1, Threads: 64, Shared: 512}, 0)
			if err != nil {
				t.Fatal(err)
			}
			found = !right(cells)
		}
		if !found {
			t.Errorf("%s: no seed shows the mistake", kernel)
		}
	}
}

// With one thread of the host a seed stands for one order.
func TestSeedRepeats(t *testing.T) {
	order := func(seed uint64) []uint32 {
		cells, err := try(t, Options{Seed: seed, Threads: 1}, "order", cuda.Launch{Blocks: 3, Threads: 32}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return cells
	}
	first, again, other := order(3), order(3), order(4)
	same := func(a, b []uint32) bool {
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	if !same(first, again) {
		t.Errorf("seed 3 gave %v and then %v", first, again)
	}
	if same(first, other) {
		t.Errorf("seeds 3 and 4 gave the same order %v", first)
	}
}

// Fresh memory, device and shared, has a pattern.
func TestFreshMemory(t *testing.T) {
	cells, err := try(t, Options{}, "fresh", cuda.Launch{Blocks: 1, Threads: 32, Shared: 64}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if cells[0] != 0xa5a5a5a5 {
		t.Errorf("shared memory begins with %#x", cells[0])
	}
	onDevice(t, Options{}, func(c *cuda.Context) error {
		for _, bytes := range []int64{4, 400, 5000, 9<<20 + 12} {
			b, err := c.Alloc(bytes)
			if err != nil {
				return err
			}
			got := make([]byte, bytes)
			if err := cuda.Download(c, got, b, 0); err != nil {
				return err
			}
			for i, x := range got {
				if x != 0xa5 {
					t.Fatalf("byte %d of %d is %#x", i, bytes, x)
				}
			}
			if err := c.Free(b); err != nil {
				return err
			}
		}
		return nil
	})
}

func onDevice(t *testing.T, o Options, f func(c *cuda.Context) error) {
	t.Helper()
	d, err := Open(o)
	if errors.Is(err, cuda.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Do(f), d.Close()); err != nil {
		t.Error(err)
	}
}

func TestMemoryLimit(t *testing.T) {
	onDevice(t, Options{Memory: 1 << 20}, func(c *cuda.Context) error {
		a, err := c.Alloc(1 << 19)
		if err != nil {
			return err
		}
		if _, err := c.Alloc(1<<19 + 1); !errors.Is(err, cuda.ErrMemory) || errors.Is(err, cuda.ErrLost) {
			t.Errorf("too much memory: %v", err)
		}
		free, total, err := c.Memory()
		if err != nil || free != 1<<19 || total != 1<<20 {
			t.Errorf("%d of %d bytes are free, %v", free, total, err)
		}
		b, err := c.Alloc(1 << 19)
		if err != nil {
			return err
		}
		return errors.Join(c.Free(a), c.Free(b))
	})
}

// writingAt runs f with the kernel writes_at, on a device of its own, and returns
// the device and what came of it.
func writingAt(t *testing.T, f func(c *cuda.Context, k *cuda.Kernel) error) (*cuda.Device, error) {
	t.Helper()
	d, err := Open(Options{})
	if errors.Is(err, cuda.ErrNoCompiler) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, d.Do(func(c *cuda.Context) error {
		m, err := c.Module(cuda.Source{Name: "faults.cu", Text: faults, Includes: kernels.Includes(faults), Debug: true})
		if err != nil {
			return err
		}
		k, err := m.Kernel("writes_at")
		if err != nil {
			return err
		}
		return f(c, k)
	})
}

// A kernel that uses memory that was freed is found out.
func TestUseAfterFree(t *testing.T) {
	d, err := writingAt(t, func(c *cuda.Context, k *cuda.Kernel) error {
		b, err := c.Alloc(400)
		if err != nil {
			return err
		}
		if err := c.Free(b); err != nil {
			return err
		}
		if err := k.Launch(cuda.Launch{Blocks: 1, Threads: 32}, &faultParams{Cells: b.Ptr, N: 0}); err != nil {
			return err
		}
		return c.Synchronize()
	})
	if !errors.Is(err, cuda.ErrLost) || !strings.Contains(err.Error(), "freed") {
		t.Error(err)
	}
	if err := d.Do(func(*cuda.Context) error { return nil }); !errors.Is(err, cuda.ErrLost) {
		t.Errorf("after the fault: %v", err)
	}
}

func TestPinnedOverrun(t *testing.T) {
	_, err := writingAt(t, func(c *cuda.Context, k *cuda.Kernel) error {
		p, err := c.Pinned(400)
		if err != nil {
			return err
		}
		if err := k.Launch(cuda.Launch{Blocks: 1, Threads: 32}, &faultParams{Cells: p.Ptr(), N: 100}); err != nil {
			return err
		}
		return errors.Join(c.Synchronize(), p.Free())
	})
	if err == nil || !strings.Contains(err.Error(), "byte 400 of 400") {
		t.Error(err)
	}
}

func TestDoesNotCompile(t *testing.T) {
	onDevice(t, Options{}, func(c *cuda.Context) error {
		_, err := c.Module(cuda.Source{Name: "wrong.cu", Text: "#include \"base/device.cuh\"\nDEV u32 f() { return nothing; }\n", Includes: kernels.Includes("#include \"base/device.cuh\"\nDEV u32 f() { return nothing; }\n")})
		if !errors.Is(err, cuda.ErrCompile) || errors.Is(err, cuda.ErrLost) || !strings.Contains(err.Error(), "wrong.cu:2") {
			t.Error(err)
		}
		return nil
	})
}

func TestOccupancy(t *testing.T) {
	onDevice(t, Options{SMs: 3, BlocksPerSM: 6, ThreadsPerSM: 1024, SharedPerBlock: 48 << 10}, func(c *cuda.Context) error {
		m, err := c.Module(cuda.Source{Name: "faults.cu", Text: faults, Includes: kernels.Includes(faults), Debug: true})
		if err != nil {
			return err
		}
		k, err := m.Kernel("order")
		if err != nil {
			return err
		}
		for _, o := range []struct{ threads, shared, want int }{{32, 0, 6}, {256, 0, 4}, {1024, 0, 1}, {32, 48 << 10, 2}, {128, 20 << 10, 4}, {2048, 0, 0}} {
			n, err := k.Occupancy(o.threads, o.shared)
			if err != nil || n != o.want {
				t.Errorf("%d threads, %d bytes: %d blocks, %v; want %d", o.threads, o.shared, n, err, o.want)
			}
		}
		n, err := k.Resident(256, 0)
		if err != nil || n != 12 {
			t.Errorf("%d blocks are resident, %v", n, err)
		}
		return nil
	})
}
