package bind

import (
	"math"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// maxRounds bounds how often Reduce goes over all links.
const maxRounds = 4

// Pairs returns the numbers of pairs of the pattern's smallest and largest relation, and the
// largest's share of the graph's pairs.
func (b *Binding) Pairs() (least, most int, share float64) {
	least = math.MaxInt
	for _, l := range b.Links {
		if l.Neg {
			continue
		}
		all := len(b.Graph.Out.Adj)
		if b.Graph.Directed && b.Adjs[l.Adj].Rev == l.Adj {
			all *= 2 // pairs of either direction
		}
		n := b.Adjs[l.Adj].Lists.Pairs()
		least, most = min(least, n), max(most, n)
		share = max(share, float64(n)/float64(max(all, 1)))
	}
	return least, most, share
}

// Reduce leaves those candidates of each vertex that have a neighbour among the candidates of each
// of its neighbours in the pattern: semijoins over all links, the smallest relation first, until few
// are dropped (Yannakakis, VLDB 1981). Each vertex of each match is among those that are left.
func (b *Binding) Reduce() {
	r := &reducer{b: b, left: make([]candidates, b.N)}
	red := &plan.Reduction{Before: make([]int, b.N), After: make([]int, b.N), Own: make([][]uint64, b.N)}
	n := b.Graph.NumVertices()
	for v := range b.Vertices {
		bv := &b.Vertices[v]
		red.Before[v], red.Own[v] = bv.Count, bv.Bits
		r.left[v] = candidates{bits: make([]uint64, (n+63)/64), count: bv.Count}
		ranges := bv.Ranges
		if ranges == nil {
			ranges = []plan.Range{{First: 0, End: uint32(n)}}
		}
		for _, x := range ranges {
			setRange(r.left[v].bits, x, bv.Bits)
		}
	}
	r.spare = [2][]uint64{make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)}
	order := r.order()
	for round := range maxRounds {
		changed := false
		for i := range order {
			if b.ended() {
				return
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
	for v := range b.Vertices {
		b.Vertices[v].Bits, b.Vertices[v].Count = r.left[v].bits, r.left[v].count
		red.After[v] = r.left[v].count
		if r.left[v].count == 0 {
			b.nothing("no vertex of the graph has the neighbours that " + b.Pattern.VertexName(v) + " needs")
		}
	}
	b.Reduction = red
}

// needed returns the bits that candidates of v must be in when the vertices in placed are matched. The lists of
// placed neighbours have no vertex that only these neighbours would drop.
func (b *Binding) needed(v int, placed uint32) []uint64 {
	if b.Reduction != nil && b.Near[v]&^placed == 0 {
		return b.Reduction.Own[v]
	}
	return b.Vertices[v].Bits
}

// setRange sets the bits of a range that are in own, or all of them if own is nil.
func setRange(words []uint64, x plan.Range, own []uint64) {
	for i := x.First / 64; i < (x.End+63)/64; i++ {
		w := ^uint64(0)
		if i == x.First/64 {
			w <<= x.First % 64
		}
		if i == x.End/64 {
			w &= 1<<(x.End%64) - 1
		}
		if own != nil {
			w &= own[i]
		}
		words[i] |= w
	}
}

// candidates are the vertices that may stand for one of the pattern.
type candidates struct {
	bits  []uint64
	count int
}

// reducer does semijoins.
type reducer struct {
	b       *Binding
	left    []candidates // by vertex
	spare   [2][]uint64  // all zero
	scratch graph.Scratch
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
	lists := r.b.Adjs[adj].Lists
	whole, one := lists.Lists()
	kept, met := r.spare[0], r.spare[1]
	keptCount, metCount := 0, 0
	look := func(u uint32) {
		var list []uint32
		if one {
			list = whole.List(u)
		} else {
			list = lists.List(u, &r.scratch)
		}
		some := false
		for _, v := range list {
			if bit := uint64(1) << (v % 64); y.bits[v/64]&bit != 0 {
				some = true
				if met[v/64]&bit == 0 {
					met[v/64] |= bit
					metCount++
				}
			}
		}
		if some {
			kept[u/64] |= 1 << (u % 64)
			keptCount++
		}
	}
	if one && whole.Sparse != nil && whole.Sparse.Len() < x.count {
		for u := range whole.Sparse.Vertices {
			if x.bits[u/64]>>(u%64)&1 != 0 {
				look(u)
			}
		}
	} else {
		for i, w := range x.bits {
			for ; w != 0; w &= w - 1 {
				look(uint32(64*i + bits.TrailingZeros64(w)))
			}
		}
	}
	r.spare = [2][]uint64{x.bits, y.bits}
	*x, *y = candidates{kept, keptCount}, candidates{met, metCount}
	clear(r.spare[0])
	clear(r.spare[1])
	l.seen = [2]int{r.left[l.U].count, r.left[l.V].count}
	return true
}

// leaf reports whether v has one neighbour.
func (r *reducer) leaf(v int) bool { return r.b.Near[v]&(r.b.Near[v]-1) == 0 }

// fewer reports whether so many candidates are gone that a semijoin is worth its time once more.
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
