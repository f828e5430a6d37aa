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

// Read reads a graph of any known format from a stream, to its end. It needs no seeking:
// a compressed stream is unpacked, and a file in weft's own form goes through a temporary
// file. Where in has a method Name, as an *os.File has, messages name it so, and its
// extension helps to guess the format. When ctx ends, Read returns, and a read from in
// that blocks goes on in the background until it returns.
func Read(ctx context.Context, in io.Reader, options ...Option) (g *Graph, err error) {
	defer endedBy(ctx, &err)
	s, err := collect(callRead, options)
	if err != nil {
		return nil, err
	}
	name := "input"
	if named, ok := in.(interface{ Name() string }); ok {
		name = named.Name()
	}
	return load(ctx, name, 0, s, func(ctx context.Context, progress format.Progress) (*graph.Graph, error) {
		return format.ReadFrom(ctx, in, name, s.read, progress)
	})
}

// FromRecords makes a graph of records, a row an edge. Columns are found by their names, as
// in Arrow files (docs/formats.md), or by WithColumns. The records are copied, and not
// released. An InputError has "records" as its path.
func FromRecords(ctx context.Context, edges RecordReader, options ...Option) (g *Graph, err error) {
	defer endedBy(ctx, &err)
	s, err := collect(callFromRecords, options)
	if err != nil {
		return nil, err
	}
	return load(ctx, "records", 0, s, func(ctx context.Context, _ format.Progress) (*graph.Graph, error) {
		return format.FromTable(ctx, edges, s.read)
	})
}

// FromEdges makes a graph of edges; see Edges for a list of them. Ids are all integers or
// all strings, of any types of Go, and not negative. Either all edges have a time or none
// has. Times that are time.Time become nanoseconds since 1970. A property has values of one
// type, except that integers become float64 where others are. An InputError has "edges" as
// its path and the number of the edge, from 1, as its line. An error in the sequence ends
// the call with it.
func FromEdges(ctx context.Context, edges iter.Seq2[Edge, error], options ...Option) (g *Graph, err error) {
	defer endedBy(ctx, &err)
	s, err := collect(callFromEdges, options)
	if err != nil {
		return nil, err
	}
	return load(ctx, "edges", 0, s, func(ctx context.Context, _ format.Progress) (*graph.Graph, error) {
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
