package nodiff

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/graph"
)

// Spec is a small graph written down, so that a failure can be read and the
// graph be changed before it is built.
type Spec struct {
	Directed bool
	N        int
	Edges    []SpecEdge
	Labels   [][]string // of each vertex; nil: no vertex labels
	X        []*int64   // property x of each vertex; nil: no properties
	// Columns of the edges: any of them makes the graph a multigraph.
	EdgeLabels, Times, Weights bool
}

// SpecEdge is one edge. Label, Time and W count only where the Spec has the
// column.
type SpecEdge struct {
	U, V  int
	Label string
	Time  int64
	W     *int64
}

var (
	vertexLabels = []string{"A", "B", "C"}
	edgeLabels   = []string{"", "X", "Y"}
)

// Complete has n vertices and every edge between them.
func Complete(n int) *Spec {
	s := &Spec{N: n}
	for u := range n {
		for v := range u {
			s.Edges = append(s.Edges, SpecEdge{U: u, V: v})
		}
	}
	return s
}

// Graphs draws graphs of at most max vertices, directed or not. They may have vertex labels
// (one or several a vertex), edge labels with parallel edges, times, and properties with
// missing values.
func Graphs(max int) *rapid.Generator[*Spec] { return graphs(max, nil) }

// GraphsWith draws graphs as Graphs does, with columns that change may change.
func GraphsWith(max int, change func(*Columns)) *rapid.Generator[*Spec] { return graphs(max, change) }

// Columns are what a graph has besides its vertices and edges.
type Columns struct {
	Directed, Labels, Properties bool
	EdgeLabels, Times, Weights   bool
	More                         int // the graph has at least two vertices and this number of others
}

// Timed graphs have edges with times.
func Timed(w *Columns) { w.Times = true }

// Simple graphs are undirected and have no table of edges: no two edges join the same
// vertices.
func Simple(w *Columns) {
	*w = Columns{Labels: w.Labels, Properties: w.Properties}
}

// SimpleLabelled graphs are Simple, and their vertices have labels.
func SimpleLabelled(w *Columns) {
	Simple(w)
	w.Labels = true
}

func graphs(max int, change func(*Columns)) *rapid.Generator[*Spec] {
	return rapid.Custom(func(t *rapid.T) *Spec {
		w := Columns{
			Directed:   rapid.Bool().Draw(t, "directed"),
			Labels:     rapid.Bool().Draw(t, "vertex labels"),
			Properties: rapid.Bool().Draw(t, "vertex properties"),
		}
		if rapid.Bool().Draw(t, "edge columns") {
			w.EdgeLabels = rapid.Bool().Draw(t, "edge labels")
			w.Times = rapid.Bool().Draw(t, "times")
			w.Weights = rapid.Bool().Draw(t, "weights")
		}
		if change != nil {
			change(&w)
		}
		s := &Spec{Directed: w.Directed, EdgeLabels: w.EdgeLabels, Times: w.Times, Weights: w.Weights}
		s.fill(t, max, w.More, 0, w.Labels, w.Properties)
		return s
	})
}

// Like draws other graphs of at most max vertices with the columns of s. They have enough edges
// that most patterns are found in them.
func (s *Spec) Like(max int) *rapid.Generator[*Spec] {
	return rapid.Custom(func(t *rapid.T) *Spec {
		o := &Spec{Directed: s.Directed, EdgeLabels: s.EdgeLabels, Times: s.Times, Weights: s.Weights}
		o.fill(t, max, 0, 1, s.Labels != nil, s.X != nil)
		return o
	})
}

// fill draws vertices and edges: any number, or with dense 1 at least half of the
// most.
func (s *Spec) fill(t *rapid.T, max, more, dense int, labels, properties bool) {
	s.N = rapid.IntRange(min(max, 2+dense*max/3+more), max).Draw(t, "vertices")
	if labels {
		for range s.N {
			s.Labels = append(s.Labels, rapid.SliceOfNDistinct(rapid.SampledFrom(vertexLabels), 0, 2, rapid.ID).Draw(t, "labels"))
		}
	}
	if properties {
		for range s.N {
			s.X = append(s.X, value(t, "x"))
		}
	}
	most := min(s.N*(s.N-1), 24)
	for range rapid.IntRange(dense*most/2, most).Draw(t, "edges") {
		e := SpecEdge{
			U: rapid.IntRange(0, s.N-1).Draw(t, "u"),
			V: rapid.IntRange(0, s.N-1).Draw(t, "v"),
		}
		if s.EdgeLabels {
			e.Label = rapid.SampledFrom(edgeLabels).Draw(t, "label")
		}
		if s.Times {
			e.Time = int64(rapid.IntRange(0, 5).Draw(t, "time"))
		}
		if s.Weights {
			e.W = value(t, "w")
		}
		s.Edges = append(s.Edges, e)
	}
}

// value draws a small number or nothing.
func value(t *rapid.T, label string) *int64 {
	x := int64(rapid.IntRange(-1, 4).Draw(t, label))
	if x < 0 {
		return nil
	}
	return &x
}

// Build makes the graph. The user's id of vertex i is 10·i.
func (s *Spec) Build() *graph.Graph {
	b := graph.NewBuilder(graph.BuildOptions{Directed: s.Directed})
	vc := &graph.VertexChunk{Labels: s.Labels}
	ec := &graph.EdgeChunk{}
	for i := range s.N {
		vc.ID = append(vc.ID, uint64(10*i))
	}
	if s.X != nil {
		vc.Props = farRecord(s.X)
	}
	if s.EdgeLabels {
		ec.Label = &graph.StringColumn{Off: []uint32{0}}
	}
	var weights []*int64
	for _, e := range s.Edges {
		ec.Src, ec.Dst = append(ec.Src, uint64(10*e.U)), append(ec.Dst, uint64(10*e.V))
		if s.EdgeLabels {
			ec.Label.Bytes = append(ec.Label.Bytes, e.Label...)
			ec.Label.Off = append(ec.Label.Off, uint32(len(ec.Label.Bytes)))
		}
		if s.Times {
			ec.Time = append(ec.Time, e.Time)
		}
		weights = append(weights, e.W)
	}
	if s.Weights {
		ec.Props = record("w", weights)
	}
	err := b.AddVertices(vc)
	if err == nil && len(s.Edges) > 0 {
		err = b.AddEdges(ec)
	}
	if err == nil {
		var g *graph.Graph
		if g, err = b.Build(context.Background()); err == nil {
			return g
		}
	}
	panic(fmt.Sprintf("nodiff: %v: %v", s, err))
}

func record(name string, values []*int64) arrow.RecordBatch {
	b := array.NewInt64Builder(memory.NewGoAllocator())
	for _, x := range values {
		if x == nil {
			b.AppendNull()
		} else {
			b.Append(*x)
		}
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, int64(len(values)))
}

// Numbers that rounding would make equal, for each value of the property x, counted
// around: vertices have them as the properties big and far.
var (
	bigs = [5]int64{1 << 53, 1<<53 + 1, 1<<53 + 2, 0, math.MaxInt64}
	fars = [5]float64{1 << 53, 1<<53 + 2, 0.5, math.Copysign(0, -1), 1 << 63}
)

// farRecord has the property x, and what bigs and fars make of it.
func farRecord(xs []*int64) arrow.RecordBatch {
	big, far := array.NewInt64Builder(memory.NewGoAllocator()), array.NewFloat64Builder(memory.NewGoAllocator())
	for _, x := range xs {
		if x == nil {
			big.AppendNull()
			far.AppendNull()
		} else {
			at := uint64(*x) % uint64(len(bigs))
			big.Append(bigs[at])
			far.Append(fars[at])
		}
	}
	one := record("x", xs)
	schema := arrow.NewSchema(append(one.Schema().Fields(),
		arrow.Field{Name: "big", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "far", Type: arrow.PrimitiveTypes.Float64, Nullable: true}), nil)
	return array.NewRecordBatch(schema, append(slices.Clone(one.Columns()), big.NewArray(), far.NewArray()), int64(len(xs)))
}

// String writes s so that it can be typed in again.
func (s *Spec) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph of %d vertices, directed=%v", s.N, s.Directed)
	show := func(x *int64) string {
		if x == nil {
			return "null"
		}
		return fmt.Sprint(*x)
	}
	for i := range s.N {
		if s.Labels != nil && len(s.Labels[i]) > 0 {
			fmt.Fprintf(&b, "\n  vertex %d :%s", 10*i, strings.Join(s.Labels[i], ":"))
		}
		if s.X != nil {
			fmt.Fprintf(&b, "\n  vertex %d x=%s", 10*i, show(s.X[i]))
		}
	}
	for _, e := range s.Edges {
		fmt.Fprintf(&b, "\n  %d %d", 10*e.U, 10*e.V)
		if s.EdgeLabels {
			fmt.Fprintf(&b, " label=%q", e.Label)
		}
		if s.Times {
			fmt.Fprintf(&b, " time=%d", e.Time)
		}
		if s.Weights {
			fmt.Fprintf(&b, " w=%s", show(e.W))
		}
	}
	return b.String()
}
