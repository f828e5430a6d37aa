package graph

import (
	"context"
	"slices"
)

// VertexLabelCounts returns the number of vertices by label, an index into
// VertexLabels. A vertex with two labels counts for both.
func (g *Graph) VertexLabelCounts() []uint64 {
	r := make([]uint64, len(g.VertexLabels))
	for _, c := range g.Classes {
		for _, l := range c.Labels {
			r[l] += uint64(c.End - c.First)
		}
	}
	return r
}

// EdgeLabelCounts returns the number of edge rows by label, an index into
// EdgeLabels, and of rows without a label.
func (g *Graph) EdgeLabelCounts() (counts []uint64, none uint64) {
	counts = make([]uint64, len(g.EdgeLabels))
	if g.Edges == nil || g.Edges.Label == nil {
		return counts, g.NumEdges()
	}
	for _, l := range g.Edges.Label {
		if l == NoLabel {
			none++
		} else {
			counts[l]++
		}
	}
	return counts, none
}

// LabelPair is a pair of vertex labels, indexes into VertexLabels or NoLabel
// for vertices without one, and the number of arcs from one to the other;
// on an undirected graph From ≤ To and it is the number of edges.
type LabelPair struct {
	From, To uint32
	Edges    uint64
}

// LabelPairs counts edges, parallel ones once, by their ends' labels. An end
// with two labels counts for both.
func (g *Graph) LabelPairs(ctx context.Context, threads int) ([]LabelPair, error) {
	threads = threadCount(threads)
	by := make([]map[uint64]uint64, threads) // class pairs
	err := overVertices(ctx, threads, g.Out.Off, func(w int, lo, hi uint32) {
		if by[w] == nil {
			by[w] = map[uint64]uint64{}
		}
		for v := lo; v < hi; v++ {
			cv := uint64(g.ClassOf(v)) << 32
			l := g.Out.List(v)
			for len(l) > 0 {
				c := g.ClassOf(l[0])
				k, _ := slices.BinarySearch(l, g.Classes[c].End)
				by[w][cv|uint64(c)] += uint64(k)
				l = l[k:]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	labels := func(c uint64) []uint32 {
		if l := g.Classes[c].Labels; len(l) > 0 {
			return l
		}
		return []uint32{NoLabel}
	}
	sum := map[[2]uint32]uint64{}
	for _, m := range by {
		for k, n := range m {
			for _, a := range labels(k >> 32) {
				for _, b := range labels(k & (1<<32 - 1)) {
					if g.Directed || a <= b {
						sum[[2]uint32{a, b}] += n
					}
				}
			}
		}
	}
	var r []LabelPair
	for k, n := range sum {
		if !g.Directed && k[0] == k[1] {
			n /= 2 // seen from both ends
		}
		r = append(r, LabelPair{k[0], k[1], n})
	}
	slices.SortFunc(r, func(x, y LabelPair) int {
		return slices.Compare([]uint32{x.From, x.To}, []uint32{y.From, y.To})
	})
	return r, nil
}
