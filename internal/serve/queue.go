package serve

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/memory"
)

// Limits bound what queries may use. 0 means no limit, except where it says otherwise.
type Limits struct {
	Running int // queries at the same time, in all; 0 means as many as cores
	// PerUser is the number of queries of one user at the same time. 0 means one less than Running, at least 1, and Running on a server without users.
	PerUser int
	Waiting int // queries that wait; 0 means 1000
	// WaitingUser is the number of queries of one user that wait. 0 means a quarter of Waiting, at least 1, and all of it on a server without users.
	WaitingUser int
	Time        time.Duration // of one query, without waiting
	Planning    time.Duration // of planning one query
	Rows        int64         // of one result
	Memory      int64         // bytes of the process
	Text        int           // bytes of a query's text; 0 means 64 KiB
	Vertices    int           // of a pattern
	Threads     int           // of one query; 0 means as many as cores
	// ProgramMemory is the number of bytes of what a Matcha program makes. 0 means 256 MiB.
	ProgramMemory int64
	// CompilerMemory is the number of bytes of memory of a compiler of the machine that a query or a program starts. 0 means 1 GiB.
	CompilerMemory int64
}

// queue lets queries wait for their turn: the oldest first, except those of users who have as many running as they may. Listings that had a turn
// before come first.
type queue struct {
	limits Limits

	mu       sync.Mutex
	running  map[*Run]bool
	paused   map[*Run]bool // without their turn
	resuming []*Run        // those of paused that want their turn again, the first to want it first
	waiting  []*Run        // those that have not begun, the oldest first
	closed   bool
	freed    time.Time // when memory was last given back to the system
}

// full returns an error if no more queries, or none of a user, may wait.
func (q *queue) full(who Identity) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refuses(who)
}

// refuses is full. The caller holds the lock.
func (q *queue) refuses(who Identity) error {
	if q.closed {
		return errDraining()
	}
	n, of := len(q.waiting), ""
	if n < q.limits.Waiting {
		if n = q.waitsFor(who.Name); n < q.limits.WaitingUser {
			return nil
		}
		of = " of this user"
	}
	e := errorf(QueueFull, "%d queries%s wait already: try again later", n, of)
	e.Retry = 5 * time.Second
	return e
}

// waitsFor is the number of a user's queries that wait. The caller holds the lock.
func (q *queue) waitsFor(name string) (n int) {
	for _, r := range q.waiting {
		if r.Who.Name == name {
			n++
		}
	}
	return n
}

func errDraining() error { return errorf(Draining, "the server stops, and takes no more queries") }

// enter blocks until it is the run's turn, or its context ends.
func (q *queue) enter(r *Run) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return errDraining()
	}
	if !q.fits(r) { // it waits
		if err := q.refuses(r.Who); err != nil { // others came since the run began
			q.mu.Unlock()
			return err
		}
	}
	q.waiting = append(q.waiting, r)
	q.next()
	q.mu.Unlock()
	select {
	case <-r.turn:
	case <-r.ctx.Done():
		q.leave(r)
		return context.Cause(r.ctx)
	}
	if err := q.short(r); err != nil {
		q.leave(r)
		return err
	}
	return nil
}

// next gives turns. The caller holds the lock.
func (q *queue) next() {
	for i := 0; i < len(q.resuming); {
		r := q.resuming[i]
		if !q.fits(r) && !q.swap(r) {
			i++
			continue
		}
		q.resuming = slices.Delete(q.resuming, i, i+1)
		delete(q.paused, r)
		q.give(r)
	}
	for i := 0; i < len(q.waiting) && len(q.running) < q.limits.Running; {
		r := q.waiting[i]
		if !q.fits(r) {
			i++
			continue
		}
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.give(r)
	}
}

// fits reports whether a run may have a turn now. The caller holds the lock.
func (q *queue) fits(r *Run) bool {
	return len(q.running) < q.limits.Running && of(q.running, r.Who.Name) < r.most
}

// give gives a run its turn. The caller holds the lock.
func (q *queue) give(r *Run) {
	q.running[r] = true
	close(r.turn)
}

// of is the number of a user's runs among some.
func of(runs map[*Run]bool, name string) (n int) {
	for r := range runs {
		if r.Who.Name == name {
			n++
		}
	}
	return n
}

// leave takes a run out, whether it runs or waits.
func (q *queue) leave(r *Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, r)
	delete(q.paused, r)
	q.resuming = without(q.resuming, r)
	q.waiting = without(q.waiting, r)
	q.next()
}

// without removes a run from a list.
func without(runs []*Run, r *Run) []*Run {
	if i := slices.Index(runs, r); i >= 0 {
		return slices.Delete(runs, i, i+1)
	}
	return runs
}

// counts are the numbers of queries that run, and of those that wait for their turn, for the first time or again.
func (q *queue) counts() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.running), len(q.resuming) + len(q.waiting)
}

// close makes later queries errors.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

// short returns an error if memory is short and older queries run: the newest query is refused, and those finish.
func (q *queue) short(r *Run) error {
	if q.limits.Memory <= 0 || memory.InUse() < uint64(q.limits.Memory)/10*9 {
		return nil
	}
	q.mu.Lock()
	others := len(q.running) + len(q.paused) - 1
	q.mu.Unlock()
	if others <= 0 {
		q.free() // that of queries that are over
		return nil
	}
	return outOfMemory()
}

func outOfMemory() error {
	e := errorf(OutOfMemory, "memory is short, and older queries go on: try again later")
	e.Retry = 10 * time.Second
	return e
}

// attend cancels the newest query each time that the process has more memory than it may, until ctx ends.
func (q *queue) attend(ctx context.Context) {
	if q.limits.Memory <= 0 {
		return
	}
	t := time.NewTicker(50 * time.Millisecond)
	defer t.Stop()
	var last *Run
	var stopped time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if memory.InUse() < uint64(q.limits.Memory) {
			last = nil
			continue
		}
		if last != nil && q.runs(last) && time.Since(stopped) < ending { // it is about to end
			continue
		}
		if q.free() { // memory of queries that are over
			continue
		}
		if last = q.newest(); last != nil {
			last.stop(CutMemory)
			stopped = time.Now()
		}
	}
}

// ending is how long a query that was stopped may take to end before another one is stopped too.
const ending = time.Second

// spacing is the least time between two calls of the system for memory that is not used any more. They stop the process for a while.
const spacing = 5 * time.Second

// free gives memory back to the system, unless that was tried a short time ago.
func (q *queue) free() bool {
	q.mu.Lock()
	early := !q.freed.IsZero() && time.Since(q.freed) < spacing
	if !early {
		q.freed = time.Now()
	}
	q.mu.Unlock()
	if !early {
		debug.FreeOSMemory()
	}
	return !early
}

// runs reports whether a run has its turn, or had it before it was paused.
func (q *queue) runs(r *Run) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running[r] || q.paused[r]
}

// newest is the query that began last of those that run or are paused and were not stopped; nil: there is none.
func (q *queue) newest() (newest *Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, all := range []map[*Run]bool{q.running, q.paused} {
		for r := range all {
			if r.ctx.Err() == nil && (newest == nil || r.ID > newest.ID) {
				newest = r
			}
		}
	}
	return newest
}
