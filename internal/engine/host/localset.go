package host

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/setops"
)

// The set program over rows of bits.

// bind computes the nodes that level l makes possible; false as soon as one is
// empty.
func (w *localWorker) bind(l int) bool {
	for _, i := range w.lp.nodes[l] {
		s := &w.lp.p.Sets[i]
		if s.Op == plan.SetList && s.Of == 0 && len(s.Below)+len(s.Above) == 0 && s.Range.End == 0 {
			w.sets[i], w.size[i] = w.ones, w.hood.d
			continue
		}
		lo, hi := w.nodeCut(s)
		if hi <= lo {
			return false
		}
		buf := grow(w.bufs[i], w.hood.words)
		w.bufs[i] = buf
		base, flip := w.ones, uint64(0)
		if s.Op != plan.SetList {
			base = w.sets[s.Base]
		}
		if s.Op == plan.SetMinus {
			flip = ^flip
		}
		n := cutSet(buf, base, w.row(s.Of), flip, lo, hi)
		if n == 0 {
			return false
		}
		w.sets[i], w.size[i] = buf, n
	}
	return true
}

// cutSet writes to dst the bits lo … hi-1 of a ∩ b or, with flip all ones, of a − b, and
// returns their number. It is a loop here because most rows have few words, and a call would
// take longer.
func cutSet(dst, a, b []uint64, flip uint64, lo, hi int) (n int) {
	i, k := lo>>6, (hi-1)>>6
	clear(dst[:i])
	clear(dst[k+1:])
	first, last := ^uint64(0)<<(lo&63), ^uint64(0)>>(63-(hi-1)&63)
	if i == k {
		first &= last
	}
	x := a[i] & (b[i] ^ flip) & first
	dst[i] = x
	n = bits.OnesCount64(x)
	if i == k {
		return n
	}
	x = a[k] & (b[k] ^ flip) & last
	dst[k] = x
	n += bits.OnesCount64(x)
	dst, a, b = dst[i+1:k], a[i+1:k], b[i+1:k]
	switch {
	case len(dst) > 8 && flip == 0:
		return n + setops.And(dst, a, b)
	case len(dst) > 8:
		return n + setops.AndNot(dst, a, b)
	}
	for j := range dst {
		x = a[j] & (b[j] ^ flip)
		dst[j] = x
		n += bits.OnesCount64(x)
	}
	return n
}

// row is the neighbours of level l's vertex within the universe.
func (w *localWorker) row(l int) []uint64 {
	switch {
	case l == 0:
		return w.ones
	case l == 1 && w.lp.outside:
		return w.row1
	}
	return w.hood.row(w.pos[l])
}

func (w *localWorker) nodeCut(s *plan.Set) (lo, hi int) {
	hi = w.hood.d
	if s.Range.End != 0 {
		lo, hi = setops.LowerBound(w.hood.list, s.Range.First), setops.LowerBound(w.hood.list, s.Range.End)
	}
	return w.cuts(s.Below, s.Above, lo, hi)
}

// cuts narrows the positions [lo, hi) by restrictions.
func (w *localWorker) cuts(below, above []int, lo, hi int) (int, int) {
	for _, j := range below {
		hi = min(hi, w.cut[j])
	}
	for _, j := range above {
		c := w.cut[j]
		if w.pos[j] == c {
			c++
		}
		lo = max(lo, c)
	}
	return lo, hi
}

// trim clears the bits of b outside [lo, hi) and returns how many stay.
func trim(b []uint64, lo, hi int) int {
	if hi <= lo {
		clear(b)
		return 0
	}
	clear(b[:lo>>6])
	b[lo>>6] &= ^uint64(0) << (lo & 63)
	if r := hi & 63; r != 0 {
		b[hi>>6] &= 1<<r - 1
		clear(b[hi>>6+1:])
	} else {
		clear(b[hi>>6:])
	}
	n := 0
	for _, x := range b[lo>>6 : (hi+63)>>6] {
		n += bits.OnesCount64(x)
	}
	return n
}

// candidates is level l's set with everything that the level itself asks for.
func (w *localWorker) candidates(l int) []uint64 {
	lv := &w.lp.levels[l]
	c := grow(w.cand[l], w.hood.words)
	w.cand[l] = c
	w.fill(c, l, lv.Below, lv.Above)
	for _, j := range lv.Distinct {
		if p := w.pos[j]; p >= 0 {
			c[p>>6] &^= 1 << (p & 63)
		}
	}
	return c
}

// fill writes level l's set, its mask and the given restrictions to c.
func (w *localWorker) fill(c []uint64, l int, below, above []int) int {
	src := w.sets[w.lp.levels[l].set]
	lo, hi := w.cuts(below, above, 0, w.hood.d)
	if hi <= lo {
		clear(c)
		return 0
	}
	mk := w.mask[l]
	if mk == nil {
		mk = w.ones
	}
	return cutSet(c, src, mk, 0, lo, hi)
}

// lastSize is the number of candidates of the last level: the size of a
// node that is not computed, where that is all that is wanted.
func (w *localWorker) lastSize(l int) int {
	lv := &w.lp.levels[l]
	lo, hi := w.cuts(lv.Below, lv.Above, 0, w.hood.d)
	if !w.lp.lazy[lv.set] || w.mask[l] != nil {
		if w.lp.lazy[lv.set] {
			w.lp.force(w, lv.set)
		}
		src := w.sets[lv.set]
		n := 0
		if mk := w.mask[l]; mk != nil {
			n = countAnd(src, mk, lo, hi)
		} else {
			n = countRow(src, lo, hi)
		}
		for _, j := range lv.Distinct {
			if p := w.pos[j]; p >= lo && p < hi && src[p>>6]>>(p&63)&1 != 0 && w.masked(l, p) {
				n--
			}
		}
		return n
	}
	s := &w.lp.p.Sets[lv.set]
	a, b := w.nodeCut(s)
	lo, hi = max(lo, a), min(hi, b)
	if hi <= lo {
		return 0
	}
	base, row := w.sets[s.Base], w.row(s.Of)
	minus := s.Op == plan.SetMinus
	var n int
	if minus {
		n = countRow(base, lo, hi) - countAnd(base, row, lo, hi)
	} else {
		n = countAnd(base, row, lo, hi)
	}
	for _, j := range lv.Distinct {
		p := w.pos[j]
		if p < lo || p >= hi || base[p>>6]>>(p&63)&1 == 0 {
			continue
		}
		if (row[p>>6]>>(p&63)&1 != 0) != minus {
			n--
		}
	}
	return n
}

// countPairs closes the last two levels in one loop: for each candidate of
// level l, how much of one fixed set its row holds. It is where the time of
// clique counting goes.
func (w *localWorker) countPairs(c []uint64, l int) uint64 {
	last := &w.lp.levels[l+1]
	s := &w.lp.p.Sets[last.set]
	below := slices.Contains(last.Below, l) || slices.Contains(s.Below, l)
	w.cut[l], w.pos[l] = w.hood.d, w.hood.d // no bound by level l itself here
	lo, hi := w.cuts(last.Below, last.Above, 0, w.hood.d)
	lo, hi = w.cuts(s.Below, s.Above, lo, hi)
	if hi <= lo {
		return 0
	}
	n := 0
	base, rows, words := w.sets[s.Base], w.hood.rows, w.hood.words
	if words == 1 {
		b := base[0] & (^uint64(0) << lo) & (^uint64(0) >> (64 - hi))
		for x := c[0]; x != 0; x &= x - 1 {
			p := bits.TrailingZeros64(x)
			m := b & rows[p]
			if below {
				m &= 1<<p - 1
			}
			n += bits.OnesCount64(m)
		}
		return uint64(n)
	}
	if lo > 0 || hi < w.hood.d {
		t := grow(w.trimmed, words)
		w.trimmed = t
		copy(t, base)
		trim(t, lo, hi)
		base = t
	}
	for i, x := range c {
		for ; x != 0; x &= x - 1 {
			b := bits.TrailingZeros64(x)
			row := rows[(i<<6+b)*words : (i<<6+b+1)*words]
			if !below {
				n += setops.AndCount(base, row)
				continue
			}
			n += bits.OnesCount64(base[i] & row[i] & (1<<b - 1))
			if i > 8 {
				n += setops.AndCount(base[:i], row[:i])
				continue
			}
			for k := range i {
				n += bits.OnesCount64(base[k] & row[k])
			}
		}
	}
	return uint64(n)
}

// force computes a node that was left to the tail.
func (lp *localProgram) force(w *localWorker, i int) {
	s := &lp.p.Sets[i]
	buf := grow(w.bufs[i], w.hood.words)
	w.bufs[i], w.sets[i] = buf, buf
	if s.Op == plan.SetAnd {
		setops.And(buf, w.sets[s.Base], w.row(s.Of))
	} else {
		setops.AndNot(buf, w.sets[s.Base], w.row(s.Of))
	}
	lo, hi := w.nodeCut(s)
	trim(buf, lo, hi)
}

func (w *localWorker) masked(l, p int) bool {
	mk := w.mask[l]
	return mk == nil || mk[p>>6]>>(p&63)&1 != 0
}

// countAnd is the number of common bits of a and b in [lo, hi).
func countAnd(a, b []uint64, lo, hi int) int {
	if hi <= lo {
		return 0
	}
	i, k := lo>>6, (hi-1)>>6
	first, last := ^uint64(0)<<(lo&63), ^uint64(0)>>(63-(hi-1)&63)
	if i == k {
		return bits.OnesCount64(a[i] & b[i] & first & last)
	}
	n := bits.OnesCount64(a[i]&b[i]&first) + bits.OnesCount64(a[k]&b[k]&last)
	if i+1 < k {
		n += setops.AndCount(a[i+1:k], b[i+1:k])
	}
	return n
}

// countRow is the number of bits of a in [lo, hi).
func countRow(a []uint64, lo, hi int) int { return countAnd(a, a, lo, hi) }

// localTail is tailState over rows.
type localTail struct {
	tailState
	parts []tailPart // by representative
	least []int      // by block: the representative whose candidates all others have; else -1
	rows  [][]uint64
	own   [][]uint64 // memory for rows that are not of a node
	ins   []uint64   // by representative: which levels' vertices are in its row
	ns    []int
}

// tailPart is the part of a tail set that is the same for all matches.
type tailPart struct {
	set      int   // the node
	whole    bool  // its candidates are the node as it is
	distinct []int // levels before the tail whose vertices are not to be taken
}

func (t *localTail) init(lp *localProgram) {
	t.tailState.init(lp.program)
	t.rows = tasks.Padded[[]uint64](len(t.reps))
	t.own = tasks.Padded[[]uint64](len(t.reps))
	t.ins = tasks.Padded[uint64](len(t.reps))
	t.ns = tasks.Padded[int](len(t.reps))
	for i := range t.reps {
		r := &t.reps[i]
		lv := &lp.levels[r.level]
		// The bounds of a node bound its elements already.
		r.below = slices.DeleteFunc(r.below, func(j int) bool {
			return lp.descends(lv.set, func(s int) bool { return slices.Contains(lp.p.Sets[s].Below, j) })
		})
		r.above = slices.DeleteFunc(r.above, func(j int) bool {
			return lp.descends(lv.set, func(s int) bool { return slices.Contains(lp.p.Sets[s].Above, j) })
		})
		t.parts = append(t.parts, tailPart{
			set: lv.set, distinct: before(lv.Distinct, t.first),
			whole: len(r.below)+len(r.above) == 0 && lv.Ranges == nil && lv.Bits == nil,
		})
	}
	for _, mask := range t.Blocks {
		t.least = append(t.least, t.smallest(lp, mask))
	}
}

// descends reports whether a node, or one that it is made of by leaving elements out,
// is such a one.
func (lp *localProgram) descends(set int, is func(set int) bool) bool {
	for !is(set) {
		if lp.p.Sets[set].Op == plan.SetList {
			return false
		}
		set = lp.p.Sets[set].Base
	}
	return true
}

// smallest is the level of a block whose candidates are, as far as the plan shows, among those
// of all others of the block; else -1.
func (t *localTail) smallest(lp *localProgram, mask uint32) int {
	for q := range t.reps {
		if mask>>q&1 == 0 {
			continue
		}
		all := true
		for r := range t.reps {
			if r != q && mask>>r&1 != 0 {
				all = all && t.parts[r].whole && lp.descends(t.parts[q].set, func(s int) bool { return s == t.parts[r].set })
			}
		}
		if all {
			return q
		}
	}
	return -1
}

// closeTail counts the ways to match level l and those after it.
func (w *localWorker) closeTail(l int) engine.Tally {
	if w.lp.tail == 1 {
		return engine.Tally64(uint64(w.lastSize(l)))
	}
	t := &w.tails
	widest := 0
	for r := range t.parts {
		part := &t.parts[r]
		row, n := w.sets[part.set], w.size[part.set]
		if !part.whole {
			row, n = w.tailRow(t, r)
		}
		t.rows[r], t.ns[r] = row, n
		widest = max(widest, n)
		in := uint64(0)
		for _, j := range part.distinct {
			if p := w.pos[j]; p >= 0 && row[p>>6]>>(p&63)&1 != 0 {
				in |= 1 << j
			}
		}
		t.ins[r] = in
	}
	for i, mask := range t.Blocks {
		r := bits.TrailingZeros32(mask)
		in := t.ins[r]
		for rest := mask & (mask - 1); rest != 0; rest &= rest - 1 {
			in &= t.ins[bits.TrailingZeros32(rest)]
		}
		var n int
		switch least := t.least[i]; {
		case least >= 0:
			n = t.ns[least]
		case bits.OnesCount32(mask) == 2:
			n = setops.AndCount(t.rows[r], t.rows[bits.Len32(mask)-1])
		default:
			n = w.manyAnd(t, r, mask)
		}
		t.Sizes[i] = uint64(n - bits.OnesCount64(in))
	}
	return t.Count(uint64(widest))
}

// tailRow is the candidates of tail set r, where they are not a node as it is, and
// how many there are.
func (w *localWorker) tailRow(t *localTail, r int) ([]uint64, int) {
	rep := &t.reps[r]
	t.own[r] = grow(t.own[r], w.hood.words)
	return t.own[r], w.fill(t.own[r], rep.level, rep.below, rep.above)
}

// manyAnd is the number of bits common to three or more rows.
func (w *localWorker) manyAnd(t *localTail, r int, mask uint32) int {
	n := 0
	for i := range t.rows[r] {
		x := t.rows[r][i]
		for m := mask & (mask - 1); m != 0; m &= m - 1 {
			x &= t.rows[bits.TrailingZeros32(m)][i]
		}
		n += bits.OnesCount64(x)
	}
	return n
}
