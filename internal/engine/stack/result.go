package stack

import (
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
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

// levels gives each level its partial matches, and its part of the search time by
// the cycles that warps were at it.
func (r *run) levels(found *session.Result) []engine.LevelStat {
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
func (r *run) figures(found *session.Result) []string {
	tasks := "vertices"
	if r.edges {
		tasks = "edges"
	}
	out := []string{fmt.Sprintf("%d blocks of %d threads a device, %s as tasks, %d siblings, sets of up to %d elements; %d steals in blocks, %d across",
		r.grid, r.thread, tasks, r.unroll, r.cap, found.StealsBlock, found.StealsGrid)}
	out = append(out, gpu.Times(found))
	if r.stats {
		text := fmt.Sprintf("%d of %d lane-steps had an element", found.LanesBusy, found.LanesAll)
		for i, name := range usedNames {
			text += fmt.Sprintf(", %s %d", name, found.User[i])
		}
		out = append(out, text)
	}
	return out
}
