package graph

// Close frees the graph's large arrays and unmaps its file. The graph and every
// slice taken from it must not be used afterwards. Small graphs are garbage
// collected like any value and need no Close; closing twice is harmless.
func (g *Graph) Close() error {
	if g.file != nil {
		m := g.file
		*g = Graph{Directed: g.Directed, Read: g.Read}
		g.Out.Off = []uint64{0}
		g.In.Off = g.Out.Off
		return m.close()
	}
	if !g.Directed {
		g.In = CSR{}
	}
	for _, c := range []*CSR{&g.Out, &g.In, &g.any.csr} {
		freeBig(&c.Off)
		freeBig(&c.Adj)
	}
	freeBig(&g.IDs.Num)
	freeBig(&g.IDs.StrOff)
	freeBig(&g.IDs.StrBytes)
	if t := g.Edges; t != nil {
		freeBig(&t.Off)
		freeBig(&t.Dst)
		freeBig(&t.Src)
		freeBig(&t.Label)
		freeBig(&t.Time)
		g.Edges = nil
	}
	g.Out.Off = []uint64{0}
	g.In.Off = g.Out.Off
	return nil
}
