package weft

import (
	"context"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/setting"
)

// Info describes a graph: sizes, degrees, labels, properties, components and
// the memory of its parts.
type Info struct {
	Path         string         `json:"path"`
	Directed     bool           `json:"directed"`
	Vertices     int            `json:"vertices"`
	Edges        uint64         `json:"edges"`
	Density      float64        `json:"density"`
	Degrees      *Degrees       `json:"degrees"`
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

// LabelCount is the number of vertices or edges with a label. The label "" counts those without
// one.
type LabelCount struct {
	Label string `json:"label"`
	Count uint64 `json:"count"`
}

// PropertyInfo is the name and the type of a property.
type PropertyInfo struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// MemoryUse is the number of bytes of one part of a graph.
type MemoryUse struct {
	Section string `json:"section"`
	Bytes   uint64 `json:"bytes"`
}

// Degrees describes the degrees of a graph's vertices. A degree is a number of
// distinct neighbours, in either direction.
type Degrees struct {
	Vertices  uint64 `json:"vertices"`
	Edges     uint64 `json:"edges"`
	Pairs     uint64 `json:"pairs"` // vertex pairs with an edge
	MinDegree uint32 `json:"min_degree"`
	MaxDegree uint32 `json:"max_degree"`
	MaxOut    uint32 `json:"max_out_degree"`
	MaxIn     uint32 `json:"max_in_degree"`
	// MeanDegree is the mean degree, SumSquares the sum of squared degrees.
	MeanDegree float64 `json:"mean_degree"`
	SumSquares float64 `json:"sum_squared_degrees"`
	// Wedges is the number of pairs of neighbours of one vertex. Clustering is the fraction of
	// them that is adjacent, estimated from Samples random pairs. Triangles is computed from
	// both.
	Wedges     float64 `json:"wedges"`
	Clustering float64 `json:"clustering_estimate"`
	Triangles  float64 `json:"triangles_estimate"`
	Samples    int     `json:"samples"`
	// Percentiles are the degrees at 1, 5, 25, 50, 75, 95, 99 and 99.9 percent.
	Percentiles []Percentile `json:"degree_percentiles"`
}

// Percentile says that Percent of the vertices have at most this degree.
type Percentile struct {
	Percent float64 `json:"percent"`
	Degree  uint32  `json:"degree"`
}

// degreesOf is s without a type of the inner packages.
func degreesOf(s *graph.Stats) *Degrees {
	d := &Degrees{
		Vertices: s.Vertices, Edges: s.Edges, Pairs: s.Pairs,
		MinDegree: s.MinDegree, MaxDegree: s.MaxDegree, MaxOut: s.MaxOut, MaxIn: s.MaxIn,
		MeanDegree: s.MeanDegree, SumSquares: s.SumSquares, Wedges: s.Wedges,
		Clustering: s.Clustering, Triangles: s.Triangles, Samples: s.Samples,
	}
	for _, p := range s.Percentiles {
		d.Percentiles = append(d.Percentiles, Percentile(p))
	}
	return d
}

// LayoutSize is the bytes that the neighbour lists of one edge label take in each layout. In a
// directed graph they are the lists of both directions.
type LayoutSize struct {
	Label    string `json:"label"` // "" for the edges without a label
	Edges    uint64 `json:"edges"`
	Vertices uint64 `json:"vertices"` // with such an edge; sources and targets apart in a directed graph
	Lists    uint64 `json:"lists"`    // as queries on the processor read them
	CSR      uint64 `json:"csr"`      // an offset for each vertex of the graph
	Hashed   uint64 `json:"hashed_pcsr"`
	Interval uint64 `json:"interval_pcsr"`
	Runs     uint64 `json:"runs"`     // of consecutive ids in the interval-PCSR
	Own      uint64 `json:"own_pcsr"` // interval-PCSR without renumbering by share sets
	OwnRuns  uint64 `json:"own_runs"` // of consecutive ids in that
}

// Layouts makes the neighbour lists of each edge label in five layouts, and returns their sizes.
// The layouts are that of queries on the processor, CSR, GSI's hashed PCSR, GENEVA's
// interval-PCSR, and the last without renumbering. The first sizes are of the
// edges without a label. The labels follow in the order of Info. Layouts accepts the option
// WithThreads. If ctx ends first, the error is the context's.
func (g *Graph) Layouts(ctx context.Context, options ...Option) (sizes []LayoutSize, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Layouts, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &sizes)
	found, err := layout.Sizes(ctx, g.s.Data, 1, s.Threads)
	if err != nil {
		return nil, err
	}
	for _, x := range found {
		name := ""
		if x.Label != graph.NoLabel {
			name = g.s.Data.EdgeLabels[x.Label]
		}
		sizes = append(sizes, LayoutSize{name, x.Edges, x.Vertices, x.Lists, x.CSR, x.Hashed, x.Interval, x.Runs, x.Own, x.OwnRuns})
	}
	return sizes, nil
}

// Info describes the graph. It reads the whole graph. If ctx ends first, the error is the
// context's.
func (g *Graph) Info(ctx context.Context, options ...Option) (in *Info, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Info, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &in)
	data := g.s.Data
	in = &Info{
		Path: g.path, Directed: data.Directed, Vertices: g.NumVertices(), Edges: g.NumEdges(), Density: data.Density(),
		Degrees: degreesOf(data.Stats()), LoadSeconds: g.load.Seconds(), Read: g.Read(),
		VertexLabels: []LabelCount{}, EdgeLabels: []LabelCount{}, VertexProps: []PropertyInfo{}, EdgeProps: []PropertyInfo{},
	}
	if _, in.Components, in.Largest, err = data.Components(ctx, s.Threads); err != nil {
		return nil, err
	}
	if _, in.Degeneracy, err = data.Cores(ctx); err != nil {
		return nil, err
	}
	vertices, edges := labelCounts(data)
	in.VertexLabels, in.EdgeLabels = append(in.VertexLabels, vertices...), append(in.EdgeLabels, edges...)
	if p := data.VertexProps; p != nil {
		for _, f := range p.Schema().Fields() {
			in.VertexProps = append(in.VertexProps, PropertyInfo{f.Name, f.Type.String()})
		}
	}
	if t := data.Edges; t != nil {
		in.Times = t.Time != nil
		if t.Props != nil {
			for _, f := range t.Props.Schema().Fields() {
				in.EdgeProps = append(in.EdgeProps, PropertyInfo{f.Name, f.Type.String()})
			}
		}
	}
	for _, m := range data.Memory() {
		in.Memory = append(in.Memory, MemoryUse(m))
		in.MemoryTotal += m.Bytes
	}
	return in, nil
}

// labelCounts counts vertices and edges by label. If the graph has labels, those without one are counted last.
func labelCounts(data *graph.Graph) (vertices, edges []LabelCount) {
	for i, n := range data.VertexLabelCounts() {
		vertices = append(vertices, LabelCount{data.VertexLabels[i], n})
	}
	if len(vertices) > 0 {
		for _, c := range data.Classes {
			if len(c.Labels) == 0 {
				vertices = append(vertices, LabelCount{"", uint64(c.End - c.First)})
			}
		}
	}
	counts, none := data.EdgeLabelCounts()
	for i, n := range counts {
		edges = append(edges, LabelCount{data.EdgeLabels[i], n})
	}
	if len(counts) > 0 && none > 0 {
		edges = append(edges, LabelCount{"", none})
	}
	return vertices, edges
}

// LabelCounts returns the numbers of vertices and of edges with each label, as Info does. Unlike Info it reads no
// neighbour list. It returns nil after Close of the graph.
func (g *Graph) LabelCounts() (vertices, edges []LabelCount) {
	if g == nil || g.s == nil {
		return nil, nil
	}
	l, ok := g.s.Share()
	if !ok {
		return nil, nil
	}
	defer l.End()
	return labelCounts(g.s.Data)
}
