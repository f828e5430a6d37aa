package native

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// A Team is the threads of jobs that follow each other, as the phases of a program do. Between
// two jobs the threads stay awake for a while, because waking them one after another would take
// as long as a small job. Its zero value is ready; it runs one job at a time.
type Team struct {
	members []*member
	left    atomic.Int64  // of a job: members that have not ended
	ended   chan struct{} // the last of them has
}

// member is one goroutine besides the caller's.
type member struct {
	_    [line]byte
	word atomic.Uint32
	work func() // nil: no more
	team int    // workers of the job
	wake chan struct{}
	_    [line]byte
}

// States of a member: it looks for work, has some, or sleeps until it is woken.
const (
	awake = iota
	working
	asleep
)

// patience is how long a member or the caller looks before it sleeps.
const patience = 100 * time.Microsecond

// soon looks until something is so, for a while, if this process may run n threads.
func soon(n int, so func() bool) bool {
	if n > runtime.GOMAXPROCS(0) {
		return so()
	}
	for begun := time.Now(); ; {
		for range 64 {
			if so() {
				return true
			}
		}
		if time.Since(begun) > patience {
			return false
		}
	}
}

// do runs f(0) … f(n-1), each in a goroutine of its own, and waits for them.
func (t *Team) do(n int, f func(i int)) {
	if t.ended == nil {
		t.ended = make(chan struct{}, 1)
	}
	for len(t.members) < n-1 {
		m := &member{wake: make(chan struct{}, 1)}
		t.members = append(t.members, m)
		go t.serve(m, n)
	}
	t.left.Store(int64(n - 1))
	for i, m := range t.members[:n-1] {
		m.give(n, func() { f(i + 1) })
	}
	f(0)
	if n > 1 {
		soon(n, func() bool { return t.left.Load() == 0 })
		<-t.ended
	}
}

// give hands a member its work in a job of n workers.
func (m *member) give(n int, work func()) {
	m.work, m.team = work, n
	if m.word.Swap(working) == asleep {
		m.wake <- struct{}{}
	}
}

// serve does a member's work, the first of it in a job of n workers.
func (t *Team) serve(m *member, n int) {
	debug.SetPanicOnFault(true) // of functions of Go that C calls
	for {
		if !soon(n, func() bool { return m.word.Load() == working }) && m.word.CompareAndSwap(awake, asleep) {
			<-m.wake
		}
		if m.work == nil {
			return
		}
		n = m.team
		m.word.Store(awake)
		m.work()
		if t.left.Add(-1) == 0 {
			t.ended <- struct{}{}
		}
	}
}

// Close ends the goroutines.
func (t *Team) Close() {
	for _, m := range t.members {
		m.give(0, nil)
	}
	t.members = nil
}

// watch ends a run when ctx ends, and tells Progress four times a second how far it
// is. After the function that it returns neither happens any more.
func (r *running) watch(ctx context.Context, workers []worker) (end func()) {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		r.fail(context.Cause(ctx))
	})
	unwatch := func() {
		if !stop() {
			<-over
		}
	}
	if r.job.Progress == nil {
		return unwatch
	}
	quit, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				done := uint64(0)
				for i := range workers {
					done += workers[i].done.Load()
				}
				r.job.Progress(done, r.job.Units)
			case <-quit:
				return
			}
		}
	}()
	return func() {
		unwatch()
		close(quit)
		<-told
	}
}
