package bind

import (
	"github.com/weftgraph/weft/internal/plan"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// bitsChunk is the number of ids that one goroutine decides at a time.
const bitsChunk = 1 << 15

// endedEvery is how many ids are looked at before it is asked again whether their bits
// are wanted: one may take milliseconds, where a condition is long.
const endedEvery = 64

// fillBits makes a bitmap over 0 … n-1 of the ids in ranges that pass, on all
// cores. Each goroutine asks make for a function of its own, and leaves the rest
// out once the bits are not wanted any more, which ended says.
func fillBits(n int, ranges []plan.Range, ended func() bool, make_ func() func(uint32) bool) []uint64 {
	set := make([]uint64, (n+63)/64)
	chunks := (n + bitsChunk - 1) / bitsChunk
	fill := func(pass func(uint32) bool, chunk int) {
		lo, hi := uint32(chunk*bitsChunk), uint32(min((chunk+1)*bitsChunk, n))
		for _, r := range ranges {
			for v := max(r.First, lo); v < min(r.End, hi); v++ {
				if v%endedEvery == 0 && ended() {
					return
				}
				if pass(v) {
					set[v/64] |= 1 << (v % 64)
				}
			}
		}
	}
	workers := min(runtime.GOMAXPROCS(0), chunks)
	if workers <= 1 {
		if chunks > 0 {
			fill(make_(), 0)
		}
		for c := 1; c < chunks && !ended(); c++ {
			fill(make_(), c)
		}
		return set
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var caught atomic.Pointer[any]
	for range workers {
		wg.Go(func() {
			debug.SetPanicOnFault(true) // of a file that became shorter
			defer func() {
				if x := recover(); x != nil {
					caught.Store(&x)
					next.Store(int64(chunks)) // the others leave
				}
			}()
			pass := make_()
			for {
				c := int(next.Add(1)) - 1
				if c >= chunks || ended() {
					return
				}
				fill(pass, c)
			}
		})
	}
	wg.Wait()
	if x := caught.Load(); x != nil {
		panic(*x)
	}
	return set
}
