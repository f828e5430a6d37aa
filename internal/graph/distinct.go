package graph

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// The pairs of all segments become distinct vertex pairs in two passes that
// both stay in cache: segments are partitioned by ranges of the smaller end,
// then each range is gathered, sorted and written out once. Segments give their
// pages back as ranges are done, so that the peak is the input or the result,
// not their sum.

const (
	fwd = 1 // the pair was given as smaller → larger compact id
	bwd = 2
)

// pairSet is the distinct pairs of a graph by compact ids. A pair lies at its
// smaller end.
type pairSet struct {
	n uint32
	// The larger ends of x's pairs are far[at[x]:], size[x] of them; dir has fwd,
	// bwd or both for each, and is nil on an undirected graph. Between the blocks
	// is room that duplicates would have taken, which was never touched.
	far    []uint32
	dir    []uint8
	at     []uint64
	size   []uint32
	blocks []block
	// later[y] is how many pairs have y as their larger end; on a directed graph
	// laterFwd and laterBwd those with the direction.
	later, laterFwd, laterBwd []uint32
	// Degrees by compact id: distinct neighbours either way and, on a directed
	// graph, successors and predecessors.
	deg, out, in []uint32

	loops, arcs, pairs uint64 // dropped self-loops, distinct arcs, distinct pairs
}

// block is where the pairs of one range of smaller ends are.
type block struct{ from, to uint64 }

func newPairSet(n uint32, total uint64, directed bool) *pairSet {
	count := func() []uint32 { return makeTemp[uint32](uint64(n)) }
	set := &pairSet{n: n, far: makeTemp[uint32](total), at: makeTemp[uint64](uint64(n)), size: count(), later: count(), deg: count()}
	if directed {
		set.dir = makeTemp[uint8](total)
		set.laterFwd, set.laterBwd, set.out, set.in = count(), count(), count(), count()
	}
	return set
}

// freePairs frees the pairs; the degrees stay.
func (p *pairSet) freePairs() {
	freeBig(&p.far)
	freeBig(&p.dir)
	freeBig(&p.at)
	for _, l := range []*[]uint32{&p.size, &p.later, &p.laterFwd, &p.laterBwd} {
		freeBig(l)
	}
}

func (p *pairSet) free() {
	p.freePairs()
	freeBig(&p.deg)
	freeBig(&p.out)
	freeBig(&p.in)
}

// ranges cuts the vertices into ranges of about equal numbers of pairs.
type ranges struct {
	shift int
	of    []uint16 // range by vertex >> shift
	lo    []uint32 // first vertex of each range; one more at the end
}

// rangeEdges is how many pairs a range should have: two buffers of them fit the
// second cache.
const rangeEdges = 1 << 16

func cutRanges(ctx context.Context, threads int, segs []*segment, n uint32, total uint64) (*ranges, error) {
	r := &ranges{shift: max(0, bits.Len32(n)-16)}
	bins := n>>r.shift + 1
	hist := make([]atomic.Uint64, bins)
	local := make([][]uint32, threads)
	err := parallel(ctx, threads, uint64(len(segs)), 1, func(w int, i, _ uint64) {
		if local[w] == nil {
			local[w] = make([]uint32, bins)
		}
		h := local[w]
		for _, p := range segs[i].p {
			h[min(uint32(p>>32), uint32(p))>>r.shift]++
		}
		for b, c := range h {
			if c > 0 {
				hist[b].Add(uint64(c))
				h[b] = 0
			}
		}
	})
	if err != nil {
		return nil, err
	}
	parts := min(total/rangeEdges+1, 4096)
	each := total/parts + 1
	r.of = make([]uint16, bins)
	r.lo = []uint32{0}
	sum := uint64(0)
	for b := range hist {
		c := hist[b].Load()
		if sum > 0 && sum+c > each {
			r.lo = append(r.lo, uint32(b)<<r.shift)
			sum = 0
		}
		sum += c
		r.of[b] = uint16(len(r.lo) - 1)
	}
	r.lo = append(r.lo, n)
	return r, nil
}

// partition groups the edges of each segment by range and drops self-loops.
func (r *ranges) partition(ctx context.Context, threads int, segs []*segment, keep bool) (loops uint64, err error) {
	var dropped atomic.Uint64
	k := len(r.lo) - 1
	spare := make([][]uint64, threads)
	err = parallel(ctx, threads, uint64(len(segs)), 1, func(w int, i, _ uint64) {
		s := segs[i]
		s.cut = make([]uint32, k+1)
		lost := uint64(0)
		for _, p := range s.p {
			a, b := uint32(p>>32), uint32(p)
			if a == b {
				lost++
				continue
			}
			s.cut[r.of[min(a, b)>>r.shift]+1]++
		}
		for j := range k {
			s.cut[j+1] += s.cut[j]
		}
		dropped.Add(lost)
		if cap(spare[w]) < len(s.p) {
			freeBig(&spare[w])
			spare[w] = makeTemp[uint64](max(uint64(len(s.p)), uint64(cap(s.p))))
		}
		to := spare[w][:len(s.p)]
		at := make([]uint32, k)
		copy(at, s.cut)
		for _, p := range s.p {
			a, b := uint32(p>>32), uint32(p)
			if a == b {
				continue
			}
			d := &at[r.of[min(a, b)>>r.shift]]
			to[*d] = p
			*d++
		}
		if keep {
			// The rows' order matters to the caller: the copy replaces the
			// segment in this list only.
			segs[i] = &segment{p: to[:s.cut[k]], cut: s.cut}
			spare[w] = nil
			return
		}
		spare[w], s.p = s.p[:0], to[:s.cut[k]]
	})
	for w := range spare {
		freeBig(&spare[w])
	}
	return dropped.Load(), err
}

// distinct consumes the segments and returns their distinct pairs. With keep
// the segments themselves stay as they are.
func distinct(ctx context.Context, threads int, segs []*segment, n uint32, directed, keep bool) (*pairSet, error) {
	var total uint64
	for _, s := range segs {
		total += uint64(len(s.p))
	}
	if keep {
		segs = append([]*segment(nil), segs...)
	}
	set := newPairSet(n, total, directed)
	defer func() {
		for _, s := range segs {
			if keep && s.cut == nil {
				continue // not yet a copy
			}
			s.free()
		}
	}()
	r, err := cutRanges(ctx, threads, segs, n, total)
	if err != nil {
		return set, err
	}
	if set.loops, err = r.partition(ctx, threads, segs, keep); err != nil {
		return set, err
	}
	k := len(r.lo) - 1
	set.blocks = make([]block, k)
	room := uint64(0)
	for i := range set.blocks {
		set.blocks[i].from = room
		for _, s := range segs {
			room += uint64(s.cut[i+1] - s.cut[i])
		}
	}
	var arcs, pairs atomic.Uint64
	bufs := make([]rangeBuf, threads)
	done := releaser{segs: segs, done: make([]bool, k)}
	err = parallel(ctx, threads, uint64(k), 1, func(w int, i, _ uint64) {
		keys := bufs[w].gather(segs, int(i), r.lo[i], n)
		a, p := set.emit(&set.blocks[i], r.lo[i], keys, bits.Len32(n-1), threads > 1)
		arcs.Add(a)
		pairs.Add(p)
		done.finished(int(i))
	})
	for w := range bufs {
		freeBig(&bufs[w].keys)
		freeBig(&bufs[w].tmp)
	}
	set.arcs, set.pairs = arcs.Load(), pairs.Load()
	for x, c := range set.later {
		set.deg[x] = set.size[x] + c
	}
	for x := range set.out {
		set.out[x] += set.laterBwd[x]
		set.in[x] += set.laterFwd[x]
	}
	return set, err
}

type rangeBuf struct{ keys, tmp []uint64 }

// gather returns the pairs of a range, sorted, as (smaller end - lo), larger
// end, and a bit that is 1 for pairs given as larger → smaller.
func (r *rangeBuf) gather(segs []*segment, i int, lo, n uint32) []uint64 {
	var total uint64
	for _, s := range segs {
		total += uint64(s.cut[i+1] - s.cut[i])
	}
	if uint64(cap(r.keys)) < total {
		freeBig(&r.keys)
		freeBig(&r.tmp)
		r.keys = makeTemp[uint64](total + total/4)
		if total <= hugeRange {
			r.tmp = makeTemp[uint64](total + total/4)
		}
	}
	keys := r.keys[:total]
	shift := bits.Len32(n-1) + 1
	top, k, last, sorted := uint32(0), 0, uint64(0), true
	for _, s := range segs {
		for _, p := range s.p[s.cut[i]:s.cut[i+1]] {
			a, b, back := uint32(p>>32), uint32(p), uint64(0)
			if a > b {
				a, b, back = b, a, 1
			}
			top = max(top, a-lo)
			key := uint64(a-lo)<<shift | uint64(b)<<1 | back
			sorted = sorted && last <= key
			last = key
			keys[k] = key
			k++
		}
	}
	if sorted {
		return keys
	}
	if len(keys) > cap(r.tmp) {
		slices.Sort(keys)
		return keys
	}
	return radixSort(keys, r.tmp[:len(keys)], bits.Len32(top)+shift)
}

// hugeRange is from where a range (that of a vertex with very many neighbours)
// is sorted without a second buffer.
const hugeRange = 16 << 20

// emit writes the distinct pairs of sorted keys, whose smaller ends are numbered
// from lo on, to block b and counts ends. Other goroutines count too if shared.
func (set *pairSet) emit(b *block, lo uint32, keys []uint64, width int, shared bool) (arcs, pairs uint64) {
	mask := uint64(1)<<width - 1
	at := b.from
	for i := 0; i < len(keys); {
		k := keys[i] >> 1
		d := uint8(0)
		for i < len(keys) && keys[i]>>1 == k {
			d |= fwd << (keys[i] & 1)
			i++
		}
		arcs += uint64(d+1) / 2 // 1, 2 → 1; 3 → 2
		x, y := lo+uint32(k>>width), uint32(k&mask)
		if set.size[x] == 0 {
			set.at[x] = at
		}
		set.size[x]++
		set.far[at] = y
		bump(&set.later[y], shared)
		if set.dir != nil {
			set.dir[at] = d
			if d&fwd != 0 {
				set.out[x]++
				bump(&set.laterFwd[y], shared)
			}
			if d&bwd != 0 {
				set.in[x]++
				bump(&set.laterBwd[y], shared)
			}
		}
		at++
	}
	b.to = at
	return arcs, at - b.from
}

func bump(n *uint32, shared bool) {
	if shared {
		atomic.AddUint32(n, 1)
	} else {
		*n++
	}
}

// releaser gives back the pages of segments below the ranges that are done.
type releaser struct {
	mu    sync.Mutex
	segs  []*segment
	done  []bool
	below int // all ranges before are done
	gone  int // pages of ranges before are given back
}

func (r *releaser) finished(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[i] = true
	for r.below < len(r.done) && r.done[r.below] {
		r.below++
	}
	if r.below-r.gone < 8 {
		return
	}
	for _, s := range r.segs {
		dropBig(s.p, uint64(s.cut[r.gone]), uint64(s.cut[r.below]))
	}
	r.gone = r.below
}
