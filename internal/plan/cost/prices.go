package cost

import "github.com/weftgraph/weft/internal/plan"

// VisitCost is the work of entering a level for one partial match, in elements
// that a set operation reads in the same time.
const VisitCost = 6

// Worthwhile is the price below which looking for something better takes longer than
// counting (some 20 ms).
const Worthwhile = 5e7

// WalksPrice is the expected work of counting closed walks of length five: for each vertex, the
// edges at the vertices that two steps reach.
func WalksPrice(pl *plan.Plan, o *plan.Options) float64 {
	csr := pl.Adjs[pl.Levels[1].Back[0].Adj].Lists.Flat()
	n := csr.NumVertices()
	walks := 0.0
	for v := range uint32(n) {
		if v%4096 == 0 && o.Ended() {
			break
		}
		sum := 0.0
		for _, u := range csr.List(v) {
			sum += float64(csr.Degree(u))
		}
		walks += sum * float64(csr.Degree(v))
	}
	return min(walks, float64(n)*float64(len(csr.Adj)))
}
