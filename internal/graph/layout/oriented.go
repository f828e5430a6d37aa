// Package layout derives arrays from a graph's adjacency that some engines need, such as its
// orientation.
//
// It must not know patterns, plans or engines.
package layout

import (
	"context"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
)

// Oriented is a CSR with the place in each list where larger ids begin. As
// internal ids descend in degree, the smaller neighbours, Adj[Off[v]:First[v]], are
// the acyclic orientation towards hubs, whose out-degrees are small.
type Oriented struct {
	graph.CSR
	// First[v] is the index in Adj of v's first neighbour above v.
	First []uint64
}

// Orient finds the places in parallel; threads 0 means all cores.
func Orient(ctx context.Context, c graph.CSR, threads int) (*Oriented, error) {
	o := &Oriented{CSR: c, First: make([]uint64, c.NumVertices())}
	return o, graph.Parallel(ctx, c.Off, threads, func(lo, hi uint32) {
		for v := lo; v < hi; v++ {
			i, _ := slices.BinarySearch(c.List(v), v)
			o.First[v] = c.Off[v] + uint64(i)
		}
	})
}
