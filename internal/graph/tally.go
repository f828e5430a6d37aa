package graph

import (
	"context"
	"sync/atomic"
)

// tally counts vertices on several goroutines. Each has a byte for every vertex,
// which stays in cache where a word would not, and carries what a byte cannot hold
// to the sum of all. If that would be too much memory, all add to the sum.
type tally struct {
	sum []uint32
	own [][]uint8 // by worker; nil: counts go to sum
}

// newTallies returns a tally of n vertices for the larger ends of total pairs,
// and two more for those of each direction of a directed graph.
func newTallies(n uint32, threads int, total uint64, directed bool) []*tally {
	ts := []*tally{{}}
	if directed {
		ts = append(ts, &tally{}, &tally{})
	}
	small := uint64(len(ts)*threads)*uint64(n) <= total
	for _, t := range ts {
		t.sum = makeTemp[uint32](uint64(n))
		for range threads {
			if small {
				t.own = append(t.own, makeTemp[uint8](uint64(n)))
			}
		}
	}
	return ts
}

// add counts each of l once.
func (t *tally) add(worker int, l []uint32) {
	if t.own == nil {
		for _, y := range l {
			atomic.AddUint32(&t.sum[y], 1)
		}
		return
	}
	own := t.own[worker]
	for _, y := range l {
		if own[y]++; own[y] == 0 {
			atomic.AddUint32(&t.sum[y], 1<<8)
		}
	}
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
