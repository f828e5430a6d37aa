package graph

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
)

// BuildOptions says how a Builder turns edges into a graph.
type BuildOptions struct {
	Directed bool
	Threads  int       // 0: all cores
	Read     ReadStats // what the reader already knows: format, notes
	// KeepDuplicates keeps edges that are equal in all columns, each as one edge. On an
	// undirected graph an edge that is given from both ends is still one: of f edges given
	// one way and b the other, the greater number is kept. Such a Builder has no Fill.
	KeepDuplicates bool
}

// StringColumn is a column of byte strings without one allocation a value.
type StringColumn struct {
	Off   []uint32 // len = rows+1
	Bytes []byte
}

// EdgeChunk is a run of edges in columns of equal length. Optional columns are
// nil, and the same ones in every chunk.
type EdgeChunk struct {
	// Seq orders chunks as in the input, so that the result does not depend on
	// which goroutine parsed which part.
	Seq uint64
	// Numeric ids (below 2^63), or string ids: one of the two.
	Src, Dst       []uint64
	SrcStr, DstStr *StringColumn
	Label          *StringColumn // an empty value means no label
	Time           []int64
	Props          arrow.RecordBatch
}

// VertexChunk is a run of vertices: ids, labels (any number a vertex) and
// properties.
type VertexChunk struct {
	Seq    uint64
	ID     []uint64
	IDStr  *StringColumn
	Labels [][]string // nil, or one list a row
	Props  arrow.RecordBatch
}

// Builder collects edges and vertices and builds a Graph.
type Builder struct{ b builderState }

// NewBuilder returns an empty builder.
func NewBuilder(o BuildOptions) *Builder { return newBuilder(o) }

// AddEdges takes a chunk; it may be called from many goroutines at once. The
// chunk's numeric columns are copied: the caller may reuse them.
func (b *Builder) AddEdges(c *EdgeChunk) error { return b.b.addEdges(c) }

// Fill adds at most n edges without columns, of vertices with numeric ids below 2^32, and
// stores them where f writes them. f writes each edge to room as source<<32 | target, and
// returns their number and the largest id. If f fails, its edges are left out. Safe for
// concurrent use.
func (b *Builder) Fill(n int, f func(room []uint64) (used int, most uint32, err error)) error {
	return b.b.fill(n, f)
}

// AddVertices takes a run of vertices; it may be called from many goroutines at
// once. Vertices that no chunk names exist when an edge names them.
func (b *Builder) AddVertices(c *VertexChunk) error { return b.b.addVertices(c) }

// Build sorts, removes duplicates and self-loops, orders vertices and returns
// the graph. The builder is empty afterwards: its memory is handed over or
// freed as Build goes.
func (b *Builder) Build(ctx context.Context) (*Graph, error) { return b.b.build(ctx) }

// FromEdges builds a simple unlabelled graph from pairs over 0 … n-1 (a small
// helper for tests and generators). User ids are the pairs' numbers.
func FromEdges(n int, pairs [][2]uint32, directed bool) *Graph {
	b := NewBuilder(BuildOptions{Directed: directed})
	c := &EdgeChunk{}
	for _, p := range pairs {
		c.Src = append(c.Src, uint64(p[0]))
		c.Dst = append(c.Dst, uint64(p[1]))
	}
	if err := b.AddRange(uint64(n)); err != nil {
		panic(err)
	}
	if err := b.AddEdges(c); err != nil {
		panic(err)
	}
	g, err := b.Build(context.Background())
	if err != nil {
		panic(err)
	}
	return g
}
