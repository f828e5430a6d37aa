package join

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tail"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/setops"
)

// source is one of the lists that a group's candidates are in, or for Neg are not in. The
// sources of a group are in the order of their levels, so that rows which begin alike share
// the intersection of the first of them.
type source struct {
	plan.Back
	// reads are the levels on whose vertices the result depends, besides earlier sources.
	reads        []int
	below, above []int // levels that bound the candidates, as soon as they are known
}

// newSources returns the sources of a group.
func (x *group) newSources() []source {
	backs := slices.Concat(x.With, x.Inside)
	if !x.Free() {
		backs = append(backs, x.From)
	}
	slices.SortStableFunc(backs, func(a, b plan.Back) int { return a.Level - b.Level })
	if i := slices.IndexFunc(backs, func(b plan.Back) bool { return !b.Neg }); i > 0 {
		first := backs[i]
		backs = slices.Insert(slices.Delete(backs, i, i+1), 0, first)
	}
	all := make([]source, len(backs))
	known := -1 // the last level that the sources so far have read
	for i, b := range backs {
		last := b.Level
		if i == len(backs)-1 {
			last = maxLevels
		}
		between := func(levels []int) (out []int) {
			for _, j := range levels {
				if j > known && j <= last {
					out = append(out, j)
				}
			}
			return out
		}
		s := source{Back: b, reads: []int{b.Level}, below: between(x.below), above: between(x.above)}
		s.reads = append(append(s.reads, s.below...), s.above...)
		slices.Sort(s.reads)
		s.reads = slices.Compact(s.reads)
		all[i], known = s, max(known, last)
	}
	return all
}

// candidates are the candidates of a group for a row, and memory for them. What depends on
// the first vertices of rows stays from row to row.
type candidates struct {
	list   []uint32 // in all lists, and allowed, whichever vertices the row has
	stages []stage  // by source
	// changes counts how often list became another.
	changes uint64
	scratch graph.Scratch
}

// stage is the intersection of the first sources.
type stage struct {
	known   bool
	at      []uint32 // the vertices at the source's reads, if known
	list    []uint32
	buf     []uint32
	scratch graph.Scratch
	search  *search // which counts the memory of buf
}

func newCandidates(groups []group, s *search) []candidates {
	all := make([]candidates, len(groups))
	for k := range groups {
		all[k].stages = make([]stage, len(groups[k].sources))
		for i := range all[k].stages {
			all[k].stages[i].at, all[k].stages[i].search = make([]uint32, len(groups[k].sources[i].reads)), s
		}
	}
	return all
}

// same reports whether a stage is known for the vertices of a row.
func (t *stage) same(s *source, m *[maxLevels]uint32) bool {
	if !t.known {
		return false
	}
	for i, j := range s.reads {
		if t.at[i] != m[j] {
			return false
		}
	}
	return true
}

// room makes room for n elements in a stage's buffer. What is in it is lost.
func (t *stage) room(n int) {
	if len(t.buf) < n {
		t.search.took("sets of candidates", 4<<bits.Len(uint(n+16)))
		t.buf = make([]uint32, 1<<bits.Len(uint(n+16)))
	}
}

// find sets the candidates of a group for a row, by the first of its sources. Vertices that the row
// has are among them.
func (w *worker) find(x *group, m *[maxLevels]uint32, c *candidates, sources int) {
	if len(x.sources) == 0 {
		lo, hi := x.one.First, x.one.End
		for _, j := range x.below {
			hi = min(hi, m[j])
		}
		for _, j := range x.above {
			lo = max(lo, m[j]+1)
		}
		c.changes++
		c.list = plan.Within(x.all, lo, max(lo, hi))
		return
	}
	k := 0
	for ; k < sources && c.stages[k].same(&x.sources[k], m); k++ {
		if len(c.stages[k].list) == 0 {
			c.list = nil
			return
		}
	}
	if k == sources {
		c.list = c.stages[k-1].list
		return
	}
	c.changes++
	for i := k; i < len(c.stages); i++ {
		c.stages[i].known = false
	}
	c.list = nil
	for ; k < sources; k++ {
		t, s := &c.stages[k], &x.sources[k]
		for i, j := range s.reads {
			t.at[i] = m[j]
		}
		t.known = true
		switch {
		case k > 0:
			t.list = w.narrow(x, s, c.stages[k-1].list, t, m, &c.scratch)
		case x.Free():
			t.list = w.narrow(x, s, x.all, t, m, &c.scratch)
		default:
			t.list = w.generate(x, s, t, m)
		}
		if len(t.list) == 0 {
			return
		}
	}
	c.list = c.stages[sources-1].list
}

// size returns the number of a group's candidates for a row, without the vertices of the levels in apart.
// It writes no list of them.
func (w *worker) size(x *group, m *[maxLevels]uint32, c *candidates, apart []int) int {
	last := len(x.sources) - 1
	if w.find(x, m, c, last); len(c.list) == 0 {
		return 0
	}
	s := &x.sources[last]
	lo, hi := s.bounds(x, m)
	list, other := plan.Within(c.list, lo, hi), w.lists.in(s.Adj, m[s.Level], lo, hi, &c.scratch)
	n := w.common(list, other)
	for _, j := range apart {
		if n > 0 && setops.Contains(other, m[j]) && setops.Contains(list, m[j]) {
			n--
		}
	}
	return n
}

// bounds returns the ids that a source's restrictions and the group's label leave.
func (s *source) bounds(x *group, m *[maxLevels]uint32) (lo, hi uint32) {
	lo, hi = x.one.First, x.one.End
	if x.open {
		hi = ^uint32(0) // lists need not be searched for the end
	}
	for _, j := range s.below {
		hi = min(hi, m[j])
	}
	for _, j := range s.above {
		lo = max(lo, m[j]+1)
	}
	return lo, max(lo, hi)
}

// generate returns the vertices of the first source's list that the group allows.
func (w *worker) generate(x *group, s *source, t *stage, m *[maxLevels]uint32) []uint32 {
	lo, hi := s.bounds(x, m)
	list := w.lists.in(s.Adj, m[s.Level], lo, hi, &t.scratch)
	if !x.tests() || len(list) == 0 {
		return list
	}
	t.room(len(list))
	if x.ranges == nil && x.minDegree == 0 {
		return t.buf[:setops.FilterBits(t.buf, list, x.bits)]
	}
	out := t.buf[:0]
	for _, v := range list {
		if x.allows(w.lists, v) {
			out = append(out, v)
		}
	}
	return out
}

// narrow returns the vertices of list that are in a source's list, or with Neg are not.
func (w *worker) narrow(x *group, s *source, list []uint32, t *stage, m *[maxLevels]uint32, scratch *graph.Scratch) []uint32 {
	lo, hi := s.bounds(x, m)
	list = plan.Within(list, lo, hi)
	other := w.lists.in(s.Adj, m[s.Level], lo, hi, scratch)
	t.room(len(list))
	if s.Neg {
		return t.buf[:w.without(t.buf, list, other)]
	}
	return t.buf[:w.both(t.buf, list, other)]
}

// operations are set operations by the sizes of the sets, or naive ones: each element of the first set is looked up in the
// whole of the second.
type operations struct{ naive bool }

// lookUp writes the elements of list that are in other, or are not, to dst, which has room for all, and returns their
// number. A nil dst counts only.
func lookUp(dst, list, other []uint32, in bool) (n int) {
	for _, v := range list {
		if setops.Contains(other, v) == in {
			if dst != nil {
				dst[n] = v
			}
			n++
		}
	}
	return n
}

// both writes the elements of two sets to dst, and returns their number.
func (o operations) both(dst, list, other []uint32) int {
	if o.naive {
		return lookUp(dst, list, other, true)
	}
	return setops.Intersect(dst, list, other)
}

// without writes the elements of list that are not in other to dst, and returns their number.
func (o operations) without(dst, list, other []uint32) int {
	if o.naive {
		return lookUp(dst, list, other, false)
	}
	return setops.Difference(dst, list, other)
}

// common returns the number of elements of two sets.
func (o operations) common(list, other []uint32) int {
	if o.naive {
		return lookUp(nil, list, other, true)
	}
	return setops.IntersectCount(list, other)
}

// taken returns the levels, of those given, whose vertices are candidates.
func (c *candidates) taken(levels []int, m *[maxLevels]uint32) (mask uint32) {
	for _, j := range levels {
		if setops.Contains(c.list, m[j]) {
			mask |= 1 << j
		}
	}
	return mask
}

// tailState counts the plan's tail for one row after the other.
type tailState struct {
	tail.Sum
	sets   operations
	groups []int // the step's group of each group of the tail
	blocks []block
	taken  []uint32 // by group of the tail: see candidates.taken
	memory [2][]uint32
}

// block is the size of an intersection of sets, with vertices that rows have taken.
type block struct {
	groups  []int  // of the tail
	changes uint64 // the sum of those of its sets when size was right
	size    int
}

func newTailState(p *plan.Plan, s *step, sets operations) *tailState {
	t := &tailState{sets: sets, taken: make([]uint32, len(p.Tail.Groups))}
	t.Init(p)
	for i := range p.Tail.Groups {
		t.groups = append(t.groups, p.Tail.Groups[i].Levels[0]-s.width)
	}
	for _, mask := range t.Blocks {
		var b block
		for ; mask != 0; mask &= mask - 1 {
			b.groups = append(b.groups, bits.TrailingZeros32(mask))
		}
		t.blocks = append(t.blocks, b)
	}
	return t
}

// count returns the number of ways to match the tail with the candidates of a part.
func (t *tailState) count(s *step, pt *part) engine.Tally {
	widest := 0
	for i, g := range t.groups {
		c := &pt.cand[g]
		t.taken[i] = c.taken(s.groups[g].distinct, &pt.m)
		widest = max(widest, len(c.list))
	}
	for i := range t.blocks {
		b := &t.blocks[i]
		taken, changes := ^uint32(0), uint64(0)
		for _, g := range b.groups {
			taken &= t.taken[g]
			changes += pt.cand[t.groups[g]].changes
		}
		if b.changes != changes {
			b.size, b.changes = t.common(pt, b.groups), changes
		}
		t.Sizes[i] = uint64(b.size - bits.OnesCount32(taken))
	}
	return t.Count(uint64(widest))
}

// common returns the size of the intersection of the candidates of several groups of the tail.
func (t *tailState) common(pt *part, groups []int) int {
	list := pt.cand[t.groups[groups[0]]].list
	for k, g := range groups[1:] {
		other := pt.cand[t.groups[g]].list
		if len(groups) == k+2 {
			return t.sets.common(list, other)
		}
		buf := &t.memory[k%2] // the other one has the list
		if need := len(list) + 16; len(*buf) < need {
			*buf = make([]uint32, 1<<bits.Len(uint(need)))
		}
		list = (*buf)[:t.sets.both(*buf, list, other)]
	}
	return len(list)
}
