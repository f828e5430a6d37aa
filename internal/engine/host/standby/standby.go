// Package standby keeps goroutines awake for work that is about to come.
//
// Waking a thread that sleeps takes tens of microseconds, and Go's scheduler wakes
// one after another: on 16 cores the last worker of a search begins a millisecond
// after the first, which is longer than many searches. Whoever knows that a search
// is near calls Wake, and prepares it while the threads wake up; the search begins
// its workers with Go. Those that wait do so by spinning, each on a processor of its
// own, and no longer than Patience.
//
// It knows nothing of searches.
package standby

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Patience is how long a goroutine waits for work after the last call of Wake.
const Patience = 5 * time.Millisecond

// most bounds the goroutines that wait.
const most = 256

var (
	// waiting are those that wait, less those for whom there is work in the queue.
	// Who takes one off it, be it to give work or to leave, owns that change: so
	// there is somebody for everything in the queue.
	waiting atomic.Int32
	queue   = make(chan func(), most)
	until   atomic.Int64 // nanoseconds since epoch
	epoch   = time.Now()
)

// Wake sees to it that n goroutines wait for work, or as many as leave the caller a
// processor.
func Wake(n int) {
	n = min(n, runtime.GOMAXPROCS(0)-1, most)
	until.Store(int64(time.Since(epoch) + Patience))
	for {
		w := waiting.Load()
		if int(w) >= n {
			return
		}
		if waiting.CompareAndSwap(w, w+1) {
			go wait()
		}
	}
}

// Go runs f in a goroutine: one that waits, if there is one.
func Go(f func()) {
	if claim() {
		queue <- f
		return
	}
	go f()
}

// claim takes one off those that wait.
func claim() bool {
	for {
		w := waiting.Load()
		if w <= 0 {
			return false
		}
		if waiting.CompareAndSwap(w, w-1) {
			return true
		}
	}
}

// looks is how often a waiting goroutine looks into the queue before it lets others
// have its processor.
const looks = 256

// wait runs the work that it is given, or leaves when its time is over.
func wait() {
	for {
		for range looks {
			if len(queue) > 0 {
				select {
				case f := <-queue:
					f()
					return
				default: // another was faster
				}
			}
		}
		if int64(time.Since(epoch)) > until.Load() {
			if claim() {
				return
			}
			f := <-queue // all that wait are wanted
			f()
			return
		}
		runtime.Gosched()
	}
}
