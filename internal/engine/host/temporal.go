package host

import (
	"context"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/setops"
)

// Edge extension in windows of time, as plan.TimeProgram says. Tasks are runs of
// the data edges that step 0 may take. A step reads a slice of events and goes on
// below each one that passes; it allocates nothing.

// timed is the state of a worker besides its partial match.
type timed struct {
	*plan.TimeProgram
	p               *plan.Plan
	at, first, last []int64 // of the steps so far: see TimeProgram.Bounds
	whole           bool    // lists are read whole, and each event's time is tested
	sized           bool    // the last step is a size, of a window
	near            bool    // the last step is a size, of a neighbour list
	trail           bool
	lists           []graph.Scratch // of the steps that look at neighbours
}

func newTimed(pr *program, s switches, counting bool) *timed {
	p := pr.p
	t := &timed{TimeProgram: p.Timed, p: p, whole: !s.windows, trail: p.Mode == pattern.Trail}
	k := len(t.Steps)
	t.at, t.first, t.last = tasks.Padded[int64](k), tasks.Padded[int64](k), tasks.Padded[int64](k)
	t.lists = tasks.Padded[graph.Scratch](k)
	last := &t.Steps[k-1]
	if counting && t.Tail && k > 1 {
		t.sized = !last.Binds && len(last.Checks) == 0 && !t.trail && !t.whole
		lv := &pr.levels[last.To]
		t.near = last.Choice < 0 && len(last.Back) == 1 && lv.Bits == nil && !lv.many && len(lv.Checks) == 0 && lv.minDegree == 0
	}
	return t
}

func runTemporal(ctx context.Context, g *graph.Graph, p *plan.Plan, o job) (engine.Result, error) {
	pr := o.programs.walked()
	roots := uint64(len(g.Edges.Dst))
	if p.Timed.Roots != nil {
		roots = uint64(len(p.Timed.Roots))
	}
	// A worker gives roots away alone, so each root is a unit.
	s := newSched(rootList{n: roots}, o, o.steal, 1)
	lim := &limiter{max: o.Limit, s: s}
	ws := make([]*worker, o.Threads)
	for i := range ws {
		w := &worker{pr: pr, s: s, id: i, limit: lim, timed: newTimed(pr, o.switches, o.Sink == nil)}
		if o.Sink != nil {
			w.out = newEmitter(p, i, o.Sink)
		}
		if o.Levels {
			w.stats = tasks.Padded[engine.Uint128](pr.depth)
		}
		ws[i] = w
	}
	return runWorkers(ctx, ws, o, nil)
}

// runTimed does one task.
func (w *worker) runTimed(t task) {
	x, table := w.timed, w.pr.g.Edges
	it := &w.it[0]
	*it = iter{pos: int(t.begin), end: int(t.end), roots: true}
	for it.pos < it.end {
		row := uint32(it.pos)
		if it.pos++; x.Roots != nil {
			row = x.Roots[row]
		}
		u, v := table.Src[row], table.Dst[row]
		w.beginAt(row, u, v)
		if x.Steps[0].Both {
			w.beginAt(row, v, u)
		}
		if w.s.Stop.Load() {
			return
		}
		if w.s.Wanted() {
			w.split(0)
		}
	}
}

// beginAt makes row the first data edge, from u to v.
func (w *worker) beginAt(row, u, v uint32) {
	x := w.timed
	if !w.fits(0, u, nil) {
		return
	}
	w.m[0] = u
	if !w.fits(1, v, x.Steps[0].Back) {
		return
	}
	w.m[1] = v
	if !w.takes(&x.Steps[0], row) {
		return
	}
	t := x.Times[row]
	x.at[0], x.first[0], x.last[0] = t, t, t
	w.reached(0)
	w.reached(1)
	w.extend(1)
}

// extend goes on with step k.
func (w *worker) extend(k int) {
	x := w.timed
	if k == len(x.Steps) {
		w.match()
		return
	}
	s := &x.Steps[k]
	if s.Choice < 0 {
		x.first[k], x.last[k] = x.first[k-1], x.last[k-1]
		w.neighbours(k, s)
		return
	}
	lo, hi := x.Bounds(k, x.at, x.first, x.last)
	if lo > hi {
		return
	}
	list := s.Events.At(w.m[s.From])
	switch {
	case x.whole:
	case s.Binds:
		list = graph.Window(list, lo, hi)
	default:
		list = graph.Between(list, w.m[s.To], lo, hi)
	}
	if x.sized && k == len(x.Steps)-1 {
		w.count = w.count.Add64(uint64(len(list)))
		return
	}
	for i := range list {
		ev := &list[i]
		if x.whole && (ev.Time < lo || ev.Time > hi || !s.Binds && ev.Other != w.m[s.To]) {
			continue
		}
		if s.Binds {
			if !w.fits(s.To, ev.Other, s.Back) {
				continue
			}
			w.m[s.To] = ev.Other
		}
		if !w.takes(s, ev.Row) {
			continue
		}
		if s.Binds {
			w.reached(s.To)
		}
		x.at[k], x.first[k], x.last[k] = ev.Time, x.first[k-1], x.last[k-1]
		if s.Timed {
			x.first[k], x.last[k] = min(x.first[k], ev.Time), max(x.last[k], ev.Time)
		}
		w.extend(k + 1)
		if w.s.Stop.Load() {
			return
		}
	}
}

// neighbours finds the vertex of a step that no timed edge leads to.
func (w *worker) neighbours(k int, s *plan.TimeStep) {
	var list []uint32
	least, from := 0, (*plan.Back)(nil)
	for i := range s.Back {
		b := &s.Back[i]
		if n := w.pr.p.Adjs[b.Adj].Lists.Degree(w.m[b.Level]); !b.Neg && (from == nil || n < least) {
			least, from = n, b
		}
	}
	if from != nil {
		list = w.pr.p.Adjs[from.Adj].Lists.List(w.m[from.Level], &w.timed.lists[k])
	}
	if w.timed.near && k == len(w.timed.Steps)-1 {
		w.count = w.count.Add64(uint64(w.free(s.To, list)))
		return
	}
	for _, v := range list {
		if !w.fits(s.To, v, s.Back) {
			continue
		}
		w.m[s.To] = v
		w.reached(s.To)
		w.extend(k + 1)
		if w.s.Stop.Load() {
			return
		}
	}
}

// free is the number of vertices in list, the only one that level l looks at, that
// the level may have.
func (w *worker) free(l int, list []uint32) int {
	lv := &w.pr.levels[l]
	lo, hi := lv.bounds(&w.m)
	if list = within(list, lo, max(lo, hi)); len(list) == 0 {
		return 0
	}
	n := len(list)
	for _, j := range lv.Distinct {
		if setops.Contains(list, w.m[j]) {
			n--
		}
	}
	return n
}

// fits reports whether v may be the vertex of level l, which is linked to earlier
// ones as back says.
func (w *worker) fits(l int, v uint32, back []plan.Back) bool {
	lv := &w.pr.levels[l]
	if lo, hi := lv.bounds(&w.m); v < lo || v >= hi {
		return false
	}
	if lv.filter && !lv.passes(w.pr, v, &w.m, w.e) {
		return false
	}
	for _, b := range back {
		if w.pr.p.Adjs[b.Adj].Lists.Has(w.m[b.Level], v) == b.Neg {
			return false
		}
	}
	return true
}

// takes makes row the data edge of a step, if its conditions allow.
func (w *worker) takes(s *plan.TimeStep, row uint32) bool {
	if w.timed.trail {
		for _, used := range w.e[:s.Choice] {
			if used == uint64(row) {
				return false
			}
		}
	}
	w.e[s.Choice] = uint64(row)
	for i := range s.Checks {
		if !s.Checks[i].Eval(w.m[:], w.e) {
			return false
		}
	}
	return true
}

// reached counts a partial match of level l.
func (w *worker) reached(l int) {
	if w.stats != nil {
		w.stats[l] = w.stats[l].Add64(1)
		w.where.Store(int32(min(l+1, w.pr.depth-1)))
	}
}
