package serve

import (
	"slices"
	"time"
)

// lull is how long a listing keeps its turn while its client takes no rows.
const lull = time.Second

// A listing whose client takes no rows makes nothing: its search waits. After a lull it gives its turn to another query, and takes one again before
// it goes on, ahead of those that have not begun. As many listings as may run at the same time may be without their turn, because each keeps
// memory. A participation and a program keep their turn: they hold a result, and the limits on memory count on the number of those that run.

// paused is the value of Run.outside of a run without its turn.
const paused = -1

// lulls watches a listing until the function that it returns is called.
func (r *Run) lulls() (stop func()) {
	var t *time.Timer
	end := make(chan struct{})
	ready := make(chan struct{}) // t is set
	t = time.AfterFunc(lull/4, func() {
		<-ready
		if since := r.outside.Load(); since > 0 && time.Since(r.begun)-time.Duration(since) >= lull {
			r.s.queue.pause(r, since)
		}
		select {
		case <-end:
		default:
			t.Reset(lull / 4)
		}
	})
	close(ready)
	return func() { close(end); t.Stop() }
}

// hands says that the run hands rows to its client. The search goes on after a call of the function that it returns, which blocks until the run has
// its turn again, if it gave it away, or until the run's context ends. One goroutine at a time hands rows.
func (r *Run) hands() (taken func()) {
	since := max(1, int64(time.Since(r.begun)))
	r.outside.Store(since)
	return func() {
		if !r.outside.CompareAndSwap(since, 0) {
			r.outside.Store(0)
			r.s.queue.resume(r)
		}
	}
}

// pause takes the turn of a run that has handed rows to its client since a time, and still waits.
func (q *queue) pause(r *Run, since int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.running[r] || len(q.paused) >= q.limits.Running || !r.outside.CompareAndSwap(since, paused) {
		return
	}
	delete(q.running, r)
	q.paused[r] = true
	r.turn = make(chan struct{})
	q.next()
}

// resume blocks until a run that was paused has a turn, or its context ends: then there is nothing to search.
func (q *queue) resume(r *Run) {
	q.mu.Lock()
	if !q.paused[r] { // it has ended
		q.mu.Unlock()
		return
	}
	turn := r.turn
	q.waiting = slices.Insert(q.waiting, 0, r)
	q.next()
	q.mu.Unlock()
	select {
	case <-turn:
	case <-r.ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.paused, r)
	if i := slices.Index(q.waiting, r); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}
