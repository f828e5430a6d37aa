// Package crew runs the workers of a search. It has threads stand by for them. When no work is
// left, it does not wait for a worker that has not begun.
//
// It must not know what the workers do.
//
// Why: Go wakes its threads one after another. On 16 cores the last goroutine of a search
// begins a millisecond after the first, when the others may already have done all the work of a
// small search. Threads that stand by are woken together (standby.go) and have memory at hand
// (memory.go).
package crew

import (
	"runtime/debug"
	"sync/atomic"
	"time"
)

// A Crew is the goroutines of one search. Without a Pool they are new ones. After Wait the
// Crew has been used up: Go then runs nothing.
//
// They end a small search at the same moment: that they have is one atomic addition,
// where a mutex would have them wake each other, one by one.
type Crew struct {
	Pool  *Pool         // whose threads work
	state atomic.Int64  // how many are at work, and over
	ended atomic.Uint32 // 1: the last of them has
	last  chan bool     // says so where none stands by
}

const over = 1 << 32 // Wait was called

// Go runs f in a goroutine, if that begins before Wait is called, with memory that
// f alone uses, or nil. A fault, as in a mapped file that became shorter, is a panic there.
func (c *Crew) Go(f func(m *Memory)) {
	c.Pool.run(func(m *Memory) {
		for {
			now := c.state.Load()
			if now >= over {
				return
			}
			if c.state.CompareAndSwap(now, now+1) {
				break
			}
		}
		defer func() {
			if c.state.Add(-1) == over {
				c.end()
			}
		}()
		debug.SetPanicOnFault(true)
		f(m)
	})
}

// Spread runs f for workers 1 to n by Go. The caller wakes worker 1 alone, and each worker that begins wakes two more. f gets the
// worker's number.
//
// Why: waking a thread takes the caller a microsecond or more. A search that lasts a few microseconds should not wake fifteen
// threads before it begins. A longer one has all of them after four steps.
func (c *Crew) Spread(n int, f func(worker int, m *Memory)) {
	if n < 1 {
		return
	}
	var start func(i int)
	start = func(i int) {
		if i > n || c.state.Load() >= over {
			return
		}
		c.Go(func(m *Memory) {
			start(2 * i)
			start(2*i + 1)
			f(i, m)
		})
	}
	start(1)
}

// Wait returns when all that have begun have ended; no other will begin.
func (c *Crew) Wait() {
	if !c.Pool.standsBy() {
		c.last = make(chan bool, 1)
	}
	if c.state.Add(over) == over || c.soon(func() bool { return c.state.Load() == over }) {
		return
	}
	if c.last != nil {
		<-c.last
		return
	}
	for c.ended.Load() == 0 {
		wait(&c.ended, time.Second)
	}
}

// end tells the waiting caller that all workers have ended. If threads stand by, the last
// worker goes on to wait in the kernel, and would keep its processor from a goroutine that it
// had made ready.
func (c *Crew) end() {
	if c.last != nil {
		c.last <- true
		return
	}
	c.ended.Store(1)
	wake(&c.ended)
}

// patience is how long soon asks: about as long as it takes to wake a goroutine.
const patience = 50 * time.Microsecond

// soon reports the result of so. If a pool runs one search at a time, it calls so for a few
// microseconds until it is true. Why: the workers of a search mostly end together, and sleeping
// until the last one wakes the caller would take longer.
func (c *Crew) soon(so func() bool) bool {
	if so() {
		return true
	}
	if !c.Pool.standsBy() {
		return false
	}
	for begun := time.Now(); time.Since(begun) < patience; {
		for range 32 {
			if so() {
				return true
			}
		}
	}
	return false
}
