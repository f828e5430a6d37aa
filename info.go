package weft

import (
	"context"

	"github.com/weftgraph/weft/internal/graph"
)

// Info describes a graph: sizes, degrees, labels, properties, components and
// the memory of its parts.
type Info struct {
	Path         string         `json:"path"`
	Directed     bool           `json:"directed"`
	Vertices     int            `json:"vertices"`
	Edges        uint64         `json:"edges"`
	Density      float64        `json:"density"`
	Degrees      *graph.Stats   `json:"degrees"`
	Components   uint64         `json:"components"`
	Largest      uint64         `json:"largest_component"`
	Degeneracy   uint32         `json:"degeneracy"`
	VertexLabels []LabelCount   `json:"vertex_labels"`
	EdgeLabels   []LabelCount   `json:"edge_labels"`
	VertexProps  []PropertyInfo `json:"vertex_properties"`
	EdgeProps    []PropertyInfo `json:"edge_properties"`
	Times        bool           `json:"edge_times"`
	Memory       []MemoryUse    `json:"memory"`
	MemoryTotal  uint64         `json:"memory_bytes"`
	LoadSeconds  float64        `json:"load_seconds"`
	Read         ReadReport     `json:"read"`
}

// LabelCount is how many vertices or edges carry a label; the label "" counts
// those without one.
type LabelCount struct {
	Label string `json:"label"`
	Count uint64 `json:"count"`
}

// PropertyInfo is the name and the type of a property.
type PropertyInfo struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// MemoryUse is the bytes of one part of a graph.
type MemoryUse = graph.MemoryUse

// Info looks at the whole graph.
func (g *Graph) Info(ctx context.Context, options ...Option) (in *Info, err error) {
	defer g.kindOfCorruption(&err)
	defer g.g.Recover(&err)
	s := collect(options)
	in = &Info{
		Path: g.path, Directed: g.g.Directed, Vertices: g.NumVertices(), Edges: g.NumEdges(), Density: g.g.Density(),
		Degrees: g.g.Stats(), Memory: g.g.Memory(), LoadSeconds: g.load.Seconds(), Read: g.Read(),
		VertexLabels: []LabelCount{}, EdgeLabels: []LabelCount{}, VertexProps: []PropertyInfo{}, EdgeProps: []PropertyInfo{},
	}
	if _, in.Components, in.Largest, err = g.g.Components(ctx, s.threads); err != nil {
		return nil, err
	}
	if _, in.Degeneracy, err = g.g.Cores(ctx); err != nil {
		return nil, err
	}
	for i, n := range g.g.VertexLabelCounts() {
		in.VertexLabels = append(in.VertexLabels, LabelCount{g.g.VertexLabels[i], n})
	}
	if len(in.VertexLabels) > 0 {
		for _, c := range g.g.Classes {
			if len(c.Labels) == 0 {
				in.VertexLabels = append(in.VertexLabels, LabelCount{"", uint64(c.End - c.First)})
			}
		}
	}
	counts, none := g.g.EdgeLabelCounts()
	for i, n := range counts {
		in.EdgeLabels = append(in.EdgeLabels, LabelCount{g.g.EdgeLabels[i], n})
	}
	if len(counts) > 0 && none > 0 {
		in.EdgeLabels = append(in.EdgeLabels, LabelCount{"", none})
	}
	if p := g.g.VertexProps; p != nil {
		for _, f := range p.Schema().Fields() {
			in.VertexProps = append(in.VertexProps, PropertyInfo{f.Name, f.Type.String()})
		}
	}
	if t := g.g.Edges; t != nil {
		in.Times = t.Time != nil
		if t.Props != nil {
			for _, f := range t.Props.Schema().Fields() {
				in.EdgeProps = append(in.EdgeProps, PropertyInfo{f.Name, f.Type.String()})
			}
		}
	}
	for _, m := range in.Memory {
		in.MemoryTotal += m.Bytes
	}
	return in, nil
}
