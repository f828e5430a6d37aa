package join

import (
	"context"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// task is a run of roots, or rows for a step.
type task struct {
	begin, end uint64 // roots, where rows is nil
	step       int
	rows       []uint32
	weights    []engine.Tally // of the rows; nil: they are 1
	lo, hi     uint32         // the candidates lo ≤ v < hi of the step's first level; of several rows all of them
}

// queue hands out the roots in units. Busy workers give away half of the rows before them.
type queue struct {
	tasks.Queue[task]
	ranges []plan.Range
	list   []uint32 // in place of ranges, if not nil
	total  uint64   // roots
}

// unitRoots is the least number of roots in a unit, and unitsEach the number of units for each
// worker if there are enough roots.
const (
	unitRoots = 16
	unitsEach = 64
)

func newQueue(x *group, workers int, steal, merging bool) *queue {
	q := &queue{ranges: x.ranges, list: x.roots}
	if q.ranges == nil {
		q.ranges = []plan.Range{x.one}
	}
	for _, r := range q.ranges {
		q.total += uint64(r.End - min(r.First, r.End))
	}
	if q.list != nil {
		q.total = uint64(len(q.list))
	}
	each := uint64(unitsEach)
	if merging {
		each = 1 // rows are merged within a unit
	}
	units := min(max(uint64(workers)*each, 1), (q.total+unitRoots-1)/unitRoots)
	q.Init(workers, steal, units, func(i uint64) (task, bool) {
		return task{begin: q.total * i / units, end: q.total * (i + 1) / units}, true
	})
	return q
}

// each calls f with the roots of a task until f returns false.
func (q *queue) each(t task, f func(v uint32) bool) {
	if q.list != nil {
		for _, v := range q.list[t.begin:t.end] {
			if !f(v) {
				return
			}
		}
		return
	}
	at := uint64(0)
	for _, r := range q.ranges {
		n := uint64(r.End - min(r.First, r.End))
		for i, end := max(t.begin, at), min(t.end, at+n); i < end; i++ {
			if !f(r.First + uint32(i-at)) {
				return
			}
		}
		at += n
	}
}

// run runs the workers, and tells how many roots are done.
func (q *queue) run(ctx context.Context, pool *crew.Pool, progress func(done, total uint64), work func(worker int, m *crew.Memory)) {
	var done func(units uint64)
	if progress != nil {
		done = func(units uint64) { progress(q.total*units/max(q.Units(), 1), q.total) }
	}
	q.Run(ctx, pool, done, work)
}
