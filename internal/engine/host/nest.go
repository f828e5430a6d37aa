package host

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// The nest walks the loops of a plan depth first. It binds a vertex, computes the set nodes
// that its level makes possible, and goes down. STMatch's code motion puts each node at the
// first level that knows its operands. The nest allocates nothing once its buffers have grown
// to the largest sets.

// worker is one goroutine's state.
type worker struct {
	pr   *program
	s    *sched
	hubs *hubIndex
	id   int

	m    [maxLevels]uint32 // the partial match, by level
	e    []uint64          // chosen edges, by index into Plan.Edges
	it   [maxLevels]iter
	base int // levels below are bound by the task, not by this worker

	sets [][]uint32 // value of each set node
	bufs [][]uint32 // memory of each set node
	// lists is memory for the list that each node reads, where some are stored in parts.
	lists []graph.Scratch
	bm    []nodeBitmap

	count engine.Uint128
	out   *emitter // nil when counting
	stats []engine.Uint128
	where *atomic.Int32 // the level being worked on, when somebody asks
	tails tailState
	limit *limiter
	timed *timed // of plans that extend edges in time; nil for others
}

// iter is the loop of one level: candidates list[pos:end] remain. A thief's half
// is cut off by lowering end.
type iter struct {
	list     []uint32
	pos, end int
	roots    bool // level 0 of a root task: pos and end index the root list
}

func runNest(ctx context.Context, p *plan.Plan, o job) (engine.Result, error) {
	pr := o.programs.walked()
	if o.Sink == nil {
		pr = o.programs.closed()
	}
	s := newSched(pr.roots(), o, o.steal, unitLeast)
	s.backward = backwards(p, o)
	hubs := newHubIndex(pr, o.bitmap)
	lim := &limiter{max: o.Limit, s: s}
	ws := make([]*worker, o.Threads)
	for i := range ws {
		w := &worker{pr: pr, s: s, hubs: hubs, id: i, limit: lim}
		if o.Sink != nil {
			w.out = newEmitter(p, i, o.Sink)
		}
		if o.Levels {
			w.stats = tasks.Padded[engine.Uint128](pr.depth)
		}
		ws[i] = w
	}
	return runWorkers(ctx, ws, o, o.PerRoot)
}

// runWorkers lets workers of one schedule and limit search, and adds up their results. It
// blocks until all have ended.
func runWorkers(ctx context.Context, ws []*worker, o job, perRoot []engine.Uint128) (engine.Result, error) {
	s := ws[0].s
	clock := startLevelClock(o.Levels, ws[0].pr.depth, ws)
	s.run(ctx, o, func(i int, _ *crew.Memory) { ws[i].work(perRoot) })
	var res engine.Result
	for _, w := range ws {
		res.Matches = s.add(res.Matches, engine.Tally{N: w.count})
	}
	if o.Levels {
		res.Levels = clock.stop(ws)
	}
	res.Matches = ws[0].limit.clamp(res.Matches)
	res.Complete = !s.Stop.Load()
	return res, s.Failure()
}

// prepare makes the buffers of the first task. In a short search some workers come too late for
// any task, and need none.
func (w *worker) prepare() {
	p := w.pr.p
	w.e = tasks.Padded[uint64](len(p.Edges))
	w.sets = tasks.Padded[[]uint32](len(p.Sets))
	w.bufs = tasks.Padded[[]uint32](len(p.Sets))
	w.bm = tasks.Padded[nodeBitmap](len(p.Sets))
	if w.pr.parts {
		w.lists = tasks.Padded[graph.Scratch](len(p.Sets))
	}
	if w.timed == nil {
		w.tails.init(w.pr)
	}
}

func (w *worker) work(perRoot []engine.Uint128) {
	for first := true; ; first = false {
		t, ok := w.s.Next()
		if !ok {
			break
		}
		if first {
			w.prepare()
		}
		if w.timed != nil {
			w.runTimed(t)
		} else {
			w.run(t, perRoot)
		}
		w.limit.add(w)
	}
	if w.out != nil {
		if err := w.out.flush(); err != nil {
			w.s.Fail(err)
		}
	}
}

// run does one task.
func (w *worker) run(t task, perRoot []engine.Uint128) {
	w.base = t.level
	if t.level > 0 {
		for l, v := range t.prefix {
			w.m[l] = v
			w.bind(l)
		}
		before := w.count
		w.loop(t.level, t.cands)
		w.s.AddPerRoot(perRoot, w.m[0], w.count.Sub(before))
		return
	}
	lv := &w.pr.levels[0]
	it := &w.it[0]
	*it = iter{pos: int(t.begin), end: int(t.end), roots: true}
	for it.pos < it.end {
		b := it.pos
		it.pos++
		w.s.roots.each(uint64(b), uint64(b+1), func(v uint32) bool {
			if lv.filter && !lv.passes(w.pr, v, &w.m, w.e) {
				return true
			}
			before := w.count
			w.m[0] = v
			w.enter(0)
			w.s.AddPerRoot(perRoot, v, w.count.Sub(before))
			return true
		})
		if w.s.Stop.Load() {
			return
		}
		if w.s.Wanted() {
			w.split(0)
		}
	}
}

// enter goes on below level l, whose vertex is in m[l].
func (w *worker) enter(l int) {
	if w.stats != nil {
		w.stats[l] = w.stats[l].Add64(1)
		w.where.Store(int32(min(l+1, w.pr.depth-1)))
	}
	if l == w.pr.depth-1 {
		w.leaf()
		return
	}
	if !w.bind(l) {
		return
	}
	l++
	if l == w.pr.depth-w.pr.tail {
		n := w.closeTail(l)
		if len(w.pr.p.Edges) > 0 && !n.IsZero() {
			n = n.Times(engine.Tally64(w.edgeChoices(0)))
		}
		w.count = w.s.add(w.count, n)
		if w.stats != nil {
			w.stats[w.pr.depth-1] = w.stats[w.pr.depth-1].Add(n.N)
		}
		return
	}
	w.loop(l, w.candidates(l))
}

// candidates is level l's set within the level's bounds.
func (w *worker) candidates(l int) []uint32 {
	lv := &w.pr.levels[l]
	lo, hi := lv.bounds(&w.m)
	if lv.set < 0 {
		return w.all(lo, hi)
	}
	return within(w.sets[lv.set], lo, hi)
}

func (w *worker) loop(l int, list []uint32) {
	lv := &w.pr.levels[l]
	it := &w.it[l]
	*it = iter{list: list, end: len(list)}
	for it.pos < it.end {
		v := it.list[it.pos]
		it.pos++
		if lv.filter && !lv.passes(w.pr, v, &w.m, w.e) {
			continue
		}
		w.m[l] = v
		w.enter(l)
		if w.s.Stop.Load() {
			return
		}
		if w.s.Wanted() {
			w.split(l)
		}
	}
}

// split gives away half of the remaining candidates at the shallowest level that has at least
// two. l is the level that calls it.
func (w *worker) split(l int) {
	for d := w.base; d <= l; d++ {
		it := &w.it[d]
		left := it.end - it.pos
		if left < 2 {
			continue
		}
		mid := it.end - left/2
		t := task{level: d}
		if it.roots {
			t.begin, t.end = uint64(mid), uint64(it.end)
		} else {
			t.prefix = append([]uint32(nil), w.m[:d]...)
			t.cands = append([]uint32(nil), it.list[mid:it.end]...)
		}
		if w.s.Give(t) {
			it.end = mid
		}
		return
	}
}

// bind computes the set nodes that level l makes possible. It reports false as
// soon as one is empty: every node narrows some level's candidates, so none of
// the matches below can be completed.
func (w *worker) bind(l int) bool {
	for _, i := range w.pr.nodes[l] {
		if w.compute(i) == 0 {
			return false
		}
	}
	return true
}

// compute makes node i and returns its size.
func (w *worker) compute(i int) int {
	s := &w.pr.p.Sets[i]
	lo, hi := w.nodeBounds(s)
	v := w.m[s.Of]
	list := w.list(i, s.Adj, v, lo, hi)
	w.bm[i].forget()
	if s.Op == plan.SetList {
		w.sets[i] = list
		return len(list)
	}
	base := within(w.sets[s.Base], lo, hi)
	buf := w.bufs[i]
	need := len(base)
	if s.Op == plan.SetAnd {
		need = min(len(base), len(list))
	}
	if cap(buf) < need {
		w.s.took("sets of candidates", 4<<bits.Len(uint(need+16)))
		buf = tasks.Padded[uint32](1 << bits.Len(uint(need+16)))
		w.bufs[i] = buf
	}
	var n int
	if bm := w.bitmap(s, v, base, list); bm != nil {
		switch {
		case s.Op == plan.SetMinus:
			n = setops.FilterNotBits(buf, base, bm.words)
		case bm.ofBase:
			n = setops.FilterBits(buf, list, bm.words)
		default:
			n = setops.FilterBits(buf, base, bm.words)
		}
	} else if s.Op == plan.SetAnd {
		n = setops.Intersect(buf, base, list)
	} else {
		n = setops.Difference(buf, base, list)
	}
	w.sets[i] = buf[:n]
	return n
}

// list is the neighbours of v in adjacency a with lo ≤ id < hi, which node i reads.
func (w *worker) list(i, a int, v, lo, hi uint32) []uint32 {
	csr := w.pr.lists[a].Dense
	if csr == nil {
		if sparse := w.pr.lists[a].Sparse; sparse != nil {
			return within(sparse.List(v), lo, hi)
		}
		return w.pr.p.Adjs[a].Lists.ListIn(v, lo, max(lo, hi), &w.lists[i])
	}
	if f := w.pr.first[a]; f != nil {
		switch {
		case hi == v:
			return within(csr.Adj[csr.Off[v]:f[v]], lo, hi)
		case lo == v+1:
			return within(csr.Adj[f[v]:csr.Off[v+1]], lo, hi)
		}
	}
	return within(csr.List(v), lo, hi)
}

// size is compute for a node of which only the number of elements in [lo, hi)
// is wanted.
func (w *worker) size(i int, lo, hi uint32) int {
	s := &w.pr.p.Sets[i]
	nlo, nhi := w.nodeBounds(s)
	lo, hi = max(lo, nlo), min(hi, nhi)
	v := w.m[s.Of]
	base := within(w.sets[s.Base], lo, hi)
	list := w.list(i, s.Adj, v, lo, hi)
	n := 0
	if bm := w.bitmap(s, v, base, list); bm != nil {
		if bm.ofBase {
			n = setops.CountBits(list, bm.words)
		} else {
			n = setops.CountBits(base, bm.words)
		}
	} else {
		n = setops.IntersectCount(base, list)
	}
	if s.Op == plan.SetMinus {
		return len(base) - n
	}
	return n
}

func (w *worker) nodeBounds(s *plan.Set) (lo, hi uint32) {
	lo, hi = 0, ^uint32(0)
	if s.Range.End != 0 {
		lo, hi = s.Range.First, s.Range.End
	}
	for _, j := range s.Below {
		hi = min(hi, w.m[j])
	}
	for _, j := range s.Above {
		lo = max(lo, w.m[j]+1)
	}
	return lo, hi
}

// within is the part of a sorted list in [lo, hi).
func within(list []uint32, lo, hi uint32) []uint32 {
	if len(list) == 0 {
		return list
	}
	if list[len(list)-1] >= hi {
		list = list[:setops.LowerBound(list, hi)]
	}
	if lo > 0 && len(list) > 0 && list[0] < lo {
		list = list[setops.LowerBound(list, lo):]
	}
	return list
}
