package graph

import (
	"context"
	"slices"
	"sort"
	"sync"
)

// Stats is the summary of a graph that planners use. It is kept in the graph's file. Degrees
// here are numbers of distinct neighbours in either direction.
type Stats struct {
	Vertices  uint64 `json:"vertices"`
	Edges     uint64 `json:"edges"` // as Graph.NumEdges
	Pairs     uint64 `json:"pairs"` // vertex pairs with an edge
	MinDegree uint32 `json:"min_degree"`
	MaxDegree uint32 `json:"max_degree"`
	MaxOut    uint32 `json:"max_out_degree"`
	MaxIn     uint32 `json:"max_in_degree"`
	// Mean is the mean degree, SumSquares the sum of squared degrees.
	MeanDegree float64 `json:"mean_degree"`
	SumSquares float64 `json:"sum_squared_degrees"`
	// Wedges is the number of pairs of neighbours of one vertex. Clustering is the share of
	// these pairs that is adjacent, estimated from Samples random ones. Triangles is computed
	// from both.
	Wedges     float64 `json:"wedges"`
	Clustering float64 `json:"clustering_estimate"`
	Triangles  float64 `json:"triangles_estimate"`
	Samples    int     `json:"samples"`
	// Percentiles of the degree: 1, 5, 25, 50, 75, 95, 99 and 99.9 %.
	Percentiles []Percentile `json:"degree_percentiles"`
}

// Percentile says that Percent of the vertices have at most this degree.
type Percentile struct {
	Percent float64 `json:"percent"`
	Degree  uint32  `json:"degree"`
}

type statCache struct {
	mu sync.Mutex
	s  *Stats
}

func (c *statCache) set(s *Stats) {
	c.mu.Lock()
	c.s = s
	c.mu.Unlock()
}

// wedgeSamples is how many wedges Stats looks at: a standard error of 0.3 % of
// all wedges at most.
const wedgeSamples = 1 << 15

// Stats returns the summary, from the file or computed once in O(n+m) time.
// Safe for concurrent use.
func (g *Graph) Stats() *Stats {
	g.stat.mu.Lock()
	defer g.stat.mu.Unlock()
	if g.stat.s == nil {
		g.stat.s = g.summary()
	}
	return g.stat.s
}

// degrees returns the number of distinct neighbours of every vertex. On a
// directed graph it does not make Any.
func (g *Graph) degrees() []uint32 {
	d := make([]uint32, g.NumVertices())
	_ = overVertices(context.Background(), threadCount(0), g.Out.Off, func(_ int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			if g.Directed {
				d[v] = uint32(unionSize(g.Out.List(v), g.In.List(v)))
			} else {
				d[v] = uint32(g.Out.Degree(v))
			}
		}
	})
	return d
}

func (g *Graph) summary() *Stats {
	s := &Stats{Vertices: uint64(g.NumVertices()), Edges: g.NumEdges()}
	if s.Vertices == 0 {
		return s
	}
	deg := g.degrees()
	sum := make([]float64, len(deg)+1) // wedges up to each vertex
	total := uint64(0)
	s.MinDegree = deg[0]
	for v, d := range deg {
		x := float64(d)
		total += uint64(d)
		s.SumSquares += x * x
		s.MinDegree, s.MaxDegree = min(s.MinDegree, d), max(s.MaxDegree, d)
		s.MaxOut = max(s.MaxOut, uint32(g.Out.Degree(uint32(v))))
		s.MaxIn = max(s.MaxIn, uint32(g.In.Degree(uint32(v))))
		sum[v+1] = sum[v] + x*(x-1)/2
	}
	s.Pairs = total / 2
	s.MeanDegree = float64(total) / float64(len(deg))
	s.Wedges = sum[len(deg)]
	s.Percentiles = percentiles(deg)
	if s.Wedges > 0 {
		s.Samples = int(min(wedgeSamples, 64+64*s.Wedges))
		s.Clustering = g.sampleWedges(sum, s.Samples, 1)
		s.Triangles = s.Clustering * s.Wedges / 3
	}
	return s
}

// percentiles sorts a copy by counting.
func percentiles(deg []uint32) []Percentile {
	h := histogram(deg)
	var r []Percentile
	seen, i := uint64(0), 0
	for _, p := range []float64{1, 5, 25, 50, 75, 95, 99, 99.9} {
		for i < len(h)-1 && float64(seen+h[i].Vertices) < p/100*float64(len(deg)) {
			seen += h[i].Vertices
			i++
		}
		r = append(r, Percentile{p, h[i].Degree})
	}
	return r
}

// DegreeCount is the number of vertices of one degree.
type DegreeCount struct {
	Degree   uint32 `json:"degree"`
	Vertices uint64 `json:"vertices"`
}

func histogram(deg []uint32) []DegreeCount {
	n := map[uint32]uint64{}
	for _, d := range deg {
		n[d]++
	}
	r := make([]DegreeCount, 0, len(n))
	for d, c := range n {
		r = append(r, DegreeCount{d, c})
	}
	slices.SortFunc(r, func(a, b DegreeCount) int { return int(int64(a.Degree) - int64(b.Degree)) })
	return r
}

// DegreeHistogram returns the number of vertices by degree (distinct
// neighbours), ascending.
func (g *Graph) DegreeHistogram() []DegreeCount { return histogram(g.degrees()) }

// sampleWedges returns the part of random wedges whose ends are adjacent. sum
// is the running number of wedges by vertex.
func (g *Graph) sampleWedges(sum []float64, samples int, seed uint64) float64 {
	closed := 0
	var list []uint32
	last := -1
	at := seed
	next := func() uint64 { at++; return mix64(at) }
	pick := make([]float64, samples)
	for i := range pick {
		pick[i] = float64(next()>>11) / (1 << 53) * sum[len(sum)-1]
	}
	slices.Sort(pick) // so that each vertex comes once
	for _, x := range pick {
		v := sort.Search(len(sum)-1, func(v int) bool { return sum[v+1] > x })
		if v >= len(sum)-1 {
			continue
		}
		if v != last {
			last = v
			list = g.Out.List(uint32(v))
			if g.Directed {
				in := g.In.List(uint32(v))
				l := make([]uint32, unionSize(list, in))
				union(l, list, in)
				list = l
			}
		}
		d := uint64(len(list))
		i := next() % d
		j := next() % (d - 1)
		if j >= i {
			j++
		}
		if a, b := list[i], list[j]; g.Has(a, b) || g.Directed && g.Has(b, a) {
			closed++
		}
	}
	return float64(closed) / float64(samples)
}

// Density returns the part of all possible edges (arcs, on a directed graph)
// that there are, parallel ones once.
func (g *Graph) Density() float64 {
	n := float64(g.NumVertices())
	if n < 2 {
		return 0
	}
	return float64(len(g.Out.Adj)) / (n * (n - 1))
}

// MemoryUse is the bytes of one part of a graph.
type MemoryUse struct {
	Section string `json:"section"`
	Bytes   uint64 `json:"bytes"`
}

// Memory returns the bytes of each part of the graph that grows with it.
func (g *Graph) Memory() []MemoryUse {
	var r []MemoryUse
	add := func(kind uint32, b []byte) {
		if len(b) > 0 {
			r = append(r, MemoryUse{sectionName(kind), uint64(len(b))})
		}
	}
	add(secOutOff, bigAsBytes(g.Out.Off))
	add(secOutAdj, bigAsBytes(g.Out.Adj))
	if g.Directed {
		add(secInOff, bigAsBytes(g.In.Off))
		add(secInAdj, bigAsBytes(g.In.Adj))
	}
	add(secIDNum, bigAsBytes(g.IDs.Num))
	add(secIDStrOff, bigAsBytes(g.IDs.StrOff))
	add(secIDStrBytes, g.IDs.StrBytes)
	if t := g.Edges; t != nil {
		add(secEdgeOff, bigAsBytes(t.Off))
		add(secEdgeDst, bigAsBytes(t.Dst))
		add(secEdgeSrc, bigAsBytes(t.Src))
		add(secEdgeLabel, bigAsBytes(t.Label))
		add(secEdgeTime, bigAsBytes(t.Time))
		r = append(r, recordBytes(secEdgeProps, t.Props)...)
	}
	return append(r, recordBytes(secVertexProps, g.VertexProps)...)
}
