// Package graph holds a data graph: adjacency in memory and on disk, labels, columns of
// vertices and edges, and statistics. An edge may have a label, a time and properties.
//
// Vertices have internal ids 0 … NumVertices-1. Ids are ordered by label class, inside a class
// by descending degree, and among equal degrees by the user's id. So a vertex label is a range
// of ids, a restriction or an orientation is a slice of a sorted neighbour list, and hubs have
// small ids. The user's ids are kept in a side table, and are the only ids that leave the
// program.
//
// It must not know formats, patterns, plans or engines.
package graph

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/memo"
)

// CSR is adjacency by vertex: the distinct neighbours of v, sorted, without v
// itself.
type CSR struct {
	Off []uint64 // len = vertices+1
	Adj []uint32
}

// List returns the neighbours of v. The caller must not change it.
func (c *CSR) List(v uint32) []uint32 { return c.Adj[c.Off[v]:c.Off[v+1]:c.Off[v+1]] }

// Degree returns the number of neighbours of v.
func (c *CSR) Degree(v uint32) int { return int(c.Off[v+1] - c.Off[v]) }

// NumVertices returns the number of vertices.
func (c *CSR) NumVertices() int { return len(c.Off) - 1 }

// Class is a maximal set of vertices that carry exactly the same labels. Its
// vertices are the id range [First, End).
type Class struct {
	Labels     []uint32 // sorted indexes into Graph.VertexLabels; empty: unlabelled
	First, End uint32
}

// Graph is an immutable data graph. The zero value is not usable: build one
// with a Builder or open one with Open.
type Graph struct {
	Directed bool
	// Out is adjacency along edges: successors on a directed graph, neighbours
	// on an undirected one. Parallel edges count once here.
	Out CSR
	// In is the reverse of Out; on an undirected graph it is Out.
	In CSR

	// IDs are the user's vertex ids.
	IDs IDs

	// VertexLabels and EdgeLabels are the label names by index. A numeric label
	// in a file is its decimal text.
	VertexLabels []string
	EdgeLabels   []string
	// Classes partitions the vertices; one class with no labels when the graph
	// has no vertex labels.
	Classes []Class

	// Edges holds one row per data edge when edges carry labels, times or
	// properties or are parallel; nil for a simple graph.
	Edges *EdgeTable
	// VertexProps has one row per internal vertex id; nil: no properties.
	VertexProps arrow.RecordBatch

	// Read says what the reader kept and dropped.
	Read ReadStats

	// Stored, if not nil, replaces a handle by one with the same pairs, stored in another way,
	// under another ID. Plans and engines then read that one. It is set before the graph is
	// first used.
	Stored func(*Handle) *Handle

	// unordered: degrees need not fall with ids.
	unordered bool

	any    lazy[CSR] // of a directed graph
	above  aboveIndex
	events eventIndex
	stat   statCache
	labels lazy[labelIndex]
	file   *mapping // non-nil when memory-mapped
	owned  owned    // copies of parts of it
	rel    relations
	// byLabel is what LabelRows has sorted.
	byLabel lazy[LabelRows]
	derived memo.Map[any, any]

	handles handles
}

// EdgeTable is the edges of an attributed graph, sorted by (Src, Dst, Label,
// Time, input order). On an undirected graph each edge is one row with Src <
// Dst. The row number is the edge's id.
type EdgeTable struct {
	Off   []uint64 // rows of source v: Off[v] … Off[v+1]
	Dst   []uint32
	Src   []uint32 // len = len(Dst): so that a row alone gives both ends
	Label []uint32 // index into Graph.EdgeLabels, NoLabel for none; nil: no edge has one
	Time  []int64  // nil: no times. Their unit: Graph.TimeUnit
	Props arrow.RecordBatch
}

// TimeNames are the usual names of the column of times in a file. An edge's time is a
// property of each of these names, and of Read.TimeName, that no other property has.
var TimeNames = []string{"time", "timestamp", "ts", "unixts", "datetime"}

// NoLabel marks an edge row without a label.
const NoLabel = ^uint32(0)

// ReadStats counts the lines and edges that a reader kept and dropped, for the user: nothing is
// dropped silently.
type ReadStats struct {
	Format     string // the format and its variant as guessed or told
	Lines      uint64 // data lines or records
	SelfLoops  uint64 // dropped
	Duplicates uint64 // same edge again (same direction, label, time, properties): dropped
	Reciprocal uint64 // u→v and v→u merged because the graph was read as undirected
	Kept       uint64 // edges kept
	Columns    string // the columns used, e.g. "src,dst,_,time"
	// TimeUnit is the length of one unit of the edges' times, in nanoseconds; 0 means that the
	// input does not say. With TimeDigits, times are integers in units of 10^-TimeDigits of the
	// input's unit.
	TimeUnit   int64 `json:",omitempty"`
	TimeDigits int   `json:",omitempty"`
	// TimeEpoch: the times count from 1970, UTC.
	TimeEpoch bool `json:",omitempty"`
	// TimeName is the input's name of the column of times, "" where it is one of TimeNames.
	TimeName string `json:",omitempty"`
	// DirectionGuessed: nothing says whether the edges have a direction, and they were
	// read as undirected.
	DirectionGuessed bool `json:",omitempty"`
	Notes            []string
	// Converted: this is about the file that the graph was converted from, which
	// was reported then.
	Converted bool `json:"-"`
}

// NumVertices returns the number of vertices.
func (g *Graph) NumVertices() int { return len(g.Out.Off) - 1 }

// NumEdges returns the number of data edges: rows of the edge table where there
// is one, else arcs of a directed graph, or neighbour pairs of an undirected one.
func (g *Graph) NumEdges() uint64 {
	switch {
	case g.Edges != nil:
		return uint64(len(g.Edges.Dst))
	case g.Directed:
		return uint64(len(g.Out.Adj))
	default:
		return uint64(len(g.Out.Adj)) / 2
	}
}

// ClassOf returns the index in Classes of v's class.
func (g *Graph) ClassOf(v uint32) int {
	lo, hi := 0, len(g.Classes)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if g.Classes[mid].End <= v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
