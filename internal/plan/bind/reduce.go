package bind

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// maxRounds bounds how often Reduce goes over all links.
const maxRounds = 4

// mostPairs is the share of a graph's pairs from which on a relation tells next to nothing about the vertices it joins.
const mostPairs = 0.5

// SemijoinReads returns about how many list entries semijoins over all links read: those of the end with fewer
// candidates. selective is false where some link has most of the graph's pairs, and any vertex at both ends. labelled
// is true where no link has most of the graph's pairs.
func (b *Binding) SemijoinReads() (reads float64, selective, labelled bool) {
	n := b.Graph.NumVertices()
	selective, labelled = true, true
	for _, l := range b.Links {
		if l.Neg {
			continue
		}
		all := len(b.Graph.Out.Adj)
		if b.Graph.Directed && b.Adjs[l.Adj].Rev == l.Adj {
			all *= 2 // pairs of either direction
		}
		pairs := float64(b.Adjs[l.Adj].Lists.Pairs())
		few := min(b.Vertices[l.U].Count, b.Vertices[l.V].Count)
		reads += pairs * float64(few) / float64(max(n, 1))
		if pairs > mostPairs*float64(all) {
			labelled, selective = false, selective && few < n
		}
	}
	return reads, selective, labelled
}

// Filter leaves those candidates of each vertex that have a neighbour in each relation of its links, whichever that
// neighbour is. It reads no list, and takes time in proportion to the vertices of the graph.
func (b *Binding) Filter() {
	n := b.Graph.NumVertices()
	b.reducer = &reducer{b: b, left: make([]candidates, b.N)}
	b.Reduction = &plan.Reduction{Before: make([]int, b.N), After: make([]int, b.N), Own: make([][]uint64, b.N)}
	orbit := b.Group.Orbits()
	for v := range b.Vertices {
		bv := &b.Vertices[v]
		b.Reduction.Before[v], b.Reduction.Own[v] = bv.Count, bv.Bits
		if orbit[v] != v { // its links are those of the first vertex of the orbit
			continue
		}
		var left []uint64
		if bv.Ranges != nil || bv.Bits != nil {
			left = plan.Bitmap(n, bv.Ranges, bv.Bits)
		}
		for _, l := range b.Links {
			if l.Neg || l.U != v && l.V != v {
				continue
			}
			lists := b.Adjs[b.seen(l, v)].Lists
			if left == nil {
				if left = make([]uint64, (n+63)/64); lists.AddFilled(left) {
					continue
				}
				left = plan.Bitmap(n, nil, nil)
			}
			lists.ClearEmpty(left)
		}
		if left == nil {
			left = plan.Bitmap(n, nil, nil)
		}
		b.reducer.left[v] = candidates{left, countBits(left)}
	}
	for v := range b.Vertices {
		b.reducer.left[v] = b.reducer.left[orbit[v]]
	}
	b.take()
}

// take makes the candidates that are left those of the vertices.
func (b *Binding) take() {
	for v, left := range b.reducer.left {
		b.Vertices[v].Bits, b.Vertices[v].Count, b.Reduction.After[v] = left.bits, left.count, left.count
		if left.count == 0 {
			b.nothing("no vertex of the graph has the neighbours that " + b.Pattern.VertexName(v) + " needs")
		}
	}
}

// SemijoinWork returns about how many lists, and entries of these lists, Reduce reads after Filter. Candidates of the end with
// fewer are read, and those of the other end are at most their neighbours. Links of which all pairs are of candidates have no semijoin.
func (b *Binding) SemijoinWork() (lists, entries float64) {
	count := make([]float64, b.N)
	for v := range count {
		count[v] = float64(b.reducer.left[v].count)
	}
	for _, l := range b.reducer.order() {
		from, to, adj := l.U, l.V, l.Adj
		if count[to] < count[from] {
			from, to, adj = to, from, b.Adjs[adj].Rev
		}
		if count[from] == float64(b.reducer.left[from].count) && count[to] == float64(b.reducer.left[to].count) && b.reducer.all(from, to, adj) {
			continue
		}
		h := b.Adjs[adj].Lists
		read := float64(h.Pairs()) * count[from] / float64(max(h.Filled(), 1))
		lists, entries = lists+count[from], entries+read
		count[to] = min(count[to], read)
	}
	return lists, entries
}

// Reduce leaves those candidates of each vertex that have a neighbour among the candidates of each
// of its neighbours in the pattern: semijoins over all links, the smallest relation first, until few
// are dropped (Yannakakis, VLDB 1981). Each vertex of each match is among those that are left. The threads
// of planning share the candidates of each semijoin. Once planning's context has ended it makes no further semijoin.
func (b *Binding) Reduce() {
	if b.ended() {
		return
	}
	reads, _, _ := b.SemijoinReads()
	if b.Reduction == nil {
		b.Filter()
	}
	r := b.reducer
	b.Reduction.Reads, b.Reduction.Joined = reads, true
	n := b.Graph.NumVertices()
	for v, first := range b.Group.Orbits() {
		if v != first {
			r.left[v].bits = slices.Clone(r.left[v].bits)
		}
	}
	r.spare = [2][]uint64{make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)}
	order := r.order()
rounds:
	for round := range maxRounds {
		changed := false
		for i := range order {
			if b.ended() {
				break rounds
			}
			l := order[i]
			if round%2 == 1 {
				l = order[len(order)-1-i]
			}
			changed = r.semijoin(l) || changed
		}
		if !changed {
			break
		}
	}
	r.equate()
	b.take()
}

func countBits(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// needed returns the bits that candidates of v must be in when the vertices in placed are matched. The lists of
// placed neighbours have no vertex that only these neighbours would drop.
func (b *Binding) needed(v int, placed uint32) []uint64 {
	if b.Reduction != nil && b.Near[v]&^placed == 0 {
		return b.Reduction.Own[v]
	}
	return b.Vertices[v].Bits
}

// candidates are the vertices that may stand for one of the pattern.
type candidates struct {
	bits  []uint64
	count int
}

// reducer does semijoins.
type reducer struct {
	b     *Binding
	left  []candidates // by vertex
	spare [2][]uint64  // all zero
	own   [][]uint64   // all zero, of threads after the first
}

// link is a positive Link, with the state of its ends when it was last looked at.
type link struct {
	Link
	seen [2]int // numbers of candidates
}

// order returns the links in the order of the first round: the one with the fewest pairs first, and
// then always one with the fewest at a vertex that the earlier ones reach.
func (r *reducer) order() []*link {
	var all []*link
	orbit := r.b.Group.Orbits()
	twin := func(v int) bool { // of a leaf before it: equate gives both the same
		return orbit[v] != v && r.leaf(v) && r.b.Near[v] == r.b.Near[orbit[v]]
	}
	for _, l := range r.b.Links {
		if !l.Neg && !twin(l.U) && !twin(l.V) {
			all = append(all, &link{Link: l, seen: [2]int{math.MaxInt, math.MaxInt}})
		}
	}
	pairs := func(l *link) int { return r.b.Adjs[l.Adj].Lists.Pairs() }
	slices.SortStableFunc(all, func(x, y *link) int { return pairs(x) - pairs(y) })
	var reached uint32
	for i := range all {
		next := i
		for k := i; k < len(all); k++ {
			if reached>>all[k].U&1 != 0 || reached>>all[k].V&1 != 0 {
				next = k
				break
			}
		}
		l := all[next]
		copy(all[i+1:next+1], all[i:next])
		all[i] = l
		reached |= 1<<l.U | 1<<l.V
	}
	return all
}

// semijoin leaves those candidates of both ends of a link that it joins. It reports false, and does
// nothing, where that would drop few more than the last time.
func (r *reducer) semijoin(l *link) bool {
	from, to, adj := l.U, l.V, l.Adj
	if !fewer(r.left[l.U].count, l.seen[0]) && !fewer(r.left[l.V].count, l.seen[1]) {
		return false
	}
	if l.seen[0] < math.MaxInt && (r.leaf(l.U) || r.leaf(l.V)) {
		return false // it would drop candidates of a leaf alone, which are found by those of its neighbour
	}
	if r.left[to].count < r.left[from].count {
		from, to, adj = to, from, r.b.Adjs[adj].Rev
	}
	x, y := &r.left[from], &r.left[to]
	if r.all(from, to, adj) {
		l.seen = [2]int{r.left[l.U].count, r.left[l.V].count}
		return false
	}
	lists := r.b.Adjs[adj].Lists
	kept, met := r.spare[0], r.spare[1]
	copy(kept, x.bits)
	if sparse := lists.Sparse; sparse != nil && sparse.Len() < x.count {
		clear(kept)
		for u := range sparse.Vertices {
			kept[u/64] |= x.bits[u/64] & (1 << (u % 64))
		}
	}
	// Of kept, those stay that have a neighbour in y.
	crew := crew{r: r, lists: lists, y: y.bits, met: met}
	if float64(lists.Pairs())*float64(x.count) <= fewEntries*float64(lists.NumVertices()) {
		s := crew.take()
		s.keep(kept, 0)
		crew.give(s)
	} else if !r.shared(&crew, kept) {
		return false // the caller asks whether the context has ended
	}
	keptCount, metCount := crew.end()
	r.spare = [2][]uint64{x.bits, y.bits}
	*x, *y = candidates{kept, keptCount}, candidates{met, metCount}
	clear(r.spare[0])
	clear(r.spare[1])
	l.seen = [2]int{r.left[l.U].count, r.left[l.V].count}
	return true
}

// all reports whether it is known that all pairs of a relation are of candidates, so that a semijoin drops none. Filter has left no
// other candidates, except where lists are in parts.
func (r *reducer) all(from, to, adj int) bool {
	lists, back := r.b.Adjs[adj].Lists, r.b.Adjs[r.b.Adjs[adj].Rev].Lists
	return !lists.InParts() && !back.InParts() && r.left[from].count == lists.Filled() && r.left[to].count == back.Filled()
}

// fewEntries is the number of list entries up to which one thread does a semijoin.
const fewEntries = 1 << 14

// shared has threads do a semijoin of the candidates in kept. It returns false if planning's context ends.
func (r *reducer) shared(c *crew, kept []uint64) bool {
	// Blocks of words are work by their entries.
	block := max(len(kept)/maxBlocks, 1)
	return graph.Parallel(r.b.ctx, blockWork(c.lists, kept, block), r.b.threads, func(lo, hi uint32) {
		s := c.take()
		s.keep(kept[int(lo)*block:min(int(hi)*block, len(kept))], uint32(64*int(lo)*block))
		c.give(s)
	}) == nil
}

// maxBlocks bounds the number of blocks that a semijoin's candidates are cut into.
const maxBlocks = 1 << 12

// blockWork returns running sums of the entries that the lists of candidates have, about, by blocks of
// words of their bitmap.
func blockWork(lists *graph.Handle, words []uint64, block int) []uint64 {
	n := lists.NumVertices()
	work := []uint64{0}
	sum, before := uint64(0), lists.Before(0)
	for i := 0; i < len(words); i += block {
		end := min(i+block, len(words))
		some := 0
		for _, w := range words[i:end] {
			some += bits.OnesCount64(w)
		}
		behind := lists.Before(uint32(min(64*end, n)))
		sum += uint64(float64(behind-before) * float64(some) / float64(64*(end-i)))
		work = append(work, sum)
		before = behind
	}
	return work
}

// crew is the work of all threads on a semijoin. Each thread marks the neighbours that it meets in a bitmap of its
// own, because threads that write one bitmap wait for each other's caches.
type crew struct {
	r      *reducer
	lists  *graph.Handle
	y, met []uint64 // candidates of the other end, and where those of them go that are neighbours

	mu         sync.Mutex
	idle, made []*semijoin
}

// take returns the state of a thread that nobody uses. The first one has met as its bitmap, and others have spare
// ones of the reducer, which are all zero.
func (c *crew) take() *semijoin {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		s := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return s
	}
	s := &semijoin{lists: c.lists, y: c.y, met: c.met}
	if n := len(c.made); n > 0 {
		if n > len(c.r.own) {
			c.r.own = append(c.r.own, make([]uint64, len(c.met)))
		}
		s.met = c.r.own[n-1]
	}
	c.made = append(c.made, s)
	return s
}

func (c *crew) give(s *semijoin) {
	c.mu.Lock()
	c.idle = append(c.idle, s)
	c.mu.Unlock()
}

// end returns how many candidates are left at both ends, after the threads' bitmaps are put together.
func (c *crew) end() (kept, met int) {
	for i, s := range c.made {
		kept += s.kept
		if i == 0 {
			met = s.newlyMet
			continue
		}
		for k, w := range s.met {
			if w != 0 {
				met += bits.OnesCount64(w &^ c.met[k])
				c.met[k] |= w
				s.met[k] = 0
			}
		}
	}
	return kept, met
}

// semijoin is the work of one thread on some of the candidates of one end of a link.
type semijoin struct {
	lists          *graph.Handle
	y, met         []uint64 // candidates of the other end, and those of them that are neighbours
	kept, newlyMet int
	scratch        graph.Scratch
}

// keep leaves those candidates in words, the first of which has the given id, that have a neighbour in y.
func (s *semijoin) keep(words []uint64, first uint32) {
	whole, one := s.lists.Lists()
	for i, w := range words {
		left := w
		for ; w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			u := first + uint32(64*i+bit)
			var list []uint32
			if one {
				list = whole.List(u)
			} else {
				list = s.lists.List(u, &s.scratch)
			}
			if s.meet(list) {
				s.kept++
			} else {
				left &^= 1 << bit
			}
		}
		words[i] = left
	}
}

// meet reports whether a vertex of list is in y, and adds those to met.
func (s *semijoin) meet(list []uint32) (some bool) {
	for _, v := range list {
		bit := uint64(1) << (v % 64)
		if s.y[v/64]&bit == 0 {
			continue
		}
		some = true
		if at := &s.met[v/64]; *at&bit == 0 {
			*at |= bit
			s.newlyMet++
		}
	}
	return some
}

// leaf reports whether v has one neighbour.
func (r *reducer) leaf(v int) bool { return r.b.Near[v]&(r.b.Near[v]-1) == 0 }

// fewer reports whether enough candidates are gone that a semijoin is worth its time once more.
func fewer(now, before int) bool { return now < before-before/4 }

// equate gives vertices that symmetries of the pattern map to each other the same candidates: those
// that are left to all of them. After few rounds they may differ, though the vertices that occur in
// matches do not.
func (r *reducer) equate() {
	first := r.b.Group.Orbits()
	for v, f := range first {
		if v == f {
			continue
		}
		x, y := &r.left[f], &r.left[v]
		x.count = 0
		for i, w := range y.bits {
			x.bits[i] &= w
			x.count += bits.OnesCount64(x.bits[i])
		}
	}
	for v, f := range first {
		r.left[v] = r.left[f]
	}
}
