package plan

// orderGSI is the join order of GSI (Zeng, Zou, Özsu, Hu and Zhang, GSI:
// GPU-friendly subgraph isomorphism, ICDE 2020, Algorithm 1): the score of a
// vertex is |C(u)|/deg(u), the number of its candidates by its number of
// neighbours in the pattern. The least score comes first, and then the least
// among the neighbours of the vertices placed. Placing u multiplies the scores
// of its neighbours by the frequency of the connecting edge's label.
func (b *binding) orderGSI(o Options) choice {
	least := make([]float64, b.n)
	for v := range least {
		least[v] = float64(b.vertices[v].count) / float64(max(b.degree(v), 1))
	}
	freq := func(l link) float64 {
		return float64(b.adjs[l.adj].Lists.Pairs()) / max(float64(len(b.g.Any().Adj)), 1)
	}
	// The score of v once placed are placed.
	now := func(placed uint32, v int) float64 {
		s := least[v]
		for _, l := range b.links {
			other := -1
			switch v {
			case l.u:
				other = l.v
			case l.v:
				other = l.u
			}
			if !l.neg && other >= 0 && placed>>other&1 != 0 {
				s *= freq(l)
			}
		}
		return s
	}
	order := b.greedy(o.Root,
		func(v int) float64 { return -least[v] },
		func(placed, _ uint32, v int) float64 { return -now(placed, v) })
	return choice{order: order, name: "gsi", why: "GSI: fewest candidates per neighbour, rare edge labels first"}
}
