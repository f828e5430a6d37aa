package serve

import "time"

// lull is how long a listing keeps its turn while its client takes no rows.
const lull = time.Second

// A listing whose client takes no rows makes nothing: its search waits. After a lull it gives its turn to another query, and takes one again before
// it goes on, ahead of those that have not begun. As many listings as may run at the same time may be without their turn, in all and of one user,
// because each keeps memory. If there are as many, a listing that wants its turn again takes that of another one whose client takes no rows, so that
// it does not wait for a client. A participation and a program keep their turn: they hold a result, and the limits on memory count on the number of
// those that run.

// paused is the value of Run.outside of a run without its turn.
const paused = -1

// lulls watches a listing until the function that it returns is called.
func (r *Run) lulls() (stop func()) {
	var t *time.Timer
	end := make(chan struct{})
	ready := make(chan struct{}) // t is set
	t = time.AfterFunc(lull/4, func() {
		<-ready
		if r.idle() >= lull {
			r.s.queue.pause(r)
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

// idle is how long the run's client has taken no rows of those that the run hands to it; 0 if it hands none.
func (r *Run) idle() time.Duration {
	if since := r.outside.Load(); since > 0 {
		return time.Since(r.begun) - time.Duration(since)
	}
	return 0
}

// pause takes the turn of a run that is idle, for another one.
func (q *queue) pause(r *Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running[r] && len(q.paused) < q.limits.Running && of(q.paused, r.Who.Name) < r.most {
		q.take(r)
	}
	q.next() // may swap, if the run could not be paused
}

// take takes the turn of a run unless its client has just gone on. The caller holds the lock.
func (q *queue) take(r *Run) bool {
	since := r.outside.Load()
	if since <= 0 || time.Since(r.begun)-time.Duration(since) < lull || !r.outside.CompareAndSwap(since, paused) {
		return false
	}
	delete(q.running, r)
	q.paused[r] = true
	r.turn = make(chan struct{})
	return true
}

// swap takes the turn of the run that has been idle for longest, of those whose turn lets a paused run go on. Both change places, also in the
// numbers of their users. The caller holds the lock.
func (q *queue) swap(r *Run) bool {
	user, longest := r.Who.Name, (*Run)(nil)
	for x := range q.running {
		turns, places := of(q.running, user), of(q.paused, x.Who.Name)
		if x.Who.Name == user {
			turns, places = turns-1, places-1
		}
		if turns < r.most && places < x.most && x.idle() >= lull && (longest == nil || x.idle() > longest.idle()) {
			longest = x
		}
	}
	return longest != nil && q.take(longest)
}

// resume blocks until a run that was paused has a turn, or its context ends: then there is nothing to search.
func (q *queue) resume(r *Run) {
	q.mu.Lock()
	if !q.paused[r] { // it has ended
		q.mu.Unlock()
		return
	}
	turn := r.turn
	q.resuming = append(q.resuming, r)
	q.next()
	q.mu.Unlock()
	select {
	case <-turn:
	case <-r.ctx.Done():
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.paused, r)
		q.resuming = without(q.resuming, r)
	}
}
