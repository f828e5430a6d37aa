package order

import (
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
)

// orderGSI is the join order of GSI (Zeng, Zou, Özsu, Hu and Zhang, GSI: GPU-friendly subgraph
// isomorphism, ICDE 2020, Algorithm 1). The score of a vertex is |C(u)|/deg(u): its number of
// candidates divided by its number of neighbours in the pattern. The least score comes first,
// and then always the least among the neighbours of the placed vertices. Placing u multiplies
// the scores of its neighbours by the frequency of the connecting edge's label.
func (b *Rules) orderGSI(o plan.Options) Choice {
	least := make([]float64, b.N)
	for v := range least {
		least[v] = float64(b.Vertices[v].Count) / float64(max(b.degree(v), 1))
	}
	freq := func(l bind.Link) float64 {
		return float64(b.Adjs[l.Adj].Lists.Pairs()) / max(float64(len(b.Graph.Any().Adj)), 1)
	}
	// The score of v once placed are placed.
	now := func(placed uint32, v int) float64 {
		s := least[v]
		for _, l := range b.Links {
			other := -1
			switch v {
			case l.U:
				other = l.V
			case l.V:
				other = l.U
			}
			if !l.Neg && other >= 0 && placed>>other&1 != 0 {
				s *= freq(l)
			}
		}
		return s
	}
	order := b.greedy(o.Root,
		func(v int) float64 { return -least[v] },
		func(placed, _ uint32, v int) float64 { return -now(placed, v) })
	return Choice{Order: order, Name: "gsi", Why: "GSI: fewest candidates per neighbour, rare edge labels first"}
}
