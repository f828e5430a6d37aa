package graph

import "sync"

// aboveIndex says where in each list of Out the ids above its own vertex begin.
type aboveIndex struct {
	mu    sync.Mutex
	first []uint64
}

// Above returns what find does: for each list of Out, the index in Out.Adj of the
// first neighbour above the list's own vertex; nil when it fails. As nothing but
// the graph decides it, it is found on the first call and kept, in 8 bytes a
// vertex; Open finds it for the files that it verifies. Safe for concurrent use.
func (g *Graph) Above(find func() []uint64) []uint64 {
	g.above.mu.Lock()
	defer g.above.mu.Unlock()
	if g.above.first == nil {
		g.above.first = find()
	}
	return g.above.first
}
