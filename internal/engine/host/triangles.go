package host

import (
	"context"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// runTriangles counts the edges among the neighbours below each root. A root's work is short,
// so it is not shared, and a worker needs only a bitmap. Why a function of its own: in a small
// graph the search takes as long as making the workers of other plans.
func runTriangles(ctx context.Context, lp *localProgram, o job) (engine.Result, error) {
	s := newSched(lp.roots(), o, false, 1)
	lim := &limiter{max: o.Limit, s: s}
	counts := make([]engine.Uint128, o.Threads)
	words := (lp.g.NumVertices() + 63) / 64
	s.run(ctx, o, func(i int, m *crew.Memory) {
		t, ok := s.Next()
		if !ok {
			return // in a short search some come too late: they take no memory
		}
		s.took("bitmaps of vertices", 8*words)
		below := setops.Bitmap(crew.Take[uint64](m, words))
		var sum engine.Uint128
		var lists [2]graph.Scratch
		for ; ok; t, ok = s.Next() {
			s.roots.each(t.begin, t.end, func(v uint32) bool {
				if lp.lists.Degree(v) < lp.levels[0].minDegree {
					return true
				}
				n := lp.edgesBelow(v, below, &lists)
				sum = sum.Add64(n)
				s.AddPerRoot(o.PerRoot, v, engine.U64(n))
				return !s.Stop.Load()
			})
			lim.addCount(i, sum)
		}
		counts[i] = sum
	})
	var res engine.Result
	for _, n := range counts {
		res.Matches = s.add(res.Matches, engine.Tally{N: n})
	}
	res.Matches = lim.clamp(res.Matches)
	res.Complete = !s.Stop.Load()
	return res, s.Failure()
}

// edgesBelow counts the edges among the neighbours of v below v: v's triangles. The
// bitmap is empty, before and after.
func (lp *localProgram) edgesBelow(v uint32, bm setops.Bitmap, lists *[2]graph.Scratch) uint64 {
	list := lp.below(v, &lists[0])
	if len(list) < 2 {
		return 0
	}
	setops.SetAll(bm, list)
	n := 0
	for i, u := range list[1:] {
		// A merge reads both lists, the bitmap one, at twice the cost.
		if nb := lp.below(u, &lists[1]); i < len(nb) {
			n += setops.IntersectCount(list[:i+1], nb)
		} else {
			n += setops.CountBits(nb, bm)
		}
	}
	setops.ClearAll(bm, list)
	return uint64(n)
}
