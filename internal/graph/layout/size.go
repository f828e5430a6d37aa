package layout

import (
	"context"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
)

// Size is the bytes of one edge label's adjacency in each layout, both sides of a
// directed graph together.
type Size struct {
	Label    uint32 // index into Graph.EdgeLabels, or graph.NoLabel
	Edges    uint64
	Vertices uint64 // of both sides: a vertex that is a source and a target counts twice
	Runs     uint64 // of ids, in the interval-PCSR
	Lists    uint64 // as the graph keeps them for queries
	CSR      uint64 // with an offset for each vertex of the graph
	Hashed   uint64
	Interval uint64
	Own      uint64 // interval-PCSR under the graph's own ids
	OwnRuns  uint64 // of ids, in that
}

// Sizes makes each partition in all layouts and returns the sizes by label, the edges
// without a label first. Labels without an edge are left out. Threads 0 means all cores.
func Sizes(ctx context.Context, g *graph.Graph, load, threads int) ([]Size, error) {
	l, err := Make(ctx, g, Intervals, load, threads)
	if err != nil {
		return nil, err
	}
	rows := RowsByLabel(g)
	sides := []Side{Both}
	if g.Directed {
		sides = []Side{Out, In}
	}
	sizes := make([]Size, rows.Labels())
	edges := make([]uint64, len(sizes))
	for i := range sizes {
		sizes[i] = Size{Label: uint32(i) - 1, Edges: rows.Edges(uint32(i) - 1)}
		edges[i] = sizes[i].Edges
	}
	failed := make([]error, len(sizes))
	err = bySize(ctx, edges, count(threads), func(i, threads int) {
		s := &sizes[i]
		s.Lists = g.LabelBytes(s.Label)
		for _, side := range sides {
			if failed[i] = s.add(ctx, l, rows, side, threads); failed[i] != nil {
				return
			}
		}
	})
	for _, e := range failed {
		if e != nil {
			return nil, e
		}
	}
	return slices.DeleteFunc(sizes, func(s Size) bool { return s.Edges == 0 }), err
}

// add adds one side of the label in each layout.
func (s *Size) add(ctx context.Context, l *Labels, rows *Rows, side Side, threads int) error {
	n := l.g.NumVertices()
	lists, err := rows.Lists(ctx, s.Label, side, l.New, threads)
	if err != nil {
		return err
	}
	x, err := NewInterval(ctx, lists, n, threads)
	if err != nil {
		return err
	}
	h, err := NewHashed(ctx, lists, l.Load, threads)
	if err != nil {
		return err
	}
	s.Vertices += uint64(len(lists.Vertices))
	s.Runs += uint64(x.Runs())
	s.CSR += 8*uint64(n+1) + 4*uint64(len(lists.Adj))
	s.Hashed += h.Bytes()
	s.Interval += x.Bytes()
	if lists, err = rows.Lists(ctx, s.Label, side, nil, threads); err != nil {
		return err
	}
	if x, err = NewInterval(ctx, lists, n, threads); err != nil {
		return err
	}
	s.OwnRuns += uint64(x.Runs())
	s.Own += x.Bytes()
	return nil
}
