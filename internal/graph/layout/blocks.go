package layout

import (
	"context"
	"runtime"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
)

// blocks cuts items into ranges that several threads go through. Each step over the items, such as a count
// and the writing that follows it, has the same ranges.
type blocks struct{ items, threads, n int }

// blockLeast is the least number of items that a block of its own is worth.
const blockLeast = 1 << 14

// blocksOf cuts a number of items into about four blocks per thread.
//
// Why: a thread that waits for the processor then does not hold up the others, and a context can end between two blocks, with
// one thread too.
func blocksOf(items, threads int) blocks {
	return blocks{items, threads, max(1, min(4*threads, items/blockLeast))}
}

// begin returns the number of block b's first item.
func (k blocks) begin(b int) int { return k.items * b / k.n }

// each calls f for each block with the range of its items, on all threads. The error is that of the context.
func (k blocks) each(ctx context.Context, f func(b, lo, hi int)) error {
	return graph.Parallel(ctx, evenly(k.n, uint64(max(blockLeast, k.items/k.n))), k.threads, func(lo, hi uint32) {
		for b := int(lo); b < int(hi); b++ {
			f(b, k.begin(b), k.begin(b+1))
		}
	})
}

// sums replaces counts by the numbers of items before each of them, and returns the number of all.
func sums(counts []int) (all int) {
	for i, n := range counts {
		counts[i], all = all, all+n
	}
	return all
}

// starts returns the indexes of those ids whose upper bits, behind shift lower ones, are not step more than those of the id
// before; and at last the number of ids.
func starts(ctx context.Context, ids []uint32, shift, step uint32, threads int) ([]uint32, error) {
	k := blocksOf(len(ids), count(threads))
	at := make([][]uint32, k.n)
	if err := k.each(ctx, func(b, lo, hi int) {
		var some []uint32
		for i := lo; i < hi; i++ {
			if i == 0 || ids[i]>>shift != ids[i-1]>>shift+step {
				some = append(some, uint32(i))
			}
		}
		at[b] = some
	}); err != nil {
		return nil, err
	}
	return slices.Concat(append(at, []uint32{uint32(len(ids))})...), nil
}

// bySize calls f for each of some jobs with the number of threads that it is worth, and waits. Jobs that are larger than one
// thread's share of all of them are fewer than the threads, which they share. One thread does each other job. The error is that of the context.
func bySize(ctx context.Context, sizes []uint64, threads int, f func(job, threads int)) error {
	all := uint64(0)
	for _, n := range sizes {
		all += n
	}
	var small, large []int
	work := []uint64{0}
	for i, n := range sizes {
		if threads > 1 && n*uint64(threads) > all {
			large = append(large, i)
			continue
		}
		small = append(small, i)
		work = append(work, work[len(work)-1]+max(n, blockLeast))
	}
	err := graph.Parallel(ctx, work, threads, func(lo, hi uint32) {
		for _, i := range small[lo:hi] {
			f(i, 1)
		}
	})
	if err != nil || len(large) == 0 {
		return err
	}
	return graph.Parallel(ctx, evenly(len(large), blockLeast), len(large), func(lo, hi uint32) {
		for _, i := range large[lo:hi] {
			f(i, threads/len(large))
		}
	})
}

// count turns an option into a number of threads; 0 means all cores.
func count(threads int) int {
	if threads <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return threads
}
