package graph

import "sync"

// aboveIndex says where in each list of Out the ids above its own vertex begin.
type aboveIndex struct {
	mu    sync.Mutex
	first []uint64
}

// Above returns, for each vertex v, the index in Out.Adj of v's first neighbour greater than v.
// The first call computes the result with find, and the graph keeps it, in 8 bytes for each
// vertex. Open computes it for the files that it verifies. It returns nil if find fails. Safe
// for concurrent use.
func (g *Graph) Above(find func() []uint64) []uint64 {
	g.above.mu.Lock()
	defer g.above.mu.Unlock()
	if g.above.first == nil {
		g.above.first = find()
	}
	return g.above.first
}
