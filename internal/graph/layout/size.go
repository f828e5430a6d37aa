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
	work := make([]uint64, len(sizes)+1)
	for i := range sizes {
		work[i+1] = work[i] + rows.Edges(uint32(i)-1) + 1
	}
	failed := make([]error, len(sizes))
	err = graph.Parallel(ctx, work, threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			s := &sizes[i]
			s.Label, s.Edges = i-1, rows.Edges(i-1)
			s.Lists = g.LabelBytes(s.Label)
			for _, side := range sides {
				lists, err := rows.Lists(ctx, s.Label, side, l.New)
				if err != nil {
					failed[i] = err
					return
				}
				x := NewInterval(lists, g.NumVertices())
				h, err := NewHashed(ctx, lists, l.Load)
				if err != nil {
					failed[i] = err
					return
				}
				s.Vertices += uint64(len(lists.Vertices))
				s.Runs += uint64(x.Runs())
				s.CSR += 8*uint64(g.NumVertices()+1) + 4*uint64(len(lists.Adj))
				s.Hashed += h.Bytes()
				s.Interval += x.Bytes()
				if lists, err = rows.Lists(ctx, s.Label, side, nil); err != nil {
					failed[i] = err
					return
				}
				x = NewInterval(lists, g.NumVertices())
				s.OwnRuns += uint64(x.Runs())
				s.Own += x.Bytes()
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
