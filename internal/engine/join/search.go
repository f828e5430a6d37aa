package join

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// hostBatch is the most rows of a batch where the options leave it open.
const hostBatch = 4096

// maxLevels is the most vertices that patterns have.
const maxLevels = 32

// search is one run.
type search struct {
	*prepared
	goal  engine.Goal
	rows  *engine.Rows // takes matches; nil when they are counted as they come
	queue *queue
	batch int
	// claimed are the matches that were listed, or found, of Goal.Limit.
	claimed atomic.Int64
	share   *memory.Share
}

// discard takes the matches of a count over choices of data edges.
type discard struct{}

func (discard) Emit(int, *engine.Batch) error { return nil }

func newSearch(x *prepared, goal engine.Goal) *search {
	s := &search{prepared: x, goal: goal, batch: x.batch}
	if s.batch == 0 {
		s.batch = hostBatch
	}
	if x.o.Memory > 0 {
		// A batch for each step of each thread.
		row := 0
		for i := range x.steps {
			row += x.rowBytes(i)
		}
		s.batch = int(max(1, min(int64(s.batch), x.o.Memory/int64(row*x.o.Threads))))
	}
	switch {
	case goal.Sink != nil:
		s.rows = engine.NewRows(x.p, goal.Sink, goal.Limit)
	case len(x.p.Edges) > 0:
		s.rows = engine.NewRows(x.p, discard{}, goal.Limit)
	}
	s.queue = newQueue(&x.steps[0].groups[0], x.o.Threads, x.steal, x.merges())
	return s
}

// countedLeast is the number of bytes from which an array of a worker is counted.
const countedLeast = 64 << 10

// took counts an array that a worker is about to make. If there may be no more, the run fails.
func (s *search) took(what string, bytes int) {
	if bytes < countedLeast {
		return
	}
	if err := s.share.Take(what, int64(bytes)); err != nil {
		s.queue.Fail(err)
	}
}

func (s *search) run(ctx context.Context) (engine.Result, error) {
	s.share = memory.ShareOf(ctx)
	ws := make([]*worker, s.o.Threads)
	s.queue.run(ctx, s.o.Crew, s.goal.Progress, func(i int, _ *crew.Memory) {
		w := newWorker(s, i)
		ws[i] = w
		w.work()
	})
	var res engine.Result
	total := engine.Tally{}
	rows, most := make([]uint64, len(s.steps)), uint64(0)
	if s.o.Levels {
		res.Levels = make([]engine.LevelStat, len(s.p.Levels))
	}
	for _, w := range ws {
		if w == nil {
			continue
		}
		total = total.Plus(w.count)
		most += 4 * uint64(w.most)
		for i := range rows {
			rows[i] += w.parts[i].made
		}
		for l := range res.Levels {
			res.Levels[l].Matches = res.Levels[l].Matches.Add(w.stats[l])
		}
	}
	err := s.queue.Failure()
	if total.Over && err == nil {
		err = engine.ErrOverflow
	}
	res.Matches = total.N
	if s.rows != nil && s.rows.Chooses() {
		res.Matches = engine.U64(s.rows.Matches())
	}
	if most := engine.U64(uint64(max(s.goal.Limit, 0))); s.goal.Limit > 0 && res.Matches.Cmp(most) > 0 {
		res.Matches = most
	}
	res.Complete = !s.queue.Stop.Load()
	res.Stats = s.stats(rows, most)
	return res, err
}

// worker is one goroutine's state.
type worker struct {
	*search
	operations
	id    int
	parts []part // by step
	count engine.Tally
	seen  uint64 // of count, what the limit knows
	stats []engine.Uint128
	own   [maxLevels]uint32 // a row in the graph's ids, where those of the lists differ
	edges []uint64          // for conditions, which read no data edges
	out   []uint32          // matches by pattern vertex
	// Ids in the tables: now, and at most so far.
	held, most int
}

// part is a worker's state in one step.
type part struct {
	m     [maxLevels]uint32 // the row that is extended
	n     engine.Tally      // its weight: the number of partial matches that it stands for
	table []uint32          // the rows that the step has made
	// weights are those of the table's rows, of a step that has any; else they are 1.
	weights []engine.Tally
	merged  *merged // of a step that merges
	made    uint64  // rows for tables so far
	lo      uint32  // the row's candidates for the step's first level, of several: those that a task has
	hi      uint32
	cand    []candidates // of each group
	tail    *tailState   // of a step that counts the plan's tail
}

// outRows is how many matches are handed over at once.
const outRows = 1024

func newWorker(s *search, id int) *worker {
	w := &worker{search: s, operations: operations{s.naive}, id: id, parts: make([]part, len(s.steps)), edges: make([]uint64, len(s.p.Edges))}
	for i := range s.steps {
		w.parts[i].cand = newCandidates(s.steps[i].groups, s)
		w.parts[i].hi = ^uint32(0)
		if s.steps[i].Pattern == phases.Sizes {
			w.parts[i].tail = newTailState(s.p, &s.steps[i], w.operations)
		}
	}
	if s.o.Levels {
		w.stats = make([]engine.Uint128, len(s.p.Levels))
	}
	return w
}

func (w *worker) work() {
	for {
		t, ok := w.queue.Next()
		if !ok {
			break
		}
		if t.rows == nil {
			w.roots(t)
		} else {
			pt := &w.parts[t.step]
			w.hold(len(t.rows))
			pt.lo, pt.hi = t.lo, t.hi
			w.step(t.step, t.rows, t.weights)
			pt.lo, pt.hi = 0, ^uint32(0)
			w.hold(-len(t.rows))
		}
		// What is left in the tables goes on; a later step's rows come after.
		for i := range w.steps {
			w.flush(i)
		}
		w.limit()
	}
	w.hand()
}

// roots makes the rows of the first step.
func (w *worker) roots(t task) {
	x := &w.steps[0].groups[0]
	w.queue.each(t, func(v uint32) bool {
		if x.allows(w.lists, v) {
			w.parts[0].m[0], w.parts[0].n = v, engine.One
			w.choose(0, 0)
		}
		return !w.queue.Stop.Load()
	})
}

// step joins rows, of the width of step i, with the candidates of the step. Without weights, these are 1.
func (w *worker) step(i int, rows []uint32, weights []engine.Tally) {
	s, pt := &w.steps[i], &w.parts[i]
	for n := len(rows) / s.width; n > 0; n-- {
		if w.queue.Stop.Load() {
			return
		}
		if n > 1 && w.queue.Wanted() {
			half := n / 2
			given := task{step: i, rows: slices.Clone(rows[(n-half)*s.width:]), hi: ^uint32(0)}
			if weights != nil {
				given.weights = slices.Clone(weights[n-half : n])
			}
			if w.queue.Give(given) {
				n -= half
				rows = rows[:n*s.width]
			}
		}
		copy(pt.m[:], rows[:s.width])
		rows = rows[s.width:]
		if pt.n = engine.One; weights != nil {
			pt.n, weights = weights[0], weights[1:]
		}
		if s.Pattern == phases.Eliminate {
			if w.closes(s, &pt.m) {
				w.put(i)
			}
			continue
		}
		w.extend(i)
	}
}

// closes reports whether a row has the edges that an elimination looks for.
func (w *worker) closes(s *step, m *[maxLevels]uint32) bool {
	for _, e := range s.Close {
		if w.lists.has(e.Adj, m[e.Back.Level], m[e.Level]) == e.Neg {
			return false
		}
	}
	return true
}

// extend joins one row, which is in the part's m.
func (w *worker) extend(i int) {
	s, pt := &w.steps[i], &w.parts[i]
	if len(s.levels) == 1 && s.levels[0].size {
		w.countLast(s, pt)
		return
	}
	for k := range s.groups {
		if w.find(&s.groups[k], &pt.m, &pt.cand[k], s.groups[k].early); len(pt.cand[k].list) == 0 {
			return
		}
	}
	switch {
	case s.Weigh:
		c := &pt.cand[0]
		if n := len(c.list) - bits.OnesCount32(c.taken(s.groups[0].distinct, &pt.m)); n > 0 {
			weight := pt.n
			if pt.n = weight.Times(engine.Tally64(uint64(n))); pt.n.Over {
				w.queue.Fail(engine.ErrOverflow)
			}
			pt.m[s.levels[0].level] = nobody
			w.put(i)
			pt.n = weight
		}
	case pt.tail != nil:
		w.add(pt.tail.count(s, pt), pt)
	case s.closed:
		n := engine.One
		for k := range s.groups {
			x := &s.groups[k]
			taken := bits.OnesCount32(pt.cand[k].taken(x.distinct, &pt.m))
			n = n.Times(w.choices(s, k, uint64(len(pt.cand[k].list)-taken)))
		}
		w.add(n, pt)
	default:
		w.choose(i, 0)
	}
}

// countLast counts the candidates of the step's last level, which are in several lists.
func (w *worker) countLast(s *step, pt *part) {
	lv := &s.levels[len(s.levels)-1]
	if n := w.size(&s.groups[lv.group], &pt.m, &pt.cand[lv.group], lv.apart); n > 0 {
		w.add(engine.Tally64(uint64(n)), pt)
	}
}

// choices is the number of ways to match the levels of group k with n candidates.
func (w *worker) choices(s *step, k int, n uint64) engine.Tally {
	x := &s.groups[k]
	size := uint64(len(x.Levels))
	_, distinct := distinctInside(s, k)
	switch {
	case x.ordered:
		if size > n {
			return engine.Tally{}
		}
		t := engine.One
		for j := range size {
			t = t.MulDiv(n-j, j+1)
		}
		return t
	case distinct:
		t := engine.One
		for j := range size {
			t = t.Times(engine.Tally64(n - min(j, n)))
		}
		return t
	}
	t := engine.One
	for range size {
		t = t.Times(engine.Tally64(n))
	}
	return t
}

// choose matches the step's levels from number k on, each in all ways, and makes a row of each.
func (w *worker) choose(i, k int) {
	s, pt := &w.steps[i], &w.parts[i]
	if i == 0 {
		// The root is in place.
		if w.passes(&s.levels[0], &pt.m) {
			w.put(0)
		}
		return
	}
	if k == len(s.levels) {
		w.put(i)
		return
	}
	lv := &s.levels[k]
	if lv.size && lv.late {
		w.countLast(s, pt)
		return
	}
	if lv.late {
		w.find(&s.groups[lv.group], &pt.m, &pt.cand[lv.group], len(s.groups[lv.group].sources))
	}
	lo, hi := uint32(0), ^uint32(0)
	if k == 0 {
		lo, hi = pt.lo, pt.hi
	}
	for _, j := range lv.below {
		hi = min(hi, pt.m[j])
	}
	for _, j := range lv.above {
		lo = max(lo, pt.m[j]+1)
	}
	if lo >= hi {
		return
	}
	list := pt.cand[lv.group].list
	if lo > 0 || hi != ^uint32(0) {
		list = plan.Within(list, lo, hi)
	}
	if k == len(s.levels)-1 && s.count && len(lv.checks) == 0 {
		n := len(list)
		for _, j := range lv.apart {
			if setops.Contains(list, pt.m[j]) {
				n--
			}
		}
		if n > 0 {
			w.add(engine.Tally64(uint64(n)), pt)
		}
		return
	}
	share := k == 0 && len(s.levels) > 1 // a row may be as long as the whole search
next:
	for n := 0; n < len(list); n++ {
		if share && n+1 < len(list) && w.queue.Wanted() {
			list = w.give(i, list, n)
		}
		v := list[n]
		for _, j := range lv.apart {
			if pt.m[j] == v {
				continue next
			}
		}
		pt.m[lv.level] = v
		if !w.passes(lv, &pt.m) {
			continue
		}
		if k == len(s.levels)-1 {
			w.put(i)
		} else {
			w.choose(i, k+1)
		}
		if w.queue.Stop.Load() {
			return
		}
	}
}

// give hands away the second half of the candidates behind position n, for the first level of step i, and returns the others.
func (w *worker) give(i int, list []uint32, n int) []uint32 {
	pt := &w.parts[i]
	middle := n + 1 + (len(list)-n-1)/2
	hi := list[len(list)-1] + 1
	if w.queue.Give(task{step: i, rows: slices.Clone(pt.m[:w.steps[i].width]), weights: []engine.Tally{pt.n}, lo: list[middle], hi: hi}) {
		list = list[:middle]
	}
	return list
}

// passes evaluates the conditions that are known at a level.
func (w *worker) passes(lv *level, m *[maxLevels]uint32) bool {
	if len(lv.checks) > 0 && w.ids != nil { // conditions read the graph's ids
		own := w.own[:lv.level+1]
		for j := range own {
			own[j] = w.ids.Old[m[j]]
		}
		m = &w.own
	}
	for k := range lv.checks {
		if !lv.checks[k].Eval(m[:], w.edges) {
			return false
		}
	}
	if w.stats != nil {
		w.stats[lv.level] = w.stats[lv.level].Add64(1)
	}
	return true
}

// put takes the row that step i has made, which is in the part's m.
func (w *worker) put(i int) {
	s, pt := &w.steps[i], &w.parts[i]
	if i == len(w.steps)-1 {
		w.match(pt)
		return
	}
	if w.steps[i+1].merging != nil {
		pt.made++
		w.merge(i+1, &pt.m, pt.n)
		return
	}
	if s.Initial {
		next := &w.parts[i+1]
		copy(next.m[:s.after], pt.m[:s.after])
		next.n = pt.n
		w.extend(i + 1)
		return
	}
	if len(pt.table) == cap(pt.table) {
		w.grow(pt, s.after, w.batch, s.weighs)
	}
	pt.table = append(pt.table, pt.m[:s.after]...)
	if s.weighs {
		pt.weights = append(pt.weights, pt.n)
	}
	pt.made++
	w.hold(s.after)
	if len(pt.table) == w.batch*s.after {
		w.flush(i)
	}
}

// hold counts ids that came to the tables, or with a number below 0 went.
func (w *worker) hold(ids int) {
	w.held += ids
	w.most = max(w.most, w.held)
}

// firstRows is the number of rows that a table begins with. Most tables of small searches stay smaller.
const firstRows = 64

// grow makes room for more rows of a width in a part's table, for at most so many, with their weights if they have any.
func (w *worker) grow(pt *part, width, most int, weighs bool) {
	rows := min(max(4*(cap(pt.table)/width), firstRows), most)
	w.took("tables of partial matches", 4*rows*width)
	pt.table = append(make([]uint32, 0, rows*width), pt.table...)
	if weighs {
		w.took("weights of partial matches", int(unsafe.Sizeof(engine.Tally{}))*rows)
		pt.weights = append(make([]engine.Tally, 0, rows), pt.weights...)
	}
}

// flush hands the rows of step i to the next.
func (w *worker) flush(i int) {
	if pt := &w.parts[i]; len(pt.table) > 0 && !w.queue.Stop.Load() {
		w.step(i+1, pt.table, pt.weights)
		w.hold(-len(pt.table))
		pt.table, pt.weights = pt.table[:0], pt.weights[:0]
		if pt.merged != nil {
			clear(pt.merged.slots)
		}
	}
}

// match takes a match.
func (w *worker) match(pt *part) {
	if w.rows == nil {
		w.add(engine.One, pt)
		return
	}
	if !w.rows.Chooses() && w.goal.Limit > 0 {
		n := w.claimed.Add(1)
		if n >= w.goal.Limit {
			defer w.queue.Fail(engine.ErrStop)
		}
		if n > w.goal.Limit {
			return
		}
	}
	w.count = w.count.Plus(engine.One)
	for _, l := range w.p.LevelOf {
		w.out = append(w.out, pt.m[l])
	}
	if len(w.out) >= outRows*len(w.p.LevelOf) {
		w.hand()
	}
}

// hand gives the matches to the sink.
func (w *worker) hand() {
	if len(w.out) == 0 {
		return
	}
	if w.ids != nil {
		for i, v := range w.out {
			w.out[i] = w.ids.Old[v]
		}
	}
	if err := w.rows.Hand(w.id, w.out); err != nil {
		w.queue.Fail(err)
	}
	w.out = w.out[:0]
}

// add counts n matches of each partial match that a part's row stands for.
func (w *worker) add(n engine.Tally, pt *part) {
	if pt.n != engine.One {
		n = n.Times(pt.n)
	}
	w.count = w.count.Plus(n)
	if w.count.Over {
		w.queue.Fail(engine.ErrOverflow)
	}
	if w.goal.PerRoot != nil { // else nobody may be in place of the root
		w.queue.AddPerRoot(w.goal.PerRoot, w.original(pt.m[0]), n.N)
	}
	if w.goal.Limit > 0 {
		w.limit()
	}
}

// limit stops the run once enough matches were counted.
func (w *worker) limit() {
	if w.goal.Limit <= 0 || w.rows != nil {
		return
	}
	n := w.count.N.Lo
	if w.count.Over || w.count.N.Hi > 0 {
		n = 1 << 62
	}
	if w.claimed.Add(int64(min(n-w.seen, 1<<62))) >= w.goal.Limit {
		w.queue.Fail(engine.ErrStop)
	}
	w.seen = n
}
