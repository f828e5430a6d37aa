// Package tasks hands the tasks of one search on the processor to its workers. It ends the search
// where it fails, has found enough, or is no longer wanted.
//
// It knows goroutines and totals for each root, and must not know what a task is.
package tasks

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// Queue hands out units of work from one atomic cursor. A worker that finds no unit counts itself
// as idle. Busy workers look at that count (Wanted). If it is not 0, a busy worker gives away a
// part of its own work (Give). So one long task never keeps one core busy alone, and stealing
// costs nothing while all workers are busy.
type Queue[T any] struct {
	units   uint64
	unit    func(i uint64) (T, bool)
	workers int
	steal   bool

	_      [128]byte // the cursor changes often; its neighbours are read in inner loops
	cursor atomic.Uint64
	_      [128]byte

	Stop   atomic.Bool  // the search was cut short: context, limit, sink or failure
	hungry atomic.Int32 // len(idle)

	_ [128]byte

	mu     sync.Mutex
	idle   []chan T // of workers in Next that found nothing
	begun  int      // workers that take part
	closed bool

	errMu sync.Mutex
	err   error

	rootLocks [64]sync.Mutex // guard sums per root, by its last bits
}

// Init sets the workers and the units of a zero Queue. unit returns the task of unit i, and false
// if there is none. It is called from several workers. Without steal, no worker waits for others.
func (q *Queue[T]) Init(workers int, steal bool, units uint64, unit func(i uint64) (T, bool)) {
	q.workers, q.steal, q.units, q.unit = workers, steal, units, unit
}

// Fail records the first failure and stops the search.
func (q *Queue[T]) Fail(err error) {
	q.errMu.Lock()
	if q.err == nil {
		q.err = err
	}
	q.errMu.Unlock()
	q.Stop.Store(true)
}

// Failure returns why the search failed, or nil. engine.ErrStop is not a failure.
func (q *Queue[T]) Failure() error {
	q.errMu.Lock()
	defer q.errMu.Unlock()
	if errors.Is(q.err, engine.ErrStop) {
		return nil
	}
	return q.err
}

// Next returns the next task, or false when the search is over. It blocks while other workers may
// give a part of their work away.
func (q *Queue[T]) Next() (t T, ok bool) {
	if q.Stop.Load() {
		q.close()
		return t, false
	}
	for q.cursor.Load() < q.units {
		i := q.cursor.Add(1) - 1
		if i >= q.units {
			break
		}
		if t, ok := q.unit(i); ok {
			return t, true
		}
	}
	if !q.steal {
		return t, false // nobody gives any of theirs away
	}
	q.mu.Lock()
	if q.closed || len(q.idle)+1 == q.begun {
		q.mu.Unlock()
		q.close()
		return t, false
	}
	fed := make(chan T, 1)
	q.idle = append(q.idle, fed)
	q.hungry.Store(int32(len(q.idle)))
	q.mu.Unlock()
	t, ok = <-fed
	return t, ok
}

// close ends the search for workers that wait, and for those that come.
func (q *Queue[T]) close() {
	q.mu.Lock()
	idle := q.idle
	q.idle, q.closed = nil, true
	q.hungry.Store(0)
	q.mu.Unlock()
	for _, fed := range idle {
		close(fed)
	}
}

// Wanted reports whether a busy worker should give work away.
func (q *Queue[T]) Wanted() bool { return q.hungry.Load() > 0 && q.steal }

// Give hands a task to an idle worker. It returns false, and takes nothing, if other workers have
// fed all of them in the meantime.
func (q *Queue[T]) Give(t T) bool {
	q.mu.Lock()
	last := len(q.idle) - 1
	if last < 0 {
		q.mu.Unlock()
		return false
	}
	fed := q.idle[last]
	q.idle = q.idle[:last]
	q.hungry.Store(int32(last))
	q.mu.Unlock()
	fed <- t
	return true
}

// begin reports whether a worker that has started may take part.
func (q *Queue[T]) begin() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.begun++
	return true
}

var errPanic = errors.New("a worker panicked")

// Run starts the workers and waits for those that have begun. Worker 0 is the caller's goroutine.
// A panic of a worker or of progress, as over a corrupt file, becomes a panic of Run, where the caller can
// recover it. If ctx ends, its cause is the failure. progress, if not nil, is called four times a
// second with the number of units that were handed out, of Units.
func (q *Queue[T]) Run(ctx context.Context, pool *crew.Pool, progress func(units uint64), work func(worker int, m *crew.Memory)) {
	others := crew.Crew{Pool: pool}
	var caught atomic.Pointer[any]
	catch := func() {
		if x := recover(); x != nil {
			caught.Store(&x)
			q.Fail(errPanic)
			q.close()
		}
	}
	one := func(i int, m *crew.Memory) {
		defer catch()
		if q.begin() {
			work(i, m)
		}
	}
	unwatch := q.watch(ctx, progress, catch)
	others.Spread(q.workers-1, crew.Short, one)
	one(0, pool.Own()) // here: a short search is over before another goroutine has woken
	others.Wait()
	unwatch()
	if x := caught.Load(); x != nil {
		panic(*x)
	}
}

// Units returns the number of units.
func (q *Queue[T]) Units() uint64 { return q.units }

// watch stops the search when ctx ends, and reports progress. The function that it returns ends
// both; neither calls anything after that. catch recovers a panic of progress, which may read a mapped file as workers do.
func (q *Queue[T]) watch(ctx context.Context, progress func(units uint64), catch func()) (end func()) {
	cut := func() {
		q.Fail(context.Cause(ctx))
		q.close()
	}
	if progress == nil {
		over := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			defer close(over)
			cut()
		})
		return func() {
			if !stop() {
				<-over
			}
		}
	}
	over := make(chan struct{})
	var watched sync.WaitGroup
	watched.Go(func() {
		defer catch()
		debug.SetPanicOnFault(true)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				cut()
				return
			case <-tick.C:
				progress(min(q.cursor.Load(), q.units))
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		watched.Wait()
	}
}

// AddPerRoot adds n to the sum of a root. Parts of one root's search may be with several workers.
// Nil sums take nothing.
func (q *Queue[T]) AddPerRoot(sums []engine.Uint128, root uint32, n engine.Uint128) {
	if sums == nil || n.IsZero() {
		return
	}
	mu := &q.rootLocks[root%uint32(len(q.rootLocks))]
	mu.Lock()
	defer mu.Unlock()
	sum, over := sums[root].AddOver(n)
	if over {
		q.Fail(engine.ErrOverflow)
	}
	sums[root] = sum
}
