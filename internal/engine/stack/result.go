package stack

import (
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
)

// Numbers of Counters.user, as in stack/stack.cuh.
const (
	usedCombined = iota
	usedLazy
	usedFlat
	usedSieve
	usedTurned
	usedEdges
	usedKinds
)

var usedNames = [usedKinds]string{
	usedCombined: "combined steps", usedLazy: "sets left unfiltered", usedFlat: "flat batches", usedSieve: "sieves",
	usedTurned: "lists searched", usedEdges: "edge chunks",
}

// result says what a run found in the terms of engines.
func (r *search) result(found session.Result) engine.Result {
	res := engine.Result{
		Matches: engine.Uint128(found.Matches), Complete: found.Complete, Device: r.e.s.String(),
		Search: found.Search, Prepare: found.Upload + found.Prepare + found.Compile, Threads: r.e.s.Workers(),
	}
	if limit := engine.U64(uint64(max(r.o.Limit, 0))); r.o.Limit > 0 && res.Matches.Cmp(limit) >= 0 {
		res.Matches = limit
		res.Complete = res.Complete && r.listing
	}
	for v, n := range found.PerRoot { // none after a run that never began
		r.o.PerRoot[v] = engine.Uint128(n)
	}
	if r.o.Levels {
		res.Levels = r.levels(found)
	}
	res.Stats = r.figures(found)
	return res
}

// levels gives each level its partial matches, and its part of the search time by
// the cycles that warps were at it.
func (r *search) levels(found session.Result) []engine.LevelStat {
	out := make([]engine.LevelStat, len(r.p.Levels))
	var all uint64
	for _, c := range r.cycles {
		all += c
	}
	for l := range out {
		if l < len(found.Visits) {
			out[l].Matches = engine.U64(found.Visits[l])
		}
		if l < len(r.cycles) && all > 0 {
			out[l].Time = time.Duration(float64(found.Search) * float64(r.cycles[l]) / float64(all))
		}
	}
	out[len(out)-1].Matches = engine.Uint128(found.Matches)
	return out
}

// figures say how the search was run, and where the time around it went.
func (r *search) figures(found session.Result) []string {
	tasks := "vertices"
	if r.edges {
		tasks = "edges"
	}
	out := []string{fmt.Sprintf("%d blocks of %d threads a device, %s as tasks, %d siblings, sets of up to %d elements; %d steals in blocks, %d across",
		r.blocks, r.thread, tasks, r.unroll, r.cap, found.StealsBlock, found.StealsGrid)}
	out = append(out, fmt.Sprintf("upload %s, preparation %s, compilation %s", round(found.Upload), round(found.Prepare), round(found.Compile)))
	if r.stats {
		text := fmt.Sprintf("%d of %d lane-steps had an element", found.LanesBusy, found.LanesAll)
		for i, name := range usedNames {
			text += fmt.Sprintf(", %s %d", name, found.User[i])
		}
		out = append(out, text)
	}
	return out
}

func round(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}
