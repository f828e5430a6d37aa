package graph

// Holds reports whether lists are neighbour lists that g keeps until it is closed. The lists of a
// query's own relation are not kept so. Safe for concurrent use.
func (g *Graph) Holds(lists Lists) bool {
	if lists.is(g.Out.Lists()) || lists.is(g.In.Lists()) || lists.is(g.any.made.Load().Lists()) {
		return true
	}
	if g.Edges != nil && lists.is((&CSR{Off: g.Edges.Off}).Lists()) {
		return true
	}
	g.rel.mu.Lock()
	defer g.rel.mu.Unlock()
	for _, r := range g.rel.by {
		if either := r.either.made.Load(); lists.is(r.Out) || lists.is(r.In) || either != nil && lists.is(*either) {
			return true
		}
	}
	return false
}
