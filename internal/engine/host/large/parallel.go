package large

import (
	"errors"
	"math/bits"
	"runtime/debug"

	"github.com/weftgraph/weft/internal/engine"
)

// Work is shared on demand. A worker with untried candidates gives half of those of its
// shallowest branching to an idle worker, which repeats the assignments that lead there. Only
// branchings in tail position are shared. Their count is added to the total times a known
// factor, so that no worker waits for another. One worker counts the smaller components next to
// a tail.

// A task is some of the candidates of one branching, with the assignments that
// lead to it: another worker repeats those and goes on from there.
type task struct {
	path []step
	comp uint64
	v    int
	rest []uint64
	mult engine.Uint128
}

// A step is one assignment of a path.
type step struct {
	comp  uint64
	v, at int
}

// startAfter is the work after which the other workers are started:
// most queries are done before that would pay. attendEvery is how
// often a worker looks after the others. A generous worker gives work away whether or
// not another is idle. Variables for tests.
var (
	startAfter  uint64 = 4096
	attendEvery uint64 = 64
	generous    bool
)

// search runs the whole search on the caller and, if it is long enough, on
// further workers.
func (r *run) search(first *worker) {
	r.sp.drawKeys()
	r.free = true
	for u := range r.sp.pb.n {
		r.free = r.free && r.sp.pb.order[u] == 0
	}
	first.begin(r, r.sp, 0)
	r.started = 1
	pb := r.sp.pb
	r.guard(func() {
		if r.listing {
			first.out.begin(r, pb)
			first.list(0, pb.all)
			first.finish(engine.Uint128{})
		} else {
			n, _ := first.product(0, r.sp.live, true, engine.U64(1))
			first.finish(n)
		}
		if r.started > 1 {
			r.serve(first)
		}
	})
	r.wg.Wait()
	r.nodes += first.count
	if x := r.caught.Load(); x != nil {
		panic(*x)
	}
}

// errPanic stops the other workers when one panicked.
var errPanic = errors.New("a worker panicked")

// guard calls f. A panic in it, as over a file that became shorter, stops the run, and
// becomes one of search when all workers have ended.
func (r *run) guard(f func()) {
	defer func() {
		if x := recover(); x != nil {
			r.caught.Store(&x)
			r.fail(errPanic)
		}
	}()
	f()
}

// finish adds a worker's count to the total.
func (w *worker) finish(n engine.Uint128) {
	r := w.run
	if r.listing {
		w.out.flush(w)
		n = engine.U64(w.out.emitted)
		w.out.emitted = 0
	}
	r.mu.Lock()
	t := r.total.Add(n)
	if t.Cmp(r.total) < 0 {
		r.over = true
	}
	r.total = t
	r.over = r.over || w.over
	r.mu.Unlock()
}

// attend does a worker's duties to the others, now and then: it starts the other workers and
// gives work to idle ones. It reports whether to stop. The worker is at depth d.
func (w *worker) attend(d int) bool {
	r := w.run
	w.next = w.work + attendEvery
	if r.stopped() {
		return true
	}
	if r.progress != nil {
		r.report()
	}
	if r.threads == 1 {
		return false
	}
	if w.id == 0 && w.work >= startAfter && r.started == 1 {
		r.start()
	}
	if generous || r.idle.Load() > 0 {
		w.give(d)
	}
	return false
}

// start starts the other workers.
func (r *run) start() {
	r.mu.Lock()
	r.started = r.threads
	r.mu.Unlock()
	for id := 1; id < r.threads; id++ {
		r.wg.Add(1)
		r.idle.Add(1)
		go func() {
			defer r.wg.Done()
			debug.SetPanicOnFault(true)
			r.guard(func() {
				w := workerPool.Get().(*worker)
				w.begin(r, r.sp, id)
				if r.listing {
					w.out.begin(r, r.sp.pb)
				}
				r.idle.Add(-1)
				r.serve(w)
				r.mu.Lock()
				r.nodes += w.count
				r.mu.Unlock()
				workerPool.Put(w)
			})
		}()
	}
}

// serve runs tasks until there are none and nobody can make more.
func (r *run) serve(w *worker) {
	for {
		r.mu.Lock()
		r.waiting++
		r.idle.Add(1)
		if r.waiting == r.started && len(r.queue) == 0 {
			r.done = true
			r.wake.Broadcast()
		}
		for len(r.queue) == 0 && !r.done && !r.stopped() {
			r.wake.Wait()
		}
		if len(r.queue) == 0 || r.stopped() {
			r.mu.Unlock()
			return
		}
		t := r.queue[0]
		r.queue = r.queue[1:]
		r.waiting--
		r.mu.Unlock()
		w.perform(t)
	}
}

// give hands half of the untried candidates of the shallowest branching that
// has any to an idle worker. Of a deeper branching it must not: the failure of the candidates that
// remain there would be taken for the failure of all, and would end the branchings above.
func (w *worker) give(d int) {
	r := w.run
	for k := 0; k <= d; k++ {
		f := w.frames[k]
		if !f.tail {
			continue
		}
		n := countBits(f.rest)
		if n == 0 {
			continue
		}
		t := &task{comp: f.comp, v: f.v, mult: f.mult, rest: make([]uint64, len(f.rest))}
		// The later half, all of it if it is one.
		for give, i := (n+1)/2, len(f.rest)-1; give > 0; i-- {
			for f.rest[i] != 0 && give > 0 {
				b := uint64(1) << (63 - bits.LeadingZeros64(f.rest[i]))
				f.rest[i] &^= b
				t.rest[i] |= b
				give--
			}
		}
		for j := range k {
			g := w.frames[j]
			t.path = append(t.path, step{g.comp, g.v, g.at})
		}
		for j := range k + 1 {
			w.frames[j].partial = true
		}
		r.mu.Lock()
		r.queue = append(r.queue, t)
		// One fewer is idle as soon as the task is there to be taken.
		r.idle.Add(-1)
		r.wake.Signal()
		r.mu.Unlock()
		return
	}
}

// perform runs a task.
func (w *worker) perform(t *task) {
	w.reset()
	for d, s := range t.path {
		f := w.frames[d]
		f.comp, f.v, f.at, f.tail, f.partial = s.comp, s.v, s.at, false, true
		f.rest = f.rest[:0]
		if w.assign(d, s.v, s.at, s.comp&^(1<<s.v)) >= 0 {
			panic("large: a task's path has no match")
		}
		if w.run.listing {
			w.value[s.v] = uint32(s.at)
		}
	}
	d := len(t.path)
	f := w.frames[d]
	f.comp, f.v, f.tail, f.mult, f.partial = t.comp, t.v, true, t.mult, true
	f.rest = append(f.rest[:0], t.rest...)
	if w.run.listing {
		w.listBranch(d)
		w.finish(engine.Uint128{})
		return
	}
	n, _ := w.branch(d)
	w.finish(w.times(n, t.mult))
}

// reset forgets every assignment.
func (w *worker) reset() {
	for u := range w.sp.pb.n {
		w.depth[u] = 0
	}
}
