package graph

import "context"

// Derived returns the value that was kept under key, or calls compute and keeps what it returns, unless
// that is an error. Values last as long as the graph and hold no memory of a graph's file. A caller
// waits while another makes the same value, until ctx ends. Safe for concurrent use.
func (g *Graph) Derived(ctx context.Context, key any, compute func() (any, error)) (any, error) {
	return g.derived.Get(ctx, key, compute)
}
