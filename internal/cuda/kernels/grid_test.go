package kernels_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/testing/long"
)

func TestWhere(t *testing.T) {
	type where struct{ Thread, Threads, Block, Blocks, Lane, Warp, Warps, SharedBytes uint32 }
	onEach(t, func(b *bench) {
		grids := []struct{ blocks, threads, shared int }{{1, 1, 0}, {3, 32, 16}, {2, 40, 1000}, {20, 32, 64}, {5, 256, 4096}, {40, 128, 64}}
		if !long.Asked() {
			grids = grids[:4]
		}
		for _, g := range grids {
			n := g.blocks * g.threads
			out := up(b, make([]where, n))
			b.run("where", g.blocks, g.threads, g.shared, &struct{ Out uint64 }{out.Ptr})
			for i, got := range down[where](b, out, n) {
				t := i % g.threads
				want := where{uint32(t), uint32(g.threads), uint32(i / g.threads), uint32(g.blocks), uint32(t % 32), uint32(t / 32), uint32((g.threads + 31) / 32), uint32(g.shared)}
				if got != want {
					b.Fatalf("%+v: %+v, want %+v", g, got, want)
				}
			}
		}
	})
}

func TestPassingBetweenBlocks(t *testing.T) {
	onEach(t, func(b *bench) {
		blocks, err := b.kernel("passing").Resident(32, 0)
		b.must(err)
		blocks = min(blocks, 64)
		data, flag, sum := up(b, make([]uint64, 32*blocks)), up(b, make([]uint32, blocks+1)), up(b, []uint64{0})
		b.run("passing", blocks, 32, 0, &struct{ Data, Flag, Sum uint64 }{data.Ptr, flag.Ptr, sum.Ptr})
		var want uint64
		for l := range uint64(32) {
			x := l
			for range blocks {
				x = 3*x + 1
			}
			want += x
		}
		if got := down[uint64](b, sum, 1)[0]; got != want {
			b.Errorf("%d, want %d", got, want)
		}
		b.must(b.c.Free(data))
		b.must(b.c.Free(flag))
	})
}

// The grid is larger than what is resident, and blocks share tasks and a lock.
func TestTasks(t *testing.T) {
	threads := 128
	if !long.Asked() {
		threads = 32
	}
	onEach(t, func(b *bench) {
		resident, err := b.kernel("tasks").Resident(threads, 0)
		b.must(err)
		for _, blocks := range []int{1, resident, 3*resident + 1} {
			const tasks = 500
			cells := up(b, make([]uint64, 4))
			b.run("tasks", blocks, threads, 0, &struct{ Next, Lock, Guarded, Done, Tasks uint64 }{cells.Ptr, cells.Ptr + 8, cells.Ptr + 16, cells.Ptr + 24, tasks})
			got := down[uint64](b, cells, 4)
			const sum = tasks * (tasks - 1) / 2
			if want := uint64(tasks + threads/32*blocks); got[0] != want || got[1] != 0 || got[2] != sum || got[3] != sum*(32*33/2) {
				b.Errorf("%d blocks: %v", blocks, got)
			}
		}
	})
}

func TestHostStopsKernel(t *testing.T) {
	onEach(t, func(b *bench) {
		pinned, err := b.c.Pinned(16)
		b.must(err)
		cells, err := cuda.View[uint64](pinned, 0, 2)
		b.must(err)
		stream, err := b.c.Stream()
		b.must(err)
		k := b.kernel("until_stopped")
		blocks, err := k.Resident(64, 0)
		b.must(err)
		b.must(k.Launch(cuda.Launch{Blocks: blocks, Threads: 64, Stream: stream}, &struct{ Stop, Progress uint64 }{pinned.Ptr(), pinned.Ptr() + 8}))
		deadline := time.Now().Add(3 * time.Minute)
		for atomic.LoadUint64(&cells[1]) < 1000 && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		done, err := stream.Done()
		b.must(err)
		if progress := atomic.LoadUint64(&cells[1]); done || progress < 1000 {
			b.Errorf("before the stop: ended %v, progress %d", done, progress)
		}
		stopped := time.Now()
		atomic.StoreUint64(&cells[0], 1)
		b.must(stream.Synchronize())
		if d := time.Since(stopped); d > 3*time.Minute {
			b.Errorf("the kernel ran on for %v", d)
		}
		b.must(stream.Close())
		b.must(pinned.Free())
	})
}

func TestHostTalksWithKernel(t *testing.T) {
	onEach(t, func(b *bench) {
		pinned, err := b.c.Pinned(16)
		b.must(err)
		cells, err := cuda.View[uint64](pinned, 0, 2)
		b.must(err)
		const rounds = 100
		b.must(b.kernel("talk").Launch(cuda.Launch{Blocks: 2, Threads: 64}, &struct {
			Ask, Tell uint64
			Rounds, _ uint32
		}{Ask: pinned.Ptr(), Tell: pinned.Ptr() + 8, Rounds: rounds}))
		deadline := time.Now().Add(3 * time.Minute)
		for r := uint64(1); r <= rounds; r++ {
			atomic.StoreUint64(&cells[0], r)
			for atomic.LoadUint64(&cells[1]) != r*r {
				if time.Now().After(deadline) {
					b.Fatalf("no answer to %d", r)
				}
				time.Sleep(10 * time.Microsecond)
			}
		}
		b.must(b.c.Synchronize())
		b.must(pinned.Free())
	})
}

func TestTimes(t *testing.T) {
	onEach(t, func(b *bench) {
		out := up(b, make([]uint64, 2))
		first, err := b.c.Event()
		b.must(err)
		last, err := b.c.Event()
		b.must(err)
		began := time.Now()
		b.must(first.Record(nil))
		b.run("times", 1, 1, 0, &struct{ Out uint64 }{out.Ptr})
		b.must(last.Record(nil))
		b.must(last.Synchronize())
		took := time.Since(began)
		event, err := last.Since(first)
		b.must(err)
		got := down[uint64](b, out, 2)
		if inside := time.Duration(got[0]); inside <= 0 || inside > took || got[1] == 0 || event < inside/2 || event > took {
			b.Errorf("in the kernel %v and %d cycles, between events %v, on the host %v", inside, got[1], event, took)
		}
		b.must(first.Close())
		b.must(last.Close())
	})
}

func TestLaunchBounds(t *testing.T) {
	onEach(t, func(b *bench) {
		k := b.kernel("bounded")
		if k.MaxThreads != 128 {
			b.Errorf("at most %d threads, want 128", k.MaxThreads)
		}
		out := up(b, make([]uint32, 2))
		p := struct{ Out uint64 }{out.Ptr}
		if err := k.Launch(cuda.Launch{Blocks: 2, Threads: 160}, &p); err == nil {
			b.Error("160 threads were launched")
		}
		b.run("bounded", 2, 128, 0, &p)
		if got := down[uint32](b, out, 2); got[0] != 128 || got[1] != 128 {
			b.Errorf("%v", got)
		}
	})
}
