package host

import (
	"context"
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// The scheduler hands out roots in units from one atomic cursor. The units have about equal
// numbers of neighbours. Hubs, whose searches are the longest, come first and one by one, and
// thousands of leaves share one visit to the cursor that all cores write.
//
// A worker that finds no unit counts itself as idle. Busy workers look at that count between
// two candidates of any level except the last ones. If it is not 0, a busy worker gives away
// half of the rest at the shallowest level with at least two remaining candidates. So one hub
// never keeps one core busy alone, and stealing costs nothing while all workers are busy.

// task is a part of the search: candidates of one level below a bound prefix.
// A task of level 0 is a range of the root list.
type task struct {
	level      int
	prefix     []uint32
	cands      []uint32
	begin, end uint64 // level 0: indexes into the root list
}

// sched is shared by the workers of one run.
type sched struct {
	roots   rootList
	units   uint64
	workers int
	steal   bool

	_      [128]byte // the cursor changes often; its neighbours are read in inner loops
	cursor atomic.Uint64
	_      [128]byte

	stop   atomic.Bool  // cut short: context, limit, sink or failure
	hungry atomic.Int32 // len(idle)

	_ [128]byte

	mu     sync.Mutex
	idle   []chan task // of workers in next that found nothing
	begun  int         // workers that take part
	closed bool

	errMu sync.Mutex
	err   error

	rootLocks [64]sync.Mutex // guard sums per root, by its last bits
}

func newSched(roots rootList, workers int, steal bool) *sched {
	s := &sched{roots: roots, workers: workers, steal: steal}
	work := roots.work()
	s.units = min(max(uint64(workers)*unitsEach, work/unitWork), roots.n)
	return s
}

// unitsEach is the number of units for each worker. With that many, the last worker to end
// leaves the others idle only for a short time. unitWork is the largest work of a unit, except
// for a unit of a single root. Limits and progress are checked at units.
const (
	unitsEach = 64
	unitWork  = 4096
)

// fail records the first failure and stops the run.
func (s *sched) fail(err error) {
	s.errMu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.errMu.Unlock()
	s.stop.Store(true)
}

// add is sum + n; past 128 bits the run fails.
func (s *sched) add(sum engine.Uint128, n engine.Tally) engine.Uint128 {
	sum, over := sum.AddOver(n.N)
	if over || n.Over {
		s.fail(engine.ErrOverflow)
	}
	return sum
}

// failure is why the run failed, or nil.
func (s *sched) failure() error {
	s.errMu.Lock()
	defer s.errMu.Unlock()
	if s.err == engine.ErrStop {
		return nil
	}
	return s.err
}

// next returns the next task, or false when the run is over.
func (s *sched) next() (task, bool) {
	if s.stop.Load() {
		s.close()
		return task{}, false
	}
	for s.cursor.Load() < s.units {
		i := s.cursor.Add(1) - 1
		if i >= s.units {
			break
		}
		if b, e := s.roots.cut(i, s.units), s.roots.cut(i+1, s.units); b < e {
			return task{begin: b, end: e}, true
		}
	}
	if !s.steal {
		return task{}, false // nobody gives any of theirs away
	}
	s.mu.Lock()
	if s.closed || len(s.idle)+1 == s.begun {
		s.mu.Unlock()
		s.close()
		return task{}, false
	}
	fed := make(chan task, 1)
	s.idle = append(s.idle, fed)
	s.hungry.Store(int32(len(s.idle)))
	s.mu.Unlock()
	t, ok := <-fed
	return t, ok
}

// close ends the run for those that wait, and for those that come.
func (s *sched) close() {
	s.mu.Lock()
	idle := s.idle
	s.idle, s.closed = nil, true
	s.hungry.Store(0)
	s.mu.Unlock()
	for _, fed := range idle {
		close(fed)
	}
}

// wanted reports whether a busy worker should give work away.
func (s *sched) wanted() bool { return s.hungry.Load() > 0 && s.steal }

// give hands a task to a hungry worker. It reports false, and takes nothing, when
// others have fed everybody in the meantime.
func (s *sched) give(t task) bool {
	s.mu.Lock()
	last := len(s.idle) - 1
	if last < 0 {
		s.mu.Unlock()
		return false
	}
	fed := s.idle[last]
	s.idle = s.idle[:last]
	s.hungry.Store(int32(last))
	s.mu.Unlock()
	fed <- t
	return true
}

// errPanic stops the other workers when one panicked.
var errPanic = errors.New("a worker panicked")

// begin reports whether a worker takes part: one that begins late may find all done.
func (s *sched) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.begun++
	return true
}

// run starts the workers and waits for those that have begun. A panic of a worker, as over a
// corrupt file, becomes one of run, where it can be recovered.
func (s *sched) run(ctx context.Context, o job, work func(worker int, m *crew.Memory)) {
	unwatch := s.watch(ctx, o.Progress)
	others := crew.Crew{Pool: o.Crew}
	var caught atomic.Pointer[any]
	one := func(i int, m *crew.Memory) {
		defer func() {
			if x := recover(); x != nil {
				caught.Store(&x)
				s.fail(errPanic)
				s.close()
			}
		}()
		if s.begin() {
			work(i, m)
		}
	}
	for i := 1; i < s.workers; i++ {
		others.Go(func(m *crew.Memory) { one(i, m) })
	}
	one(0, o.Crew.Own()) // here: a short search is over before another goroutine has woken
	others.Wait()
	unwatch()
	if x := caught.Load(); x != nil {
		panic(*x)
	}
}

// watch stops the run when ctx ends, and tells how far it is four times a second.
// The function that it returns ends both; neither calls anything after that.
func (s *sched) watch(ctx context.Context, progress func(done, total uint64)) (end func()) {
	cut := func() {
		s.fail(context.Cause(ctx))
		s.close()
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
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				cut()
				return
			case <-tick.C:
				progress(s.roots.cut(min(s.cursor.Load(), s.units), s.units), s.roots.n)
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

// rootList is the candidates of level 0: id ranges, or an explicit list.
type rootList struct {
	n      uint64
	ranges []rootRange
	list   []uint32
	off    []uint64 // with one range: a running sum of the vertices' work; nil: all are alike
}

type rootRange struct {
	at    uint64 // index of First in the root list
	first uint32
	n     uint64
}

// rootWork is the work of a root of which nothing is known.
const rootWork = 16

// work is the work of all roots: one for each root, and its entry in off.
func (r *rootList) work() uint64 {
	if !r.weighted() {
		return r.n * rootWork
	}
	return graph.Work(r.off, r.ranges[0].first, r.ranges[0].first+uint32(r.n))
}

func (r *rootList) weighted() bool { return r.off != nil && r.list == nil && len(r.ranges) == 1 }

// cut is the index of the first root of unit i, out of `units` units.
func (r *rootList) cut(i, units uint64) uint64 {
	if !r.weighted() {
		hi, lo := bits.Mul64(r.n, i)
		q, _ := bits.Div64(hi, lo, max(units, 1))
		return q
	}
	first := r.ranges[0].first
	return uint64(graph.Cut(r.off, first, first+uint32(r.n), i, units) - first)
}

// each calls f for roots number b … e-1 until it returns false.
func (r *rootList) each(b, e uint64, f func(v uint32) bool) {
	if r.list != nil {
		for _, v := range r.list[b:e] {
			if !f(v) {
				return
			}
		}
		return
	}
	for _, g := range r.ranges {
		lo, hi := max(b, g.at), min(e, g.at+g.n)
		for i := lo; i < hi; i++ {
			if !f(g.first + uint32(i-g.at)) {
				return
			}
		}
	}
}
