package host

import (
	"context"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// The local method counts patterns in which one vertex, the root, is a neighbour of all others
// except at most one. For each data vertex as root it numbers the root's neighbours 0 … d-1 and
// writes the edges among them as a bit matrix. Every candidate set below is then d bits, an
// intersection is an AND, and a size is a population count. A restriction cuts the row at a
// position, because the numbering keeps the order of ids. The one vertex that may lie outside
// (level 1) is found by walking wedges; the neighbours that it shares with the root are another
// row.
//
// The bit matrix of a neighbourhood is the device of the fastest clique counters; walking
// wedges for pairs with common neighbours goes back to Chiba and Nishizeki (1985).

// localProgram is a plan made ready for the local method.
type localProgram struct {
	*program
	outside bool // level 1 is not a neighbour of the root
	flip    bool // run with every restriction turned round
	lists   *graph.Handle
	// Of lists that are one run: where in adj each of them and the ids above its vertex
	// begin. above is nil of others.
	adj        []uint32
	off, above []uint64
	// lower and upper: every inside vertex is below, or above, the root.
	lower, upper bool
	// need is the least number of inside neighbours of an inside vertex, and
	// share the number of inside vertices that the outside vertex needs.
	need, share int
	// sizesOnly: only the number of common neighbours of root and outside
	// vertex matters, not which they are (a 4-cycle, say).
	sizesOnly bool
	// triangle: the matches are the edges among the neighbours below the root.
	triangle bool
	// pairs is the last level but one, if the last level is the size of an earlier level's
	// fixed set cut down to each candidate's row; else -1.
	pairs int
	masks bool // some level has a label range or predicate of its own
}

func compileLocal(g *graph.Graph, p *plan.Plan) *localProgram {
	lp := &localProgram{program: compile(g, p, true), lists: p.Adjs[0].Lists}
	lp.oriented()
	hood := p.Hood(lp.depth - lp.tail)
	lp.outside, lp.share = hood.Outside, hood.Share
	lp.need = len(p.Levels)
	for l := hood.First; l < lp.depth; l++ {
		degree := 0
		for j := hood.First; j < lp.depth; j++ {
			if j != l && hasBack(p, max(l, j), min(l, j)) {
				degree++
			}
		}
		lp.need = min(lp.need, degree)
	}
	lp.sizesOnly = hood.SizesOnly && !slices.ContainsFunc(lp.levels[2:], func(lv level) bool { return lv.filter })
	// Walking wedges is cheapest from the end with the higher degree: turn the
	// restrictions round if they put the root at the other end.
	lp.flip = lp.sizesOnly && len(p.Levels[1].Below) > 0
	if lp.flip {
		lp.program = compile(lp.g, p.Turned(), true)
		lp.oriented()
		hood = lp.p.Hood(lp.depth - lp.tail)
	}
	lp.lower, lp.upper = hood.Universe == plan.LowerSide, hood.Universe == plan.UpperSide
	for l := hood.First; l < lp.depth; l++ {
		lv := &lp.levels[l]
		lp.masks = lp.masks || lv.Ranges != nil || lv.Bits != nil
	}
	if !lp.outside && lp.depth == 3 && lp.tail == 1 && lp.lower {
		a, b := &lp.levels[1], &lp.levels[2]
		lp.triangle = !lp.masks && !a.filter && !b.filter && hasBack(lp.p, 2, 1) && slices.Contains(b.Below, 1)
	}
	lp.pairs = lp.findPairs()
	return lp
}

// oriented finds where each list passes its own vertex.
func (lp *localProgram) oriented() {
	lp.orient(0)
	if run := lp.program.lists[0].Dense; run != nil {
		lp.adj, lp.off, lp.above = run.Adj, run.Off, lp.first[0]
	}
}

// findPairs looks for the shape of countPairs at the end of the plan.
func (lp *localProgram) findPairs() int {
	l := lp.depth - 2
	last := &lp.levels[lp.depth-1]
	if lp.tail != 1 || l < 1 || l == 1 && lp.outside || !lp.lazy[last.set] || last.Ranges != nil || last.Bits != nil {
		return -1
	}
	s := &lp.p.Sets[last.set]
	if s.Op != plan.SetAnd || s.Of != l || lp.p.Sets[s.Base].At >= l || s.Range.End != 0 || len(last.Distinct) > 0 ||
		slices.Contains(last.Above, l) || slices.Contains(s.Above, l) {
		return -1
	}
	return l
}

func hasBack(p *plan.Plan, l, j int) bool {
	for _, b := range p.Levels[l].Back {
		if b.Level == j && !b.Neg {
			return true
		}
	}
	return false
}

func runLocal(ctx context.Context, o job) (engine.Result, error) {
	lp := o.programs.local()
	if lp.triangle {
		return runTriangles(ctx, lp, o)
	}
	s := newSched(lp.roots(), o, o.steal, unitLeast)
	lim := &limiter{max: o.Limit, s: s}
	counts := make([]engine.Uint128, o.Threads)
	s.run(ctx, o, func(i int, m *crew.Memory) {
		t, ok := s.Next()
		if !ok {
			return // in a short search some come too late: they take no memory
		}
		w := newLocalWorker(lp, s, i, m)
		for ; ok; t, ok = s.Next() {
			w.run(t, o.PerRoot)
			lim.addCount(i, w.count)
		}
		counts[i] = w.count
		w.free()
	})
	var res engine.Result
	for _, n := range counts {
		res.Matches = s.add(res.Matches, engine.Tally{N: n})
	}
	res.Matches = lim.clamp(res.Matches)
	res.Complete = !s.Stop.Load()
	return res, s.Failure()
}

// localWorker is one goroutine's state.
type localWorker struct {
	lp *localProgram
	s  *sched
	id int

	m    [maxLevels]uint32 // matched vertices, by level
	pos  [maxLevels]int    // their positions in the universe, -1 outside it
	cut  [maxLevels]int    // how many of the universe have smaller ids
	it   [maxLevels]localIter
	base int

	*localScratch
	ones    []uint64   // all d bits
	row1    []uint64   // the neighbours that the outside vertex shares with the root
	sets    [][]uint64 // value of each set node
	size    []int      // and how many it has
	bufs    [][]uint64
	trimmed []uint64
	cand    [][]uint64 // candidates of each level being enumerated
	mask    [][]uint64 // label and predicate mask of each level; nil: all
	tails   localTail
	count   engine.Uint128
	rows    int // bytes of matrices that are counted as taken
}

// localIter is the loop of one level: positions (or, for an outside level,
// indexes into the list of outside vertices) pos … end-1 of list.
type localIter struct {
	list     []uint32
	pos, end int
	roots    bool
}

func newLocalWorker(lp *localProgram, s *sched, id int, m *crew.Memory) *localWorker {
	w := &localWorker{lp: lp, s: s, id: id}
	w.sets = tasks.Padded[[]uint64](len(lp.p.Sets))
	w.size = tasks.Padded[int](len(lp.p.Sets))
	w.bufs = tasks.Padded[[]uint64](len(lp.p.Sets))
	w.cand = tasks.Padded[[]uint64](lp.depth)
	w.mask = tasks.Padded[[]uint64](lp.depth)
	w.localScratch = localMemory.Get().(*localScratch)
	s.took("arrays over the vertices", w.bytes(lp))
	w.hood.init(lp, m)
	w.wedge.init(lp, m)
	w.tails.init(lp)
	return w
}

func (w *localWorker) run(t task, perRoot []engine.Uint128) {
	w.base = t.level
	if t.level > 0 {
		before := w.count
		if w.enterRoot(t.prefix[0]) {
			ok := true
			for l := 1; l < t.level && ok; l++ {
				ok = w.place(l, t.prefix[l]) && w.bind(l)
			}
			if ok {
				w.resume(t.level, t.cands)
			}
		}
		w.s.AddPerRoot(perRoot, t.prefix[0], w.count.Sub(before))
		return
	}
	lv := &w.lp.levels[0]
	it := &w.it[0]
	*it = localIter{pos: int(t.begin), end: int(t.end), roots: true}
	for it.pos < it.end {
		b := it.pos
		it.pos++
		w.s.roots.each(uint64(b), uint64(b+1), func(v uint32) bool {
			if lv.minDegree > 0 && w.lp.lists.Degree(v) < lv.minDegree {
				return true
			}
			before := w.count
			if w.enterRoot(v) {
				w.down(1)
			}
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

// enterRoot makes the neighbourhood of v the universe. It reports false when
// no match can have v as its root.
func (w *localWorker) enterRoot(v uint32) bool {
	w.m[0], w.pos[0] = v, -1
	if !w.hood.enter(w.lp, v) {
		return false
	}
	h := &w.hood
	if more := 8 * cap(h.rows); more > w.rows {
		w.s.took("matrices of neighbourhoods", more-w.rows)
		w.rows = more
	}
	w.ones = grow(w.ones, h.words)
	for i := range w.ones {
		w.ones[i] = ^uint64(0)
	}
	if r := h.d & 63; r != 0 {
		w.ones[h.words-1] = 1<<r - 1
	}
	w.cut[0] = setops.LowerBound(h.list, v)
	if w.lp.masks {
		w.makeMasks()
	}
	return w.bind(0)
}

// makeMasks turns the label ranges and predicates of the levels into masks over
// the universe.
func (w *localWorker) makeMasks() {
	for l := range w.lp.levels {
		lv := &w.lp.levels[l]
		if l == 0 || lv.Ranges == nil && lv.Bits == nil {
			continue
		}
		mk := grow(w.mask[l], w.hood.words)
		clear(mk)
		for i, v := range w.hood.list {
			if (lv.Ranges == nil || inRanges(lv.Ranges, v)) && (lv.Bits == nil || lv.Bits[v>>6]>>(v&63)&1 != 0) {
				mk[i>>6] |= 1 << (i & 63)
			}
		}
		w.mask[l] = mk
	}
}

// place puts vertex v at level l.
func (w *localWorker) place(l int, v uint32) bool {
	w.m[l] = v
	w.cut[l] = setops.LowerBound(w.hood.list, v)
	w.pos[l] = -1
	if c := w.cut[l]; c < w.hood.d && w.hood.list[c] == v {
		w.pos[l] = c
	}
	if l == 1 && w.lp.outside {
		w.row1 = w.hood.share(w.lp, v, w.row1)
		return true
	}
	return w.pos[l] >= 0
}

// down enumerates or closes level l, all earlier levels being bound.
func (w *localWorker) down(l int) {
	if l == 1 && w.lp.outside {
		w.outside()
		return
	}
	if l == w.lp.depth-w.lp.tail {
		w.count = w.s.add(w.count, w.closeTail(l))
		return
	}
	c := w.candidates(l)
	if l == w.lp.pairs {
		w.count = w.count.Add64(w.countPairs(c, l))
		return
	}
	it := &w.it[l]
	*it = localIter{list: it.list[:0]}
	for i, x := range c {
		for ; x != 0; x &= x - 1 {
			it.list = append(it.list, uint32(i<<6+bits.TrailingZeros64(x)))
		}
	}
	it.end = len(it.list)
	w.loop(l)
}

// resume does a given part of level l: vertices, not positions.
func (w *localWorker) resume(l int, cands []uint32) {
	it := &w.it[l]
	*it = localIter{list: it.list[:0]}
	if l == 1 && w.lp.outside {
		*it = localIter{list: cands, end: len(cands)}
		for it.pos < it.end {
			v := it.list[it.pos]
			it.pos++
			if w.place(1, v) && w.bind(1) {
				w.down(2)
			}
			if w.s.Stop.Load() {
				return
			}
			if w.s.Wanted() {
				w.split(1)
			}
		}
		*it = localIter{} // the list was the task's
		return
	}
	for _, v := range cands {
		it.list = append(it.list, uint32(setops.LowerBound(w.hood.list, v)))
	}
	it.end = len(it.list)
	w.loop(l)
}

func (w *localWorker) loop(l int) {
	it := &w.it[l]
	last := l == w.lp.depth-1
	for it.pos < it.end {
		p := int(it.list[it.pos])
		it.pos++
		w.pos[l], w.cut[l], w.m[l] = p, p, w.hood.list[p]
		if last {
			w.count = w.count.Add64(1)
			continue
		}
		if w.bind(l) {
			w.down(l + 1)
		}
		if w.s.Stop.Load() {
			return
		}
		if w.s.Wanted() {
			w.split(l)
		}
	}
}

// minSplit is how many candidates are worth giving away: the thief makes the
// root's matrix again.
const minSplit = 8

func (w *localWorker) split(l int) {
	for d := w.base; d <= min(l, 2); d++ {
		it := &w.it[d]
		left := it.end - it.pos
		if left < 2 || d > 0 && left < minSplit {
			continue
		}
		mid := it.end - left/2
		t := task{level: d}
		switch {
		case it.roots:
			t.begin, t.end = uint64(mid), uint64(it.end)
		default:
			t.prefix = append([]uint32(nil), w.m[:d]...)
			t.cands = append([]uint32(nil), it.list[mid:it.end]...)
			if d > 1 || !w.lp.outside {
				for i, p := range t.cands {
					t.cands[i] = w.hood.list[p]
				}
			}
		}
		if w.s.Give(t) {
			it.end = mid
		}
		return
	}
}

func grow(b []uint64, n int) []uint64 {
	if cap(b) < n {
		b = tasks.Padded[uint64](1 << bits.Len(uint(n)))
	}
	return b[:n]
}
