package join

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// task is a run of roots, or rows for a step.
type task struct {
	begin, end uint64 // roots, where rows is nil
	step       int
	rows       []uint32
}

// pool hands out tasks. Roots come in units from one cursor. A worker that finds none left is
// hungry; busy workers give such a worker half of the rows that they have before them.
type pool struct {
	ranges  []plan.Range
	total   uint64 // roots
	units   uint64
	workers int
	steal   bool

	cursor atomic.Uint64
	stop   atomic.Bool
	hungry atomic.Int32

	mu     sync.Mutex
	idle   []chan task
	begun  int
	closed bool
	err    error

	rootLocks [64]sync.Mutex
}

// unitRoots is the least number of roots in a unit, and unitsEach the number of units for each
// worker where there are enough roots.
const (
	unitRoots = 16
	unitsEach = 64
)

func newPool(x *group, workers int, steal bool) *pool {
	p := &pool{ranges: x.ranges, workers: workers, steal: steal}
	if p.ranges == nil {
		p.ranges = []plan.Range{x.one}
	}
	for _, r := range p.ranges {
		p.total += uint64(r.End - min(r.First, r.End))
	}
	p.units = min(max(uint64(workers)*unitsEach, 1), (p.total+unitRoots-1)/unitRoots)
	return p
}

// each calls f with the roots of a task until it returns false.
func (p *pool) each(t task, f func(v uint32) bool) {
	at := uint64(0)
	for _, r := range p.ranges {
		n := uint64(r.End - min(r.First, r.End))
		for i := max(t.begin, at); i < min(t.end, at+n); i++ {
			if !f(r.First + uint32(i-at)) {
				return
			}
		}
		at += n
	}
}

// fail records the first failure and stops the run.
func (p *pool) fail(err error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	p.stop.Store(true)
}

// failure returns why the run failed, or nil.
func (p *pool) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(p.err, engine.ErrStop) {
		return nil
	}
	return p.err
}

// next returns the next task, or false when the run is over. It blocks while others work
// that may give some of theirs away.
func (p *pool) next() (task, bool) {
	if p.stop.Load() {
		p.close()
		return task{}, false
	}
	if p.cursor.Load() < p.units {
		if i := p.cursor.Add(1) - 1; i < p.units {
			return task{begin: p.total * i / p.units, end: p.total * (i + 1) / p.units}, true
		}
	}
	if !p.steal {
		return task{}, false
	}
	p.mu.Lock()
	if p.closed || len(p.idle)+1 == p.begun {
		p.mu.Unlock()
		p.close()
		return task{}, false
	}
	fed := make(chan task, 1)
	p.idle = append(p.idle, fed)
	p.hungry.Store(int32(len(p.idle)))
	p.mu.Unlock()
	t, ok := <-fed
	return t, ok
}

// close ends the run for workers that wait, and for those that come.
func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.hungry.Store(0)
	p.mu.Unlock()
	for _, fed := range idle {
		close(fed)
	}
}

// wanted reports whether a busy worker should give work away.
func (p *pool) wanted() bool { return p.hungry.Load() > 0 }

// give hands a task to a hungry worker. It reports false where others have fed all of them.
func (p *pool) give(t task) bool {
	p.mu.Lock()
	last := len(p.idle) - 1
	if last < 0 {
		p.mu.Unlock()
		return false
	}
	fed := p.idle[last]
	p.idle = p.idle[:last]
	p.hungry.Store(int32(last))
	p.mu.Unlock()
	fed <- t
	return true
}

func (p *pool) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.begun++
	return true
}

var errPanic = errors.New("a worker panicked")

// run starts the workers and waits for those that have begun. A worker's panic becomes one of
// run, where the caller can recover it.
func (p *pool) run(ctx context.Context, of *crew.Pool, progress func(done, total uint64), work func(worker int, m *crew.Memory)) {
	unwatch := p.watch(ctx, progress)
	others := crew.Crew{Pool: of}
	var caught atomic.Pointer[any]
	one := func(i int, m *crew.Memory) {
		defer func() {
			if x := recover(); x != nil {
				caught.Store(&x)
				p.fail(errPanic)
				p.close()
			}
		}()
		if p.begin() {
			work(i, m)
		}
	}
	for i := 1; i < p.workers; i++ {
		others.Go(func(m *crew.Memory) { one(i, m) })
	}
	one(0, of.Own())
	others.Wait()
	unwatch()
	if x := caught.Load(); x != nil {
		panic(*x)
	}
}

// watch stops the run when ctx ends, and tells the progress four times a second.
func (p *pool) watch(ctx context.Context, progress func(done, total uint64)) (end func()) {
	over := make(chan struct{})
	var watched sync.WaitGroup
	watched.Go(func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				p.fail(context.Cause(ctx))
				p.close()
				return
			case <-tick.C:
				if progress != nil {
					progress(p.total*min(p.cursor.Load(), p.units)/max(p.units, 1), p.total)
				}
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

// addPerRoot adds to the sum of a root. Rows of one root may be with several workers.
func (p *pool) addPerRoot(sums []engine.Uint128, root uint32, n engine.Uint128) {
	l := &p.rootLocks[root%uint32(len(p.rootLocks))]
	l.Lock()
	defer l.Unlock()
	sum, over := sums[root].AddOver(n)
	if over {
		p.fail(engine.ErrOverflow)
	}
	sums[root] = sum
}
