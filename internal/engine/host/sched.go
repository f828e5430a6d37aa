package host

import (
	"context"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// The scheduler hands out roots in units, and busy workers give away half of the rest at the
// shallowest level with at least two remaining candidates (package tasks). The units have about
// equal numbers of neighbours. Hubs, whose searches are the longest, come first and one by one, and
// thousands of leaves share one visit to the cursor that all cores write.

// task is a part of the search: candidates of one level below a bound prefix.
// A task of level 0 is a range of the root list.
type task struct {
	level      int
	prefix     []uint32
	cands      []uint32
	begin, end uint64 // level 0: indexes into the root list
}

// sched is shared by the workers of one run.
type sched struct {
	tasks.Queue[task]
	roots    rootList
	backward bool // the last roots come first
	share    *memory.Share
}

// countedLeast is the number of bytes from which an array of a worker is counted.
const countedLeast = 64 << 10

// took counts an array that a worker is about to make. If there may be no more, the run fails.
func (s *sched) took(what string, bytes int) {
	if bytes < countedLeast {
		return
	}
	if err := s.share.Take(what, int64(bytes)); err != nil {
		s.Fail(err)
	}
}

// newSched makes the units of a search. They have at least the work `least`, if it has no limit and workers steal.
func newSched(roots rootList, o job, steal bool, least uint64) *sched {
	s := &sched{roots: roots}
	units, work := uint64(o.Threads)*unitsEach, roots.work()
	if steal && o.Limit <= 0 {
		units = min(units, work/least+1)
	}
	units = min(max(units, work/unitWork), roots.n)
	s.Init(o.Threads, steal, units, func(i uint64) (task, bool) {
		if s.backward {
			i = units - 1 - i
		}
		b, e := s.roots.cut(i, units), s.roots.cut(i+1, units)
		return task{begin: b, end: e}, b < e
	})
	return s
}

// backwards reports whether the last roots are to come first in a run that a limit ends. Hubs are the first vertices, so a vertex that has to come before
// the root and is far from it in the order would be sought in vain by all the search below a hub.
func backwards(p *plan.Plan, o job) bool {
	if o.Limit <= 0 || len(p.Levels) < 3 || slices.Contains(p.Levels[1].Below, 0) {
		return false
	}
	return slices.ContainsFunc(p.Levels[2:], func(l plan.Level) bool { return slices.Contains(l.Below, 0) })
}

// unitsEach is the number of units for each worker. With that many, the last worker to end
// leaves the others idle only for a short time. unitWork is the largest work of a unit, except
// for a unit of a single root. Limits and progress are checked at units. unitLeast is the least work that is worth a unit in a search
// without a limit, where workers steal: taking one costs as much as some ten entries of a list.
const (
	unitsEach = 64
	unitWork  = 4096
	unitLeast = 128
)

// add is sum + n; past 128 bits the run fails.
func (s *sched) add(sum engine.Uint128, n engine.Tally) engine.Uint128 {
	sum, over := sum.AddOver(n.N)
	if over || n.Over {
		s.Fail(engine.ErrOverflow)
	}
	return sum
}

// run runs the workers, and tells how many roots are done.
func (s *sched) run(ctx context.Context, o job, work func(worker int, m *crew.Memory)) {
	var progress func(units uint64)
	if o.Progress != nil {
		progress = func(units uint64) { o.Progress(s.roots.cut(units, s.Units()), s.roots.n) }
	}
	s.share = memory.ShareOf(ctx)
	s.Run(ctx, o.Crew, progress, work)
}

// rootList is the candidates of level 0: id ranges, or an explicit list.
type rootList struct {
	n      uint64
	ranges []rootRange
	list   []uint32
	off    []uint64 // with one range: a running sum of the vertices' work; nil: all are alike
}

type rootRange struct {
	at    uint64 // index of First in the root list
	first uint32
	n     uint64
}

// rootWork is the work of a root of which nothing is known.
const rootWork = 16

// work is the work of all roots: one for each root, and its entry in off.
func (r *rootList) work() uint64 {
	if !r.weighted() {
		return r.n * rootWork
	}
	return graph.Work(r.off, r.ranges[0].first, r.ranges[0].first+uint32(r.n))
}

func (r *rootList) weighted() bool { return r.off != nil && r.list == nil && len(r.ranges) == 1 }

// cut is the index of the first root of unit i, out of `units` units.
func (r *rootList) cut(i, units uint64) uint64 {
	if !r.weighted() {
		hi, lo := bits.Mul64(r.n, i)
		q, _ := bits.Div64(hi, lo, max(units, 1))
		return q
	}
	first := r.ranges[0].first
	return uint64(graph.Cut(r.off, first, first+uint32(r.n), i, units) - first)
}

// each calls f for roots number b … e-1 until it returns false.
func (r *rootList) each(b, e uint64, f func(v uint32) bool) {
	if r.list != nil {
		for _, v := range r.list[b:e] {
			if !f(v) {
				return
			}
		}
		return
	}
	for _, g := range r.ranges {
		lo, hi := max(b, g.at), min(e, g.at+g.n)
		for i := lo; i < hi; i++ {
			if !f(g.first + uint32(i-g.at)) {
				return
			}
		}
	}
}
