package layout

import (
	"context"
	"errors"
	"math/bits"

	"github.com/weftgraph/weft/internal/graph"
)

// Side is the end of its edges from which a partition is seen.
type Side uint8

// The sides of a partition. A partition of an undirected graph has only Both.
const (
	Out  Side = iota // from sources to targets
	In               // from targets to sources
	Both             // from either end to the other
)

// String returns the side's sign, as explain writes it behind a relation's name.
func (s Side) String() string { return [...]string{"+", "-", ""}[s] }

// ErrTooLong says that a partition has more entries than offsets of 32 bits can tell apart.
var ErrTooLong = errors.New("an edge label has 2^32 entries or more, which label partitions do not hold")

// Lists is one edge-label partition: the distinct neighbours over edges of one label,
// of those vertices alone that have such an edge. GSI (section 4) writes it P(G, l).
type Lists struct {
	Vertices []uint32 // ascending
	Off      []uint32 // List i is Adj[Off[i]:Off[i+1]], of Vertices[i]
	Adj      []uint32 // ascending in each list
}

// Rows has the edges of a graph by edge label.
type Rows struct {
	g  *graph.Graph
	by *graph.LabelRows // nil: the graph has no labels, and its own lists have all edges
}

// RowsByLabel returns the edges of a graph by label. A graph without edge labels has one
// partition, graph.NoLabel.
func RowsByLabel(g *graph.Graph) *Rows { return &Rows{g, g.LabelRows()} }

// evenly returns the work of n items, of which each has the same, as a running sum.
func evenly(n int, each uint64) []uint64 {
	off := make([]uint64, n+1)
	for i := range off {
		off[i] = uint64(i) * each
	}
	return off
}

// Sides returns the sides that partitions of the graph have.
func (r *Rows) Sides() []Side {
	if r.g.Directed {
		return []Side{Out, In, Both}
	}
	return []Side{Both}
}

// Labels returns the number of labels, one more than the graph's for the edges without one.
func (r *Rows) Labels() int { return len(r.g.EdgeLabels) + 1 }

// Edges returns the number of edges of a label, an index into Graph.EdgeLabels or graph.NoLabel.
func (r *Rows) Edges(label uint32) uint64 {
	switch {
	case r.by != nil:
		return uint64(len(r.by.Of(label)))
	case label == graph.NoLabel:
		return r.g.NumEdges()
	}
	return 0
}

// Lists makes one partition on all threads; 0 means all cores. New, if not nil, is the number that each vertex has in
// it. The lists do not depend on the number of threads. The error is ErrTooLong for 2^32 entries or more.
func (r *Rows) Lists(ctx context.Context, label uint32, side Side, renumbered []uint32, threads int) (*Lists, error) {
	threads = count(threads)
	if !r.g.Directed {
		side = Both
	}
	pairs, err := r.pairs(ctx, label, side, renumbered, threads)
	if err != nil {
		return nil, err
	}
	if pairs, err = sortAll(ctx, pairs, bits.Len(uint(r.g.NumVertices())), threads); err != nil {
		return nil, err
	}
	return listsOf(ctx, pairs, threads)
}

// ended returns the error of a context that has ended. It looks once in many calls, of which n is the number.
func ended(ctx context.Context, n int) error {
	if n%(1<<14) == 0 {
		return ctx.Err()
	}
	return nil
}
