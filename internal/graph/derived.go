package graph

import "sync"

// derived are values that others have made of a graph.
type derived struct {
	mu sync.Mutex
	by map[any]any
}

// Derived returns the value that was kept under key, or calls make and keeps what it returns, unless
// that is an error. Values last as long as the graph and hold no memory of a graph's file. Callers
// of one graph wait for each other. Safe for concurrent use.
func (g *Graph) Derived(key any, make func() (any, error)) (any, error) {
	g.derived.mu.Lock()
	defer g.derived.mu.Unlock()
	if v, ok := g.derived.by[key]; ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return nil, err
	}
	if g.derived.by == nil {
		g.derived.by = map[any]any{}
	}
	g.derived.by[key] = v
	return v, nil
}
