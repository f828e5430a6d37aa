package graph

import "cmp"

// Holds reports whether off are the offsets of neighbour lists that g keeps until it is closed.
// The lists of a query's own relation are not kept so. Safe for concurrent use.
func (g *Graph) Holds(off []uint64) bool {
	if len(off) == 0 {
		return false
	}
	is := func(c CSR) bool { return len(c.Off) > 0 && &c.Off[0] == &off[0] }
	if is(g.Out) || is(g.In) || g.Edges != nil && is(CSR{Off: g.Edges.Off}) || is(*cmp.Or(g.any.made.Load(), &CSR{})) {
		return true
	}
	g.rel.mu.Lock()
	defer g.rel.mu.Unlock()
	for _, r := range g.rel.by {
		if is(r.Out) || is(r.In) {
			return true
		}
	}
	return false
}
