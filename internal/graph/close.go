package graph

// Close frees the graph's large arrays and unmaps its file. The graph and every
// slice taken from it must not be used afterwards. Small graphs are garbage
// collected like any value and need no Close; closing twice is harmless.
func (g *Graph) Close() error {
	if c := g.any.drop(); c != nil {
		c.free()
	}
	g.owned.free()
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
	for _, c := range []*CSR{&g.Out, &g.In} {
		c.free()
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

// free gives back the memory of lists that are not a file's.
func (c *CSR) free() {
	freeBig(&c.Off)
	freeBig(&c.Adj)
}
