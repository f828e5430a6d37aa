package graph

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync"
)

// cuts are ranges of vertices whose lists are of about equal length together.
type cuts struct {
	shift int
	of    []uint16 // range by bin, which is vertex >> shift
	lo    []uint32 // first vertex of each range; one more at the end
	arcs  []uint64 // of each range
}

const (
	// rangeArcs is about how many arcs the lists of a range have at least: they
	// take half of a second cache of 512 KiB.
	rangeArcs = 1 << 16
	// mostRanges is the largest number of ranges, roughly. More are made only if the number of
	// vertices requires it.
	mostRanges = 1024
)

// binShift is by how much vertices below n are shifted: all bins' ranges fit the
// first cache, and no bin is too wide for a range.
func binShift(n uint32) int { return min(max(0, bits.Len32(n)-13), 15) }

// cutVertices cuts the vertices 0 … n-1 into ranges. arcs has the number of arcs of each bin of
// vertices. A range has at most rangeVertices vertices, or more if they have no arcs.
func cutVertices(n uint32, arcs []uint64) (*cuts, error) {
	total := uint64(0)
	for _, c := range arcs {
		total += c
	}
	each := max(rangeArcs, total/mostRanges)
	k := &cuts{shift: binShift(n), of: make([]uint16, len(arcs)), lo: []uint32{0}, arcs: []uint64{0}}
	for b, c := range arcs {
		r := len(k.arcs) - 1
		first, from, sum := uint64(b)<<k.shift, uint64(k.lo[r]), k.arcs[r]
		end := min(uint64(b+1)<<k.shift, uint64(n))
		if first > from && ((c > 0) != (sum > 0) || c > 0 && (sum+c > each || end-from > rangeVertices)) {
			k.lo, k.arcs = append(k.lo, uint32(first)), append(k.arcs, 0)
			r++
		}
		k.arcs[r] += c
		k.of[b] = uint16(r)
	}
	k.lo = append(k.lo, n)
	if len(k.arcs) > math.MaxUint16 {
		return nil, fmt.Errorf("%w: more than 2^31 vertices with edges", ErrTooLarge)
	}
	return k, nil
}

// len is the number of ranges.
func (k *cuts) len() int { return len(k.arcs) }

// each calls f for every range with arcs, on threads goroutines.
func (k *cuts) each(ctx context.Context, threads int, f func(worker, r int)) error {
	return parallel(ctx, threads, uint64(k.len()), 1, func(w int, r, _ uint64) {
		if k.arcs[r] > 0 {
			f(w, int(r))
		}
	})
}

// progress follows which ranges are done, to tell when all below some range are.
type progress struct {
	mu    sync.Mutex
	done  []bool
	below int // all ranges before are done
	told  int // and those before this one it has told of
	step  int // how many to tell of at once
}

// progress returns a progress that reports about `times` times.
func (k *cuts) progress(times int) *progress {
	p := &progress{done: make([]bool, k.len()), step: k.len()/times + 1}
	for r, arcs := range k.arcs {
		p.done[r] = arcs == 0
	}
	return p
}

// finished notes that range r is done. Now and then it has f called with a run of ranges, from
// … to-1, that are done and follow other done ranges.
func (p *progress) finished(r int, f func(from, to int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[r] = true
	for p.below < len(p.done) && p.done[p.below] {
		p.below++
	}
	if p.below-p.told >= p.step {
		f(p.told, p.below)
		p.told = p.below
	}
}
