package stack

import (
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// Tasks are roots or edges. A root task is a vertex of level 0. An edge task is a place in the
// neighbour lists that level 1's candidates come from. The same number of places is about the
// same work in every list, so that a hub is many tasks.

// hub is the length of a list from which edge tasks are worth their search for
// the vertex that a place belongs to.
const hub = 1024

// leastPlaces and mostPlaces bound how many places a warp takes at a time.
const leastPlaces, mostPlaces = 16, 256

// cut decides the kind of tasks, their number, and how many a warp takes at once.
func (r *search) cut() error {
	can := r.listed() >= 2 && r.p.Levels[1].Set >= 0 && !r.parts
	switch r.roots {
	case "edge":
		if !can {
			return plan.Refusef("stack.roots=edge: the search has no list of edges to begin with; use vertex or auto")
		}
		r.edges = true
	case "auto":
		r.edges = can && r.longest() >= hub
	}
	if r.edges {
		r.vertices = gpu.ListVertices(r.code.Program, r.code.Program.Globals[r.code.Sets.First], r.first())
	}
	for _, v := range r.code.Roots {
		if r.edges {
			r.tasks += r.first().Before(v.End) - r.first().Before(v.First)
		} else {
			r.tasks += uint64(v.End - v.First)
		}
	}
	switch {
	case r.switches.chunk > 0:
		r.chunk = r.switches.chunk
	case r.edges:
		r.chunk = int(min(max(r.tasks/uint64(4*r.warps()), leastPlaces), mostPlaces))
	default:
		r.chunk = int(min(max(r.tasks/uint64(16*r.warps()), 1), 32))
	}
	return nil
}

// first are the lists that level 1's candidates come from.
func (r *search) first() *graph.Handle { return r.p.Adjs[r.code.Sets.First].Lists }

// longest is the length of the longest list that level 1's candidates come from. If degrees
// fall as ids ascend, it is the first vertex's.
func (r *search) longest() (n int) {
	lists := r.first()
	if len(r.g.Classes) == 1 && lists.NumVertices() > 0 && lists.DegreeOrdered {
		return lists.Degree(0)
	}
	return lists.MaxDegree()
}

// warps is about how many warps all devices hold at once.
func (r *search) warps() (n int) {
	for _, d := range r.e.s.Devices() {
		n += d.SMs * residentThreads / 32
	}
	return max(n, 1)
}
