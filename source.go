package weft

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
)

// RecordReader is a sequence of Arrow records of one schema. The readers of
// github.com/apache/arrow-go/v18 implement it, as array.RecordReader does.
type RecordReader interface {
	Schema() *arrow.Schema
	Next() bool
	RecordBatch() arrow.RecordBatch
	Err() error
}

// Edge is a data edge: of a match, or an input of FromEdges. FromEdges also accepts types of
// integers and floats that matches do not have.
type Edge struct {
	// Src and Dst are the user's ids of the source and the target: int64 in graphs whose
	// ids are numbers, and string in others. In a match an edge without a direction has
	// them in either order.
	Src, Dst any
	// Label is "" for an edge without a label.
	Label string
	// Time is nil without a time. It is a time.Time if the graph's times are known to count
	// from 1970, and an int64 in other graphs.
	Time any
	// Properties are the values of the properties that are not NULL: int64, float64,
	// bool, string, time.Time or time.Duration.
	Properties map[string]any
}

// Vertex is a vertex for WithVertexRows.
type Vertex struct {
	ID         any // as Edge.Src
	Labels     []string
	Properties map[string]any // as Edge.Properties
}

// Read is the function Read for a graph of this runtime.
func (rt *Runtime) Read(ctx context.Context, in io.Reader, options ...Option) (g *Graph, err error) {
	defer ends(ctx, &err)
	s, err := rt.collect(setting.Read, options)
	if err != nil {
		return nil, err
	}
	name := "input"
	if named, ok := in.(interface{ Name() string }); ok {
		name = named.Name()
	}
	return rt.load(ctx, name, 0, s, func(ctx context.Context, progress format.Progress) (*graph.Graph, error) {
		return format.ReadFrom(ctx, in, name, s.Read, progress)
	})
}

// FromRecords is the function FromRecords for a graph of this runtime.
func (rt *Runtime) FromRecords(ctx context.Context, edges RecordReader, options ...Option) (g *Graph, err error) {
	defer ends(ctx, &err)
	s, err := rt.collect(setting.FromRecords, options)
	if err != nil {
		return nil, err
	}
	return rt.load(ctx, "records", 0, s, func(ctx context.Context, _ format.Progress) (*graph.Graph, error) {
		return format.FromTable(ctx, edges, s.Read)
	})
}

// FromEdges is the function FromEdges for a graph of this runtime.
func (rt *Runtime) FromEdges(ctx context.Context, edges iter.Seq2[Edge, error], options ...Option) (g *Graph, err error) {
	defer ends(ctx, &err)
	s, err := rt.collect(setting.FromEdges, options)
	if err != nil {
		return nil, err
	}
	return rt.load(ctx, "edges", 0, s, func(ctx context.Context, _ format.Progress) (*graph.Graph, error) {
		return format.FromEdges(ctx, func(yield func(format.Edge, error) bool) {
			for e, err := range edges {
				if !yield(format.Edge(e), err) {
					return
				}
			}
		}, s.Read)
	})
}

// Edges returns the sequence of the given edges.
func Edges(edges ...Edge) iter.Seq2[Edge, error] { return sequence(edges) }

// Vertices returns the sequence of the given vertices.
func Vertices(vertices ...Vertex) iter.Seq2[Vertex, error] { return sequence(vertices) }

func sequence[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, x := range all {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// WithVertexRecords reads ids, labels and properties of vertices from records, as
// WithVertices does from a file.
func WithVertexRecords(vertices RecordReader) Option {
	return Option{"WithVertexRecords", func(s *setting.Settings) { s.Read.VertexTable = vertices }}
}

// WithVertexRows takes vertices with their labels and properties from a sequence; see
// Vertices for a list of them. An InputError has "vertices" as its path and the number of
// the vertex, from 1, as its line.
func WithVertexRows(vertices iter.Seq2[Vertex, error]) Option {
	return Option{"WithVertexRows", func(s *setting.Settings) {
		if s.Read.VertexRows = nil; vertices == nil {
			return
		}
		s.Read.VertexRows = func(yield func(format.Vertex, error) bool) {
			for v, err := range vertices {
				if !yield(format.Vertex(v), err) {
					return
				}
			}
		}
	}}
}

// Spec says which graph Generate makes; see GenerateModels.
type Spec struct {
	// Model is one of GenerateModels.
	Model string
	// Scale is the binary logarithm of the number of vertices (rmat, rgg).
	Scale int
	// N is the number of vertices (er, ws, ba), of cliques, or of a star's leaves.
	N uint64
	// M is the number of edges (rmat: of draws).
	M uint64
	// K is the neighbours of a vertex (ws), the edges of a new vertex (ba), or the size of
	// cliques.
	K uint64
	// P is the probability of an edge (er) or of rewiring (ws).
	P float64
	// Degree is the mean degree (rgg).
	Degree float64
	// Dims are the sides of a grid.
	Dims []uint64
	// Torus joins the ends of a grid's sides.
	Torus bool
	// Ring joins each clique to the next.
	Ring bool
	// Directed keeps directions.
	Directed bool
	Seed     uint64
	// VertexLabels and EdgeLabels are the numbers of labels, called 0, 1, …; 0 means no labels.
	// Label k has a weight of (k+1)^-Skew.
	VertexLabels, EdgeLabels uint64
	Skew                     float64
}

// GenerateModels lists the models of Spec.
func GenerateModels() []string { return gen.Models() }

// Generate is the function Generate for a graph of this runtime.
func (rt *Runtime) Generate(ctx context.Context, spec Spec, options ...Option) (out *Graph, err error) {
	defer ends(ctx, &err)
	s, err := rt.collect(setting.Generate, options)
	if err != nil {
		return nil, err
	}
	if !rt.r.Leases.Take() {
		return nil, errRuntimeClosed
	}
	defer rt.r.Leave()
	start := time.Now()
	if err := gen.Room(gen.Spec(spec), s.Memory); err != nil {
		return nil, search.Classify(err)
	}
	ctx, stop := memory.Watch(ctx, s.Memory)
	defer stop()
	g, err := gen.Generate(ctx, gen.Spec(spec), s.Threads)
	if err != nil {
		if cause := memory.Cause(ctx); cause != nil {
			return nil, fmt.Errorf("generating: %w", cause)
		}
		return nil, search.Classify(err)
	}
	return rt.newGraph(g, "gen "+spec.Model, time.Since(start)), nil
}
