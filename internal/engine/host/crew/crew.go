// Package crew runs the workers of a search: it has threads stand by for them, and
// waits for no worker that has not begun when there is nothing left to do.
//
// Go wakes its threads one after another: on 16 cores the last goroutine of a search
// begins a millisecond after the first, when the others may already have done all the
// work of a small search. To wait for it would be to wait for nothing. Threads that
// stand by are woken together (standby.go).
package crew

import "sync"

// A Crew is the goroutines of one search. Its zero value is ready, and after Wait it
// has been used up: Go then runs nothing.
type Crew struct {
	mu     sync.Mutex
	at     int // work now
	over   bool
	nobody sync.Cond
}

// Go runs f in a goroutine, if that begins before Wait is called.
func (c *Crew) Go(f func()) {
	run(func() {
		c.mu.Lock()
		if c.over {
			c.mu.Unlock()
			return
		}
		c.at++
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.at--; c.at == 0 && c.over {
				c.nobody.Signal()
			}
		}()
		f()
	})
}

// Wait returns when all that have begun have ended; no other will begin.
func (c *Crew) Wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.nobody.L = &c.mu
	for c.at > 0 {
		c.nobody.Wait()
	}
}
