package cost

import "github.com/weftgraph/weft/internal/plan"

// VisitCost is the work of entering a level for one partial match, in elements
// that a set operation reads in the same time.
const VisitCost = 6

// RowCost is the same for a join, which copies the match as a row of a table. The lists of one edge
// label are short, so that a row takes as long as many elements.
const RowCost = 40

// walksPrice is the price of the walks of an estimate, of all levels and sets.
const walksPrice = 2e5

// Worthwhile is the price below which looking for something better takes longer than
// counting (some 20 ms).
const Worthwhile = 5e7

// WalksPrice is the expected work of counting closed walks of length five: for each vertex, the
// edges at the vertices that two steps reach.
func WalksPrice(pl *plan.Plan, o *plan.Options) float64 {
	lists := pl.Adjs[pl.Levels[1].Back[0].Adj].Lists.Whole()
	walks, seen := 0.0, 0
	for v := range lists.Vertices {
		if seen++; seen%4096 == 0 && o.Ended() {
			break
		}
		sum, list := 0.0, lists.List(v)
		for _, u := range list {
			sum += float64(lists.Degree(u))
		}
		walks += sum * float64(len(list))
	}
	return min(walks, float64(lists.NumVertices())*float64(lists.Entries()))
}
