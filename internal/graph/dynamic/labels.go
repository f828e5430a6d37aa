package dynamic

// NumEdgeLabels returns the number of edge labels, which updates may add to. Labels are numbered from 1 on.
func (g *Graph) NumEdgeLabels() int { return len(g.edgeLabels) }
