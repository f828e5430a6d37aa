package cost

import (
	"time"

	"github.com/weftgraph/weft/internal/plan"
)

// rates are how many nanoseconds an engine of the processor takes for the parts of a search, on one thread.
type rates struct {
	start   float64 // of the search
	root    float64 // for a match of level 0 and
	inner   float64 // of the levels between, and
	last    float64 // of the last level that is enumerated
	set     float64 // for each of them that has sets to intersect, besides
	element float64 // for an element that these intersections read,
	counted float64 // and for one that those of the counting tail read
}

// Rates of both engines, fitted to the search times of 387 queries that took 0.1 ms and more: walks, paths, stars,
// triangles and squares of FB15k-237 and of a generated graph with 200 edge labels
// (docs/notes/2026-11-23-cpu-joins.md). A nest returns to each level for each of its matches, and a join appends
// a row to a table. A join has more to set up for each intersection.
var (
	nestRates = rates{start: 10e3, root: 100, inner: 130, last: 75, set: 0, element: 0.28, counted: 0.95}
	joinRates = rates{start: 20e3, root: 128, inner: 86, last: 72, set: 36, element: 0.29, counted: 1.17}
)

// OnHost returns how long engines of the processor are expected to take for a plan after semijoins, by the estimates
// of the model of the candidates that are left.
func OnHost(pl *plan.Plan) *plan.HostTimes {
	return &plan.HostTimes{Nest: nestRates.time(pl), Join: joinRates.time(pl)}
}

func (r rates) time(pl *plan.Plan) time.Duration {
	ns := r.start
	tail := len(pl.Levels) - pl.Tail.K
	for l := range pl.Levels {
		lv := &pl.Levels[l]
		if l >= tail {
			ns += r.counted * lv.Cost
			continue
		}
		each := r.inner
		switch l {
		case 0:
			each = r.root
		case tail - 1:
			each = r.last
		}
		if elements := lv.Cost - RowCost*lv.Estimate; elements > lv.Estimate*1e-3 {
			ns += r.element * elements
			each += r.set
		}
		ns += each * lv.Estimate
	}
	return time.Duration(min(ns, 1e18))
}

// Semijoins that the processor makes, and the order that follows from them, take this many nanoseconds, and this many
// for each list entry that Binding.SemijoinReads expects. The model of the graph expects a search to read
// an element in the last one.
const (
	semijoinStart   = 40e3
	semijoinEntry   = 4
	modelledElement = 6
)

// SemijoinsOnHost returns how long the processor is expected to take for semijoins that read that many list entries.
func SemijoinsOnHost(reads float64) time.Duration {
	return time.Duration(min(semijoinStart+semijoinEntry*reads, 1e18))
}

// After a filter they take this many nanoseconds for each list and each entry that Binding.SemijoinWork expects, and the order
// that follows takes filteredStart. They were fitted to the planning of 780 queries of three graphs
// (docs/notes/2026-11-29-cpu-filter.md).
const (
	filteredStart = 20e3
	filteredList  = 10
	filteredEntry = 2.5
)

// SemijoinsAfterFilter returns how long the processor is expected to take for semijoins over candidates that Filter has left.
func SemijoinsAfterFilter(lists, entries float64) time.Duration {
	return time.Duration(min(filteredStart+filteredList*lists+filteredEntry*entries, 1e18))
}

// filterWord is how many nanoseconds a filter, and the sample of degrees that follows it, take for a word of a bitmap of all
// vertices: for each vertex and each end of a link of the pattern. Squares and triangles in a graph of 4 million vertices are
// planned in 1.5 and 0.9 ms.
const filterWord = 1.5

// FilterOnHost returns how long the processor is expected to take for a filter of the candidates of a pattern.
func FilterOnHost(graphVertices, vertices, links int) time.Duration {
	return time.Duration(filterWord * float64(graphVertices/64) * float64(2*vertices+2*links))
}

// ElementsOnHost returns how long the processor is expected to take for a search that reads that many set
// elements, by the model of the graph.
func ElementsOnHost(n float64) time.Duration { return time.Duration(min(modelledElement*n, 1e18)) }
