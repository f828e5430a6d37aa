package cost

import "github.com/weftgraph/weft/internal/plan"

// maxCompared is the number of comparisons that conditions make over all walks of an estimate, about. Few conditions come
// near it: a condition of 100,000 comparisons does, and one walk then takes as long as all others.
const maxCompared = 1 << 21

// affordable returns the number of walks, of n that are wanted, that conditions leave time for: at least 1. A walk evaluates
// the conditions of each level for some candidates, and those of a data edge for some rows.
func affordable(pl *plan.Plan, n int) int {
	compared := 0
	for l := range pl.Levels {
		for _, c := range pl.Levels[l].Checks {
			compared += probes * c.Cost
		}
	}
	for i := range pl.Edges {
		for _, c := range pl.Edges[i].Checks {
			compared += probes * c.Cost
		}
	}
	return max(min(n, maxCompared/max(compared, 1)), 1)
}
