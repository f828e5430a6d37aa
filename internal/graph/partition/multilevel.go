package partition

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
)

// A number of partitions of the coarsest graph are made, of which the best is taken. It is from
// fewTrials to manyTrials; between them all together read about trialEntries entries of lists.
const (
	fewTrials    = 4
	manyTrials   = 16
	trialEntries = 1 << 20
)

// multilevel cuts g into k parts, of which none weighs more than most if that can be.
func multilevel(ctx context.Context, g *weighted, k int, slack float64, seed uint64, threads int) ([]uint32, error) {
	r := &random{state: seed}
	small := max(2000, 40*k)
	levels, err := coarsen(ctx, g, small, threads, r)
	if err != nil {
		return nil, err
	}
	most := limit(float64(g.total)/float64(k), slack)
	limits := func(i int) []int64 {
		l := make([]int64, k)
		for p := range l {
			if l[p] = most; i > 0 {
				l[p] = roomy(levels[i].weighted, most)
			}
		}
		return l
	}
	of, err := initial(ctx, levels[len(levels)-1].weighted, k, slack, limits(len(levels)-1), r, threads)
	if err != nil {
		return nil, err
	}
	for i := len(levels) - 2; i >= 0; i-- {
		of = project(levels[i].coarse, of)
		levels = levels[:i+1]
		levels[i].coarse = nil
		if err := newRefiner(levels[i].weighted, of, limits(i)).refine(ctx, 8); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// initial cuts the coarsest graph several times, and returns the best.
func initial(ctx context.Context, g *weighted, k int, slack float64, limits []int64, r *random, threads int) ([]uint32, error) {
	ids := make([]uint32, g.n())
	for v := range ids {
		ids[v] = uint32(v)
	}
	// Bisections one inside the other together take the slack.
	each := math.Pow(1+slack, 1/float64(max(bits.Len(uint(k-1)), 1))) - 1
	type trial struct {
		of        []uint32
		cut, over int64
		err       error
	}
	trials := min(max(trialEntries/(len(g.adj)+1), fewTrials), manyTrials)
	made := make([]trial, trials)
	seeds, work := make([]random, trials), make([]uint64, trials+1)
	for i := range made {
		seeds[i] = random{r.next(), rule(i) % rules}
		work[i+1] = uint64(i+1) << 32
	}
	err := graph.Parallel(ctx, work, threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			t := &made[i]
			t.of = make([]uint32, g.n())
			if t.err = bisections(ctx, g, slices.Clone(ids), k, 0, each, &seeds[i], t.of); t.err != nil {
				continue
			}
			f := newRefiner(g, t.of, limits)
			t.err = f.refine(ctx, 8)
			t.cut, t.over = f.cut(), f.over()
		}
	})
	if err != nil {
		return nil, err
	}
	best := 0
	for i, t := range made {
		if t.err != nil {
			return nil, t.err
		}
		if b := made[best]; t.over < b.over || t.over == b.over && t.cut < b.cut {
			best = i
		}
	}
	return made[best].of, nil
}
