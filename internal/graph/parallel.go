package graph

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// threadCount turns an option into a number of goroutines; 0 means all cores.
func threadCount(t int) int {
	if t <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return t
}

// parallel runs f over 0 … n-1 in runs of at most grain on threads goroutines;
// worker says which one calls. It stops early when ctx ends.
func parallel(ctx context.Context, threads int, n, grain uint64, f func(worker int, lo, hi uint64)) error {
	grain = max(grain, 1)
	threads = int(min(uint64(threads), (n+grain-1)/grain))
	if threads <= 1 {
		for lo := uint64(0); lo < n; lo += grain {
			if err := ctx.Err(); err != nil {
				return err
			}
			f(0, lo, min(lo+grain, n))
		}
		return ctx.Err()
	}
	var next atomic.Uint64
	var wg sync.WaitGroup
	var caught atomic.Pointer[workerPanic]
	for w := range threads {
		wg.Go(func() {
			debug.SetPanicOnFault(true) // of a file that became shorter
			defer func() {
				if r := recover(); r != nil {
					caught.Store(&workerPanic{r, debug.Stack()})
				}
			}()
			for ctx.Err() == nil && caught.Load() == nil {
				hi := next.Add(grain)
				lo := hi - grain
				if lo >= n {
					return
				}
				f(w, lo, min(hi, n))
			}
		})
	}
	wg.Wait()
	if s := caught.Load(); s != nil {
		// In the caller's goroutine, where it can be recovered.
		if _, ok := s.value.(runtime.Error); ok {
			panic(s)
		}
		panic(s.Error())
	}
	return ctx.Err()
}

// workerPanic is a panic of another goroutine; it is a runtime.Error.
type workerPanic struct {
	value any
	stack []byte
}

func (p *workerPanic) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

// RuntimeError makes it a runtime.Error.
func (p *workerPanic) RuntimeError() {}

// byWork cuts the vertices into about parts ranges of equal work, where off is
// a running sum of it; vertices themselves count too. It returns the ranges'
// bounds.
func byWork(off []uint64, parts int) []uint32 {
	n := uint32(len(off) - 1)
	cuts := []uint32{0}
	for p := 1; p < parts; p++ {
		if v := Cut(off, 0, n, uint64(p), uint64(parts)); v > cuts[len(cuts)-1] {
			cuts = append(cuts, v)
		}
	}
	if last := cuts[len(cuts)-1]; last < n || n == 0 {
		cuts = append(cuts, n)
	}
	return cuts
}

// Work is the work of the vertices first … end-1, where off is a running sum of
// it, and a vertex itself counts one more.
func Work(off []uint64, first, end uint32) uint64 {
	return off[end] - off[first] + uint64(end-first)
}

// Cut is the vertex at which part p begins when the vertices first … end-1 are
// cut into parts of about equal Work; end for part number parts. A part is empty
// where one vertex is the work of several.
func Cut(off []uint64, first, end uint32, p, parts uint64) uint32 {
	if p >= parts {
		return end
	}
	want := Work(off, first, end) / parts * p
	lo, hi := first, end
	for lo < hi {
		mid := lo + (hi-lo)/2
		if Work(off, first, mid) < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// overVertices runs f over vertex ranges of about equal work.
func overVertices(ctx context.Context, threads int, off []uint64, f func(worker int, lo, hi uint32)) error {
	n := uint64(len(off) - 1)
	parts := int(min(n, 1+(off[n]+n)/16384, uint64(threads)*64))
	cuts := byWork(off, max(parts, 1))
	return parallel(ctx, threads, uint64(len(cuts)-1), 1, func(w int, i, _ uint64) { f(w, cuts[i], cuts[i+1]) })
}

// Parallel runs f over ranges of vertices with about equal work, on threads goroutines (0 means
// all cores). off is a running sum of the work by vertex, such as the offsets of lists. It
// blocks until all calls have returned, and stops early when ctx ends.
func Parallel(ctx context.Context, off []uint64, threads int, f func(lo, hi uint32)) error {
	return overVertices(ctx, threadCount(threads), off, func(_ int, lo, hi uint32) { f(lo, hi) })
}
