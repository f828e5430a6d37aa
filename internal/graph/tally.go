package graph

import (
	"context"
	"fmt"
	"sync/atomic"
)

// tally counts vertices on several goroutines. Each goroutine has a byte for every vertex,
// because bytes stay in cache where words would not. A goroutine adds the overflow of a byte to
// the shared sum. If the bytes would need too much memory, all goroutines add to the sum
// directly.
type tally struct {
	sum []uint32
	own [][]uint8 // by worker; nil: counts go to sum
}

// newTally returns a tally of n vertices. small says that bytes for all of them are little
// memory compared with the counted items.
func newTally(n uint32, threads int, small bool) *tally {
	t := &tally{sum: makeTemp[uint32](uint64(n))}
	for range threads {
		if small {
			t.own = append(t.own, makeTemp[uint8](uint64(n)))
		}
	}
	return t
}

// total returns the counts; the tally is empty afterwards.
func (t *tally) total(ctx context.Context, threads int) []uint32 {
	sum := t.sum
	_ = parallel(ctx, threads, uint64(len(sum)), 1<<16, func(_ int, lo, hi uint64) {
		for _, own := range t.own {
			s := sum[lo:hi]
			for i, c := range own[lo:hi] {
				s[i] += uint32(c)
			}
		}
	})
	for i := range t.own {
		freeBig(&t.own[i])
	}
	t.sum = nil
	return sum
}

// ends is how many edges other than self-loops have each of n vertices as an end,
// repeated edges as often as they are given.
type ends struct {
	// On an undirected graph size[0] has all and size[1] is nil; on a directed one
	// they have the edges from the vertex and those to it.
	size  [2][]uint32
	loop  []uint64 // bits of the vertices with self-loops
	loops uint64   // how many self-loops there are
	given uint64   // edges, self-loops among them
}

func (e *ends) free() {
	freeBig(&e.size[0])
	freeBig(&e.size[1])
	freeBig(&e.loop)
}

// countEnds counts the ends of edges by compact ids.
func countEnds(ctx context.Context, threads int, segs []*segment, n uint32, directed bool) (*ends, error) {
	e := &ends{loop: makeTemp[uint64](uint64(n)/64 + 1)}
	for _, s := range segs {
		e.given += uint64(len(s.p))
	}
	small := uint64(2*threads)*uint64(n) <= e.given
	from := newTally(n, threads, small)
	to := from
	if directed {
		to = newTally(n, threads, small)
	}
	var loops atomic.Uint64
	const grain = 1 << 16
	err := overPairs(ctx, threads, segs, grain, func(w int, p []uint64) {
		lost := uint64(0)
		if !small {
			for _, x := range p {
				if u, v := uint32(x>>32), uint32(x); u != v {
					atomic.AddUint32(&from.sum[u], 1)
					atomic.AddUint32(&to.sum[v], 1)
				} else {
					atomic.OrUint64(&e.loop[u>>6], 1<<(u&63))
					lost++
				}
			}
			loops.Add(lost)
			return
		}
		a, b := from.own[w], to.own[w]
		for _, x := range p {
			u, v := uint32(x>>32), uint32(x)
			if u == v {
				atomic.OrUint64(&e.loop[u>>6], 1<<(u&63))
				lost++
				continue
			}
			if a[u]++; a[u] == 0 {
				atomic.AddUint32(&from.sum[u], 1<<8)
			}
			if b[v]++; b[v] == 0 {
				atomic.AddUint32(&to.sum[v], 1<<8)
			}
		}
		loops.Add(lost)
	})
	e.loops = loops.Load()
	e.size[0] = from.total(ctx, threads)
	if directed {
		e.size[1] = to.total(ctx, threads)
	}
	if err != nil {
		return e, err
	}
	sum := uint64(0)
	for _, size := range e.size {
		for _, c := range size {
			sum += uint64(c)
		}
	}
	if sum != 2*(e.given-e.loops) {
		return e, fmt.Errorf("%w: a vertex is the end of 2^32 edges or more", ErrTooLarge)
	}
	return e, nil
}

// overPairs calls f for runs of at most grain pairs of all segments.
func overPairs(ctx context.Context, threads int, segs []*segment, grain int, f func(worker int, p []uint64)) error {
	var runs [][]uint64
	for _, s := range segs {
		for p := s.p; len(p) > 0; {
			k := min(grain, len(p))
			runs = append(runs, p[:k])
			p = p[k:]
		}
	}
	return parallel(ctx, threads, uint64(len(runs)), 1, func(w int, i, _ uint64) { f(w, runs[i]) })
}
