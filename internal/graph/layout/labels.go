package layout

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/memo"
	"github.com/weftgraph/weft/internal/vfs"
)

// Kind is how partitions find the list of a vertex.
type Kind uint8

// The kinds of partitions.
const (
	Intervals    Kind = iota // GENEVA's interval-PCSR, of renumbered vertices
	Hashes                   // GSI's hashed PCSR
	OwnIntervals             // interval-PCSR under the graph's own ids, to compare with
)

// String returns the kind's name in options and output.
func (k Kind) String() string { return [...]string{"interval", "hashed", "interval-own"}[k] }

// Partition is the adjacency of one edge label seen from one side.
type Partition interface {
	// List returns the neighbours of v, ascending; none where v has no such edge. The
	// caller must not change it.
	List(v uint32) []uint32
	// Bytes returns the size of all arrays.
	Bytes() uint64
	// ID returns the number that copies of the arrays are found by, as that of a relation; 0: the
	// partition is nobody's.
	ID() uint64
}

// Labels has the edge-label partitions of one graph. Each is read from a file, or made and kept in
// one, when it is first asked for. Its vertices have the numbers that Renumbering says. Safe for
// concurrent use.
type Labels struct {
	*Renumbering // nil: the graph's own ids
	Kind         Kind
	Load         int // of Hashes: vertices for each group

	g *graph.Graph

	folder string      // of the files; "": partitions are not kept
	head   head        // the beginning of each file's head
	unkept atomic.Bool // a file could not be written

	parts     memo.Map[Key, Partition]
	relations memo.Map[relationKey, Partition]
}

// Key names a partition: an edge label, an index into Graph.EdgeLabels or graph.NoLabel, seen from
// one side. In an undirected graph all sides are Both.
type Key struct {
	Label uint32
	Side  Side
}

func newLabels(g *graph.Graph, kind Kind, load int) *Labels {
	l := &Labels{Kind: kind, Load: max(load, 1), g: g}
	l.head = head{kind: kind, load: uint32(l.Load), vertices: uint32(g.NumVertices())}
	return l
}

// Make prepares the partitions of a graph, which are kept in no file. For Intervals it renumbers the
// vertices, which reads all edges. Load is of Hashes; 0 means 1. Threads 0 means all cores.
func Make(ctx context.Context, g *graph.Graph, kind Kind, load, threads int) (*Labels, error) {
	l, _, err := Open(ctx, nil, "", g, kind, load, threads)
	return l, err
}

// Partitions returns the partitions of keys, in their order. It reads or makes those alone that
// nobody has asked for yet. Threads, 0 means all cores, share each
// large one, and one of them makes each small one. It waits while another caller makes the same partition, until ctx ends.
// The warning says of each file that is there and was not used why, and that one could not be written. The error is
// ErrTooLong if a label has too many entries.
func (l *Labels) Partitions(ctx context.Context, fsys vfs.FS, threads int, keys ...Key) (parts []Partition, warning string, err error) {
	for _, k := range keys {
		if k.Label != graph.NoLabel && int(k.Label) >= len(l.g.EdgeLabels) {
			return nil, "", fmt.Errorf("the graph has %d edge labels, and none of number %d", len(l.g.EdgeLabels), k.Label)
		}
	}
	parts = make([]Partition, len(keys))
	said, errs := make([]string, len(keys)), make([]error, len(keys))
	rows, sizes := RowsByLabel(l.g), make([]uint64, len(keys))
	for i, k := range keys {
		sizes[i] = rows.Edges(k.Label)
	}
	ended := bySize(ctx, sizes, count(threads), func(i, threads int) {
		parts[i], said[i], errs[i] = l.partition(ctx, vfs.Or(fsys), keys[i], threads)
	})
	warning = warnings(said...)
	for _, e := range errs {
		if e != nil {
			return nil, warning, e
		}
	}
	return parts, warning, ended
}

// partition returns one partition.
func (l *Labels) partition(ctx context.Context, fsys vfs.FS, key Key, threads int) (p Partition, warning string, err error) {
	if !l.g.Directed {
		key.Side = Both
	}
	p, err = l.parts.Get(ctx, key, func() (Partition, error) {
		p, err := l.stored(ctx, fsys, key, threads)
		if err != nil {
			warning = anew(err)
			if p, err = l.make(ctx, key, threads); err != nil {
				return nil, err
			}
			warning = warnings(warning, l.keep(fsys, key, p))
		}
		name(p)
		return p, nil
	})
	return p, warning, err
}

// warnings returns those that are not empty as one.
func warnings(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(w string) bool { return w == "" }), "; ")
}

// name gives a partition the number that copies of its arrays are found by.
func name(p Partition) {
	switch p := p.(type) {
	case *Interval:
		p.id = graph.NewRelationID()
	case *Hashed:
		p.id = graph.NewRelationID()
	}
}

// make makes one partition.
func (l *Labels) make(ctx context.Context, key Key, threads int) (Partition, error) {
	var renumbered []uint32
	if l.Renumbering != nil {
		renumbered = l.New
	}
	lists, err := RowsByLabel(l.g).Lists(ctx, key.Label, key.Side, renumbered, threads)
	if err != nil {
		return nil, err
	}
	return l.layOut(ctx, lists, threads)
}

// layOut returns lists as a partition of the kind of these Labels.
func (l *Labels) layOut(ctx context.Context, lists *Lists, threads int) (Partition, error) {
	if l.Kind == Hashes {
		return NewHashed(ctx, lists, l.Load, threads)
	}
	return NewInterval(ctx, lists, l.g.NumVertices(), threads)
}
