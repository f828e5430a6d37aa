package weft

import (
	"context"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph"
)

// RecordReader is a sequence of Arrow records of one schema. The readers of
// github.com/apache/arrow-go/v18 implement it, as array.RecordReader does.
type RecordReader interface {
	Schema() *arrow.Schema
	Next() bool
	RecordBatch() arrow.RecordBatch
	Err() error
}

// Vertex is a vertex to make a graph of.
type Vertex struct {
	ID         any // as Edge.Src
	Labels     []string
	Properties map[string]any // as Edge.Properties
}

// Read is the function Read for a graph of this runtime.
func (rt *Runtime) Read(ctx context.Context, in io.Reader, options ...Option) (g *Graph, err error) {
	defer endedBy(ctx, &err)
	s, err := rt.collect(callRead, options)
	if err != nil {
		return nil, err
	}
	name := "input"
	if named, ok := in.(interface{ Name() string }); ok {
		name = named.Name()
	}
	return rt.load(ctx, name, 0, s, func(ctx context.Context, progress format.Progress) (*graph.Graph, error) {
		return format.ReadFrom(ctx, in, name, s.read, progress)
	})
}

// FromRecords is the function FromRecords for a graph of this runtime.
func (rt *Runtime) FromRecords(ctx context.Context, edges RecordReader, options ...Option) (g *Graph, err error) {
	defer endedBy(ctx, &err)
	s, err := rt.collect(callFromRecords, options)
	if err != nil {
		return nil, err
	}
	return rt.load(ctx, "records", 0, s, func(ctx context.Context, _ format.Progress) (*graph.Graph, error) {
		return format.FromTable(ctx, edges, s.read)
	})
}

// FromEdges is the function FromEdges for a graph of this runtime.
func (rt *Runtime) FromEdges(ctx context.Context, edges iter.Seq2[Edge, error], options ...Option) (g *Graph, err error) {
	defer endedBy(ctx, &err)
	s, err := rt.collect(callFromEdges, options)
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
		}, s.read)
	})
}

// Edges is the sequence of the given edges.
func Edges(edges ...Edge) iter.Seq2[Edge, error] { return rows(edges) }

// Vertices is the sequence of the given vertices.
func Vertices(vertices ...Vertex) iter.Seq2[Vertex, error] { return rows(vertices) }

func rows[T any](all []T) iter.Seq2[T, error] {
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
	return Option{"WithVertexRecords", func(s *settings) { s.read.VertexTable = vertices }}
}

// WithVertexRows takes vertices with their labels and properties from a sequence; see
// Vertices for a list of them. An InputError has "vertices" as its path and the number of
// the vertex, from 1, as its line.
func WithVertexRows(vertices iter.Seq2[Vertex, error]) Option {
	return Option{"WithVertexRows", func(s *settings) {
		if s.read.VertexRows = nil; vertices == nil {
			return
		}
		s.read.VertexRows = func(yield func(format.Vertex, error) bool) {
			for v, err := range vertices {
				if !yield(format.Vertex(v), err) {
					return
				}
			}
		}
	}}
}
