package graph

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

// The pairs of all segments become distinct vertex pairs in two passes that
// both stay in cache: segments are partitioned by ranges of the smaller end,
// then each range is gathered by its smaller ends and written out once. Nothing
// is sorted: what repeats is seen in a bitmap of the larger ends. Segments give
// their pages back as ranges are done, so that the peak is the input or the
// result, not their sum.

// pairSet is the distinct pairs of a graph by compact ids. A pair lies at its
// smaller end.
type pairSet struct {
	n uint32
	// The larger ends of x's pairs are far[at[x]:], size[x] of them, in no order.
	// On a directed graph those that were given only as larger → smaller come
	// first, then those given both ways: ownIn[x] in all are predecessors, and the
	// last ownOut[x] of size[x] are successors. Between the blocks is room that
	// duplicates would have taken, which was never touched.
	far           []uint32
	at            []uint64
	size          []uint32
	ownOut, ownIn []uint32
	blocks        []block
	// later[y] is how many pairs have y as their larger end; on a directed graph
	// laterFwd and laterBwd those that were given as smaller → larger, and as
	// larger → smaller.
	later, laterFwd, laterBwd []uint32
	// Degrees by compact id: distinct neighbours either way and, on a directed
	// graph, successors and predecessors.
	deg, out, in []uint32

	loop               []uint64 // bits of the vertices with self-loops
	loops, arcs, pairs uint64   // dropped self-loops, distinct arcs, distinct pairs
}

// block is where the pairs of one range of smaller ends are.
type block struct{ from, to uint64 }

func newPairSet(n uint32, total uint64, directed bool) *pairSet {
	count := func() []uint32 { return makeTemp[uint32](uint64(n)) }
	set := &pairSet{n: n, far: makeTemp[uint32](total), at: makeTemp[uint64](uint64(n)), size: count(), deg: count(), loop: makeTemp[uint64](uint64(n)/64 + 1)}
	if directed {
		set.ownOut, set.ownIn, set.out, set.in = count(), count(), count(), count()
	}
	return set
}

// freePairs frees the pairs; the degrees stay.
func (p *pairSet) freePairs() {
	freeBig(&p.far)
	freeBig(&p.at)
	for _, l := range []*[]uint32{&p.size, &p.ownOut, &p.ownIn, &p.later, &p.laterFwd, &p.laterBwd} {
		freeBig(l)
	}
}

// all, along and against are the larger ends of x's pairs: of all, of those given
// as smaller → larger, and of those given as larger → smaller.
func (p *pairSet) all(x uint32) []uint32     { return p.far[p.at[x]:][:p.size[x]] }
func (p *pairSet) along(x uint32) []uint32   { return p.all(x)[p.size[x]-p.ownOut[x]:] }
func (p *pairSet) against(x uint32) []uint32 { return p.all(x)[:p.ownIn[x]] }

func (p *pairSet) free() {
	p.freePairs()
	freeBig(&p.deg)
	freeBig(&p.out)
	freeBig(&p.in)
	freeBig(&p.loop)
}

// ranges cuts the vertices into ranges of about equal numbers of pairs.
type ranges struct {
	shift int
	of    []uint16 // range by vertex >> shift
	lo    []uint32 // first vertex of each range; one more at the end
}

// rangeEdges is how many pairs a range should have: their larger ends fit the
// second cache.
const rangeEdges = 1 << 16

// rangeVertices is the most vertices of a range, whose groups are 8 bytes each, but
// for graphs of so many that there would be too many ranges.
const rangeVertices = 1 << 20

// mostRanges is the most ranges; they have numbers of 16 bits.
const mostRanges = 4096

// sampled is of how many edges one is looked at to cut the ranges: a number that
// edges of regular lists do not come in multiples of.
const sampled = 7

func cutRanges(ctx context.Context, threads int, segs []*segment, n uint32, total uint64) (*ranges, error) {
	r := &ranges{shift: max(0, bits.Len32(n)-16)}
	bins := n>>r.shift + 1
	hist := make([]atomic.Uint64, bins)
	local := make([][]uint32, threads)
	err := parallel(ctx, threads, uint64(len(segs)), 1, func(w int, i, _ uint64) {
		edges := segs[i].p
		if local[w] == nil {
			local[w] = make([]uint32, bins)
		}
		h := local[w]
		for i := 0; i < len(edges); i += sampled {
			p := edges[i]
			h[min(uint32(p>>32), uint32(p))>>r.shift] += uint32(min(sampled, len(edges)-i))
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
	parts := min(total/rangeEdges+1, mostRanges)
	each := total/parts + 1
	wide := max(rangeVertices, uint64(n)/mostRanges) // vertices of a range
	r.of = make([]uint16, bins)
	r.lo = []uint32{0}
	sum := uint64(0)
	for b := range hist {
		c := hist[b].Load()
		first := uint64(b) << r.shift
		if sum > 0 && sum+c > each || first-uint64(r.lo[len(r.lo)-1]) >= wide {
			r.lo = append(r.lo, uint32(first))
			sum = 0
		}
		sum += c
		r.of[b] = uint16(len(r.lo) - 1)
	}
	r.lo = append(r.lo, n)
	return r, nil
}

// partition groups the edges of each segment by range and drops self-loops, whose
// vertices' bits it sets in loop.
func (r *ranges) partition(ctx context.Context, threads int, segs []*segment, loop []uint64, keep bool) (loops uint64, err error) {
	var dropped atomic.Uint64
	k := len(r.lo) - 1
	spare := make([][]uint64, threads)
	err = parallel(ctx, threads, uint64(len(segs)), 1, func(w int, i, _ uint64) {
		s := segs[i]
		cut := make([]uint32, k+1)
		s.cut = cut
		of, shift := r.of, r.shift&31
		lost := uint64(0)
		for _, p := range s.p {
			a, b := uint32(p>>32), uint32(p)
			if a == b {
				lost++
				atomic.OrUint64(&loop[a>>6], 1<<(a&63))
				continue
			}
			cut[of[min(a, b)>>shift]+1]++
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
			d := &at[of[min(a, b)>>shift]]
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
	if set.loops, err = r.partition(ctx, threads, segs, set.loop, keep); err != nil {
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
		if room-set.blocks[i].from > math.MaxUint32 {
			return set, fmt.Errorf("%w: more than 2^32 edges at few vertices", ErrTooLarge)
		}
	}
	// Each worker has two bits a vertex: together no more than the pairs take.
	workers := int(min(uint64(threads), 32*total/max(1, uint64(n))+1))
	emitters := make([]emitter, workers)
	tallies := newTallies(n, workers, total, directed)
	done := releaser{segs: segs, done: make([]bool, k)}
	err = parallel(ctx, workers, uint64(k), 1, func(w int, i, _ uint64) {
		e := &emitters[w]
		e.set, e.tallies, e.worker = set, tallies, w
		e.gather(segs, int(i), r.lo[i], r.lo[i+1])
		e.emit(&set.blocks[i], r.lo[i], r.lo[i+1])
		done.finished(int(i))
	})
	for i := range emitters {
		e := &emitters[i]
		set.arcs += e.arcs
		set.pairs += e.pairs
		e.free()
	}
	later := []*[]uint32{&set.later, &set.laterFwd, &set.laterBwd}
	for i, t := range tallies {
		*later[i] = t.total(ctx, threads)
	}
	for x, c := range set.later {
		set.deg[x] = set.size[x] + c
	}
	for x := range set.out {
		set.out[x] = set.ownOut[x] + set.laterBwd[x]
		set.in[x] = set.ownIn[x] + set.laterFwd[x]
	}
	return set, err
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
