package graph

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
