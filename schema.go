package weft

import "slices"

// Schema has the names in a graph. Properties are in the order of the graph's columns.
type Schema struct {
	VertexLabels []string       `json:"vertex_labels"`
	EdgeLabels   []string       `json:"edge_labels"`
	VertexProps  []PropertyInfo `json:"vertex_properties"`
	EdgeProps    []PropertyInfo `json:"edge_properties"`
	Times        bool           `json:"edge_times"` // edges have a time
}

// Schema returns the names in the graph. Unlike Info it reads no vertex and no edge. It returns the
// zero value after Close of the graph.
func (g *Graph) Schema() Schema {
	if g == nil || g.s == nil {
		return Schema{}
	}
	l, ok := g.s.Share()
	if !ok {
		return Schema{}
	}
	defer l.End()
	data := g.s.Data
	s := Schema{VertexLabels: slices.Clone(data.VertexLabels), EdgeLabels: slices.Clone(data.EdgeLabels)}
	if p := data.VertexProps; p != nil {
		for _, f := range p.Schema().Fields() {
			s.VertexProps = append(s.VertexProps, PropertyInfo{f.Name, f.Type.String()})
		}
	}
	if t := data.Edges; t != nil {
		s.Times = t.Time != nil
		if t.Props != nil {
			for _, f := range t.Props.Schema().Fields() {
				s.EdgeProps = append(s.EdgeProps, PropertyInfo{f.Name, f.Type.String()})
			}
		}
	}
	return s
}
