package cost

import (
	"math/rand/v2"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/checks"
)

// Costs of a step in events that are read in the same time.
const (
	rootCost  = 2
	sliceCost = 8 // finding a window
)

// WalkEvents estimates the partial matches of each step and level, and the price
// of the plan in events read, by n random walks as Walk does.
func WalkEvents(pl *plan.Plan, o *plan.Options, n int) {
	n = affordable(pl, n)
	w := &timeWalker{
		pl: pl, t: pl.Timed, rng: rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15)),
		m: make([]uint32, len(pl.Levels)), e: make([]uint64, len(pl.Edges)),
	}
	k := len(w.t.Steps)
	w.at, w.first, w.last, w.sum = make([]int64, k), make([]int64, k), make([]int64, k), make([]float64, k)
	for range n {
		if o.Ended() {
			break
		}
		w.once()
	}
	for k := range w.t.Steps {
		w.t.Steps[k].Estimate = w.sum[k] / float64(n)
		if s := &w.t.Steps[k]; s.Binds {
			pl.Levels[max(s.From, s.To)].Estimate = s.Estimate
		}
	}
	pl.Levels[0].Estimate = pl.Levels[1].Estimate
	pl.Price = w.cost / float64(n)
}

// timeWalker is the state of the walks.
type timeWalker struct {
	pl  *plan.Plan
	t   *plan.TimeProgram
	rng *rand.Rand

	m               []uint32
	e               []uint64
	at, first, last []int64
	sum             []float64
	cost            float64
	hits            []graph.Event
	list            graph.Scratch
}

// once makes one walk.
func (w *timeWalker) once() {
	table, s := w.pl.Graph.Edges, &w.t.Steps[0]
	n := len(table.Dst)
	if w.t.Roots != nil {
		n = len(w.t.Roots)
	}
	if n == 0 || w.pl.Empty != nil {
		return
	}
	row := uint32(w.rng.IntN(n))
	if w.t.Roots != nil {
		row = w.t.Roots[row]
	}
	weight := float64(n)
	u, v := table.Src[row], table.Dst[row]
	if s.Both {
		weight *= 2
		if w.rng.IntN(2) == 1 {
			u, v = v, u
		}
	}
	w.cost += rootCost * weight
	if !checks.Valid(w.pl, 0, u, w.m, w.e) {
		return
	}
	w.m[0] = u
	if !checks.Valid(w.pl, 1, v, w.m, w.e) || !w.take(0, row) {
		return
	}
	w.sum[0] += weight
	for k := 1; k < len(w.t.Steps); k++ {
		if weight *= w.step(k, weight); weight == 0 {
			return
		}
		w.sum[k] += weight
	}
}

// step chooses the data edge that step k adds, and returns the number of edges that it chose
// from.
func (w *timeWalker) step(k int, weight float64) float64 {
	s := &w.t.Steps[k]
	var list []graph.Event
	if s.Choice < 0 {
		near, _ := checks.Smallest(w.pl, s.To, w.m, &w.list)
		w.cost += weight * (sliceCost + float64(len(near)))
		for _, c := range near {
			list = append(list, graph.Event{Other: c})
		}
	} else {
		lo, hi := w.t.Bounds(k, w.at, w.first, w.last)
		if lo > hi {
			return 0
		}
		if list = s.Events.At(w.m[s.From]); s.Binds {
			list = graph.Window(list, lo, hi)
			w.cost += weight * (sliceCost + float64(len(list)))
		} else {
			list = graph.Between(list, w.m[s.To], lo, hi)
			w.cost += weight * sliceCost
		}
	}
	w.hits = w.hits[:0]
	tries := min(len(list), probes)
	for i := range tries {
		x := list[i]
		if len(list) > probes {
			x = list[w.rng.IntN(len(list))]
		}
		if s.Binds && !checks.Valid(w.pl, s.To, x.Other, w.m, w.e) || s.Choice >= 0 && !w.take(k, x.Row) {
			continue
		}
		w.hits = append(w.hits, x)
	}
	if len(w.hits) == 0 {
		return 0
	}
	x := w.hits[w.rng.IntN(len(w.hits))]
	if s.Binds {
		w.m[s.To] = x.Other
	}
	if s.Choice >= 0 {
		w.take(k, x.Row)
	} else {
		w.at[k], w.first[k], w.last[k] = 0, w.first[k-1], w.last[k-1]
	}
	return float64(len(list)) * float64(len(w.hits)) / float64(tries)
}

// take makes row the data edge of step k, if its conditions allow.
func (w *timeWalker) take(k int, row uint32) bool {
	s := &w.t.Steps[k]
	if w.pl.Mode == pattern.Trail {
		for j := range w.t.Steps[:k] {
			if i := w.t.Steps[j].Choice; i >= 0 && w.e[i] == uint64(row) {
				return false
			}
		}
	}
	w.e[s.Choice] = uint64(row)
	for i := range s.Checks {
		if !s.Checks[i].Eval(w.m, w.e) {
			return false
		}
	}
	w.at[k] = w.t.Times[row]
	w.first[k], w.last[k] = w.at[k], w.at[k]
	if k > 0 {
		w.first[k], w.last[k] = w.first[k-1], w.last[k-1]
		if s.Timed {
			w.first[k], w.last[k] = min(w.first[k], w.at[k]), max(w.last[k], w.at[k])
		}
	}
	return true
}
