package cuda

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// The host sees what a kernel writes while it runs, and stops it. Other streams go on meanwhile.
func TestGPUWhileAKernelRuns(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		add, wait := gpuKernel(t, c, "add"), gpuKernel(t, c, "wait")
		p, err := c.Pinned(16)
		if err != nil {
			return err
		}
		cell, err := View[uint64](p, 0, 2)
		if err != nil {
			return err
		}
		stop, progress := &cell[0], &cell[1]
		s, err := c.Stream()
		if err != nil {
			return err
		}
		b, err := c.Alloc(16)
		if err != nil {
			return err
		}
		if err := wait.Launch(Launch{Blocks: 1, Threads: 1, Stream: s}, &gpuWait{p.Ptr(), 200e9}); err != nil {
			return err
		}
		last := uint64(0)
		for range 3 { // it must be seen to go on
			for begin := time.Now(); atomic.LoadUint64(progress) <= last; runtime.Gosched() {
				if time.Since(begin) > time.Minute {
					t.Fatal("no progress is seen")
				}
			}
			last = atomic.LoadUint64(progress)
		}
		words := make([]uint32, 4)
		if err := errors.Join(Upload(c, b, 0, []uint32{1, 2, 3, 4}), add.Launch(Launch{Blocks: 1, Threads: 4}, &addParams{b.Ptr, 4, 1}),
			Download(c, words, b, 0)); err != nil {
			return err
		}
		if want := []uint32{2, 3, 4, 5}; !slices.Equal(words, want) {
			t.Errorf("while a kernel runs: %v, not %v", words, want)
		}
		if done, err := s.Done(); done || err != nil {
			t.Errorf("still running, and done is %v, %v", done, err)
		}
		begin := time.Now()
		atomic.StoreUint64(stop, 1)
		if err := s.Synchronize(); err != nil {
			return err
		}
		took := time.Since(begin)
		t.Logf("stopped after %v", took)
		if took > time.Minute { // by itself it ends after three
			t.Errorf("stopping took %v", took)
		}
		if done, err := s.Done(); !done || err != nil {
			t.Errorf("stopped, and done is %v, %v", done, err)
		}
		return errors.Join(s.Close(), p.Free(), c.Free(b))
	})
}

// What can be done while a kernel runs without waiting for its end, for who writes persistent kernels.
func TestGPUCallsBesideAKernel(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		wait := gpuKernel(t, c, "wait")
		p, err := c.Pinned(16)
		if err != nil {
			return err
		}
		s, err := c.Stream()
		if err != nil {
			return err
		}
		var b Buffer
		var q *Pinned
		var m *Module
		for _, step := range []struct {
			name string
			f    func() error
		}{
			{"Alloc", func() (err error) { b, err = c.Alloc(1 << 20); return err }},
			{"Clear", func() error { return c.Clear(b, nil) }},
			{"Free", func() error { return c.Free(b) }},
			{"Pinned", func() (err error) { q, err = c.Pinned(1 << 20); return err }},
			{"Pinned.Free", func() error { return q.Free() }},
			{"Memory", func() error { _, _, err := c.Memory(); return err }},
			{"Stream", func() error { return second(c.Stream()) }},
			{"Module", func() (err error) {
				m, err = c.Module(Source{Name: "other.cu", Text: gpuKernels + "// " + time.Now().String()})
				return err
			}},
			{"Kernel", func() error { return second(m.Kernel("add")) }},
		} {
			if err := wait.Launch(Launch{Blocks: 1, Threads: 1, Stream: s}, &gpuWait{p.Ptr(), 3e8}); err != nil {
				return err
			}
			begin := time.Now()
			if err := step.f(); err != nil {
				return err
			}
			took := time.Since(begin)
			done, err := s.Done()
			if err != nil {
				return err
			}
			t.Logf("%-12s %8v, the kernel has ended: %v", step.name, took.Round(time.Microsecond), done)
			if err := s.Synchronize(); err != nil {
				return err
			}
		}
		return errors.Join(s.Close(), p.Free())
	})
}

func TestGPUEvents(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		wait := gpuKernel(t, c, "wait")
		p, err := c.Pinned(16)
		if err != nil {
			return err
		}
		begin, err := c.Event()
		if err != nil {
			return err
		}
		end, err := c.Event()
		if err != nil {
			return err
		}
		if err := errors.Join(begin.Record(nil), wait.Launch(Launch{Blocks: 1, Threads: 1}, &gpuWait{p.Ptr(), 20e6}), end.Record(nil), end.Synchronize()); err != nil {
			return err
		}
		took, err := end.Since(begin)
		if took < 19*time.Millisecond || took > time.Minute { // other kernels may run between
			t.Errorf("a kernel of 20 ms took %v", took)
		}
		return errors.Join(err, begin.Close(), end.Close(), p.Free())
	})
}
