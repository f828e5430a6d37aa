package plan

import (
	"math"

	"github.com/weftgraph/weft/internal/graph"
)

// TimeProgram is a plan for the method Temporal: edge extension, as in Everest (Yuan et al.,
// arXiv:2310.02800, 2023) and before it in Mackey et al. (A chronological edge-driven approach
// to temporal subgraph isomorphism, 2018).
//
// A match grows by one data edge at a time. ORDERED and WITHIN limit the next edge to a window
// of time. The data edges in a window are a slice of a list that is sorted by time, so edges
// outside cost nothing.
type TimeProgram struct {
	Key   string  // the property that times are in
	Times []int64 // of the rows of the edge table
	// Within is the most that the latest is after the earliest, where Bounded.
	Within  int64
	Bounded bool
	// Roots are the rows of the edge table that step 0 may take; nil: all.
	Roots []uint32
	Steps []TimeStep
	// Tail: a last step that only closes is a size in a count.
	Tail bool
}

// TimeStep adds one data edge, or one vertex, to a partial match.
type TimeStep struct {
	// Choice is the index in Plan.Edges; -1: a vertex that no edge with a time
	// leads to, found among the neighbours of those before it.
	Choice int
	// From and To are the levels of the ends. Binds: To's vertex becomes known by
	// this step; in step 0 both do. Otherwise the step closes: both are known.
	From, To int
	Binds    bool
	// Both: the edge may go either way, or the graph has no directions.
	Both bool
	// Timed edges are later than the edge of step After and earlier than that of step Before;
	// -1 means no such step. They are also within the bound of all earlier timed edges.
	Timed         bool
	After, Before int
	// Events has the data edges at From's vertex that the step may take. They are sorted by
	// time if the step binds a vertex, else by the other end and then by time. It is nil for
	// step 0.
	Events *graph.Events
	// Back are the backward neighbours of To's level that no edge choice implies.
	Back []Back
	// Checks are the choice's conditions, except those on times.
	Checks []Check
	// Estimate is the expected number of partial matches after the step.
	Estimate float64
}

// Bounds is the window of step k. at[i] is the time of step i < k, and first[i]
// and last[i] are the least and the greatest of the timed steps up to i.
func (t *TimeProgram) Bounds(k int, at, first, last []int64) (lo, hi int64) {
	s := &t.Steps[k]
	lo, hi = math.MinInt64, math.MaxInt64
	if !s.Timed {
		return lo, hi
	}
	if t.Bounded {
		if x := last[k-1] - t.Within; x <= last[k-1] {
			lo = x
		}
		if x := first[k-1] + t.Within; x >= first[k-1] {
			hi = x
		}
	}
	if s.After >= 0 {
		if at[s.After] == math.MaxInt64 {
			return 1, 0
		}
		lo = max(lo, at[s.After]+1)
	}
	if s.Before >= 0 {
		if at[s.Before] == math.MinInt64 {
			return 1, 0
		}
		hi = min(hi, at[s.Before]-1)
	}
	return lo, hi
}
