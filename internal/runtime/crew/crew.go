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
func (c *Crew) Go(f func(m *Memory)) { c.Pool.run(func(m *Memory) { c.begin(f, m) }) }

// begin runs f, if Wait has not been called.
func (c *Crew) begin(f func(m *Memory), m *Memory) {
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
}

// Short is about how long a search takes that is over sooner if one thread works alone: a thread that begins has to be woken, given
// memory, and waited for.
const Short = 50 * time.Microsecond

// Spread runs f for workers 1 to n by Go. f gets the worker's number. The first begins when the caller has worked alone for a while, if
// Wait has not been called by then. Each worker that begins wakes two more, so after four steps all are awake. 0 means that the first
// begins at once.
//
// Why: the caller wakes one thread and not fifteen, and none of them takes part in a search of a few microseconds.
func (c *Crew) Spread(n int, alone time.Duration, f func(worker int, m *Memory)) {
	if n < 1 || c.isOver() {
		return
	}
	var start func(i int)
	work := func(i int) func(*Memory) {
		return func(m *Memory) {
			start(2 * i)
			start(2*i + 1)
			f(i, m)
		}
	}
	start = func(i int) {
		if i <= n && !c.isOver() {
			c.Go(work(i))
		}
	}
	if alone == 0 {
		start(1)
		return
	}
	asked := time.Now()
	c.Pool.run(func(m *Memory) {
		if !within(alone-time.Since(asked), c.isOver) {
			c.begin(work(1), m)
		}
	})
}

func (c *Crew) isOver() bool { return c.state.Load() >= over }

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
	return c.Pool.standsBy() && within(patience, so)
}

// within calls so for a while, until it is true, and reports its last result. It keeps its processor.
func within(most time.Duration, so func() bool) bool {
	for begun := time.Now(); time.Since(begun) < most; {
		for range 32 {
			if so() {
				return true
			}
		}
	}
	return false
}
