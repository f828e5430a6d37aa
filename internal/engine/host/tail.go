package host

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tail"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/setops"
)

// tailState counts the last levels. A single last level is the size of its set. Several
// independent levels are counted from the sizes of intersections of their sets.
type tailState struct {
	tail.Sum
	probe probe

	first   int       // first tail level
	reps    []tailSet // the different sets: one of each group of the plan's tail
	scratch [2][]uint32
	every   []uint32 // all vertices, for product levels
}

type tailSet struct {
	level int
	list  []uint32
	buf   []uint32
	in    uint64 // which earlier levels' vertices lie in list
	// below and above are the restrictions against levels before the tail;
	// those inside the tail are the divisor's business.
	below, above []int
}

func (t *tailState) init(pr *program) {
	if pr.tail < 2 {
		return
	}
	tl := &pr.p.Tail
	t.first = pr.depth - pr.tail
	t.Init(pr.p)
	for _, g := range tl.Groups {
		lv := &pr.levels[g.Levels[0]]
		t.reps = append(t.reps, tailSet{level: g.Levels[0], below: before(lv.Below, t.first), above: before(lv.Above, t.first)})
	}
	t.reps = append(tasks.Padded[tailSet](len(t.reps))[:0], t.reps...)
}

// before keeps the levels below first.
func before(levels []int, first int) []int {
	return slices.DeleteFunc(slices.Clone(levels), func(j int) bool { return j >= first })
}

// all is every vertex in [lo, hi): the candidates of a level that starts a
// further component.
func (w *worker) all(lo, hi uint32) []uint32 {
	t := &w.tails
	if t.every == nil {
		n := w.pr.g.NumVertices()
		w.s.took("lists of all vertices", 4*n)
		t.every = make([]uint32, n)
		for i := range t.every {
			t.every[i] = uint32(i)
		}
	}
	if hi <= lo {
		return nil
	}
	return t.every[lo:hi]
}

// closeTail counts the ways to match level l and those after it.
func (w *worker) closeTail(l int) engine.Tally {
	if w.pr.tail == 1 {
		return engine.Tally64(uint64(w.lastSize(l)))
	}
	t := &w.tails
	var widest uint64
	for r := range t.reps {
		w.tailSet(&t.reps[r])
		widest = max(widest, uint64(len(t.reps[r].list)))
	}
	if widest == 0 {
		return engine.Tally{}
	}
	for i, mask := range t.Blocks {
		t.Sizes[i] = w.blockSize(mask)
	}
	return t.Count(widest)
}

// lastSize is the number of candidates of the last level.
func (w *worker) lastSize(l int) int {
	lv := &w.pr.levels[l]
	lo, hi := lv.bounds(&w.m)
	if hi <= lo {
		return 0
	}
	var n int
	switch {
	case lv.loose:
		for _, v := range w.all(lo, hi) {
			if lv.passes(w.pr, v, &w.m, w.e) {
				n++
			}
		}
		return n
	case lv.set < 0:
		n = w.countIn(lv, w.all(lo, hi))
	case w.pr.lazy[lv.set]:
		n = w.size(lv.set, lo, hi)
	default:
		n = w.countIn(lv, within(w.sets[lv.set], lo, hi))
	}
	if n == 0 {
		return 0
	}
	for i := range lv.member {
		if w.pr.inside(lv, &lv.member[i], lo, hi, &w.m) {
			n--
		}
	}
	return n
}

// countIn counts the elements of list that the label ranges and predicates of
// lv allow.
func (w *worker) countIn(lv *level, list []uint32) int {
	if !lv.many {
		if lv.Bits != nil {
			return setops.CountBits(list, lv.Bits)
		}
		return len(list)
	}
	n := 0
	for _, r := range lv.Ranges {
		part := within(list, r.First, r.End)
		if lv.Bits != nil {
			n += setops.CountBits(part, lv.Bits)
		} else {
			n += len(part)
		}
	}
	return n
}

// tailSet makes the candidates of a tail level and notes which earlier vertices
// are among them.
func (w *worker) tailSet(s *tailSet) {
	lv := &w.pr.levels[s.level]
	first := w.tails.first
	lo, hi := lv.one.First, lv.one.End
	for _, j := range s.below {
		hi = min(hi, w.m[j])
	}
	for _, j := range s.above {
		lo = max(lo, w.m[j]+1)
	}
	s.in = 0
	if lv.set < 0 {
		s.list = w.all(lo, hi)
	} else {
		s.list = within(w.sets[lv.set], lo, hi)
	}
	if lv.many || lv.Bits != nil || lv.loose {
		s.buf = append(s.buf[:0], s.list...)
		n := 0
		for _, v := range s.buf {
			s.buf[n] = v
			if (!lv.many || inRanges(lv.Ranges, v)) && (lv.Bits == nil || lv.Bits[v>>6]>>(v&63)&1 != 0) &&
				(!lv.loose || w.pr.apart(lv, v, &w.m)) {
				n++
			}
		}
		s.list = s.buf[:n]
	}
	if len(s.list) == 0 {
		return
	}
	for i := range lv.member {
		if j := lv.member[i].Level; j < first && w.pr.inside(lv, &lv.member[i], lo, hi, &w.m) {
			s.in |= 1 << j
		}
	}
}

// blockSize is the number of vertices that all sets of the block hold, without
// the ones matched already.
func (w *worker) blockSize(mask uint32) uint64 {
	t := &w.tails
	r := bits.TrailingZeros32(mask)
	list, in := t.reps[r].list, t.reps[r].in
	for rest := mask & (mask - 1); rest != 0; rest &= rest - 1 {
		next := &t.reps[bits.TrailingZeros32(rest)]
		in &= next.in
		if rest&(rest-1) == 0 {
			return uint64(setops.IntersectCount(list, next.list) - bits.OnesCount64(in))
		}
		// Two buffers by turns: the operand may lie in the other one.
		s := &t.scratch[bits.OnesCount32(rest)&1]
		if need := min(len(list), len(next.list)) + 16; cap(*s) < need {
			*s = make([]uint32, 2*need)
		}
		n := setops.Intersect(*s, list, next.list)
		list = (*s)[:n]
	}
	return uint64(len(list) - bits.OnesCount64(in))
}
