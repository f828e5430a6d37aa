package layout

import (
	"context"
	"fmt"
	"sync"

	"github.com/weftgraph/weft/internal/graph"
)

// Kind is how partitions find the list of a vertex.
type Kind uint8

// The kinds of partitions.
const (
	Intervals Kind = iota // GENEVA's interval-PCSR, of renumbered vertices
	Hashes                // GSI's hashed PCSR
)

// String returns the kind's name in options and output.
func (k Kind) String() string { return [...]string{"interval", "hashed"}[k] }

// Partition is the adjacency of one edge label seen from one side.
type Partition interface {
	// List returns the neighbours of v, ascending; none where v has no such edge. The
	// caller must not change it.
	List(v uint32) []uint32
	// Bytes returns the size of all arrays.
	Bytes() uint64
}

// Labels has the edge-label partitions of one graph, each made, or read from a file, when it
// is first asked for. Its vertices have the numbers that Renumbering says. Safe for
// concurrent use.
type Labels struct {
	*Renumbering // nil: the graph's own ids
	Kind         Kind
	Load         int // of Hashes: vertices for each group

	g       *graph.Graph
	threads int
	file    *file // nil: partitions are made

	mu    sync.Mutex
	parts map[partKey]*part
}

type partKey struct {
	label uint32
	side  Side
}

type part struct {
	once sync.Once
	p    Partition
	err  error
}

// Make prepares the partitions of a graph: for Intervals it renumbers the vertices, which
// reads all edges. Load is of Hashes; 0 means 1. Threads 0 means all cores.
func Make(ctx context.Context, g *graph.Graph, kind Kind, load, threads int) (*Labels, error) {
	rows := RowsByLabel(g)
	l := &Labels{Kind: kind, Load: max(load, 1), g: g, threads: threads, parts: map[partKey]*part{}}
	var err error
	if kind == Intervals {
		l.Renumbering, err = Renumber(ctx, rows, threads)
	}
	return l, err
}

// Partition returns the partition of a label, an index into Graph.EdgeLabels or
// graph.NoLabel. In an undirected graph all sides are Both. It blocks while another
// caller makes the same partition. ErrTooLong means that the label has too many entries.
func (l *Labels) Partition(ctx context.Context, label uint32, side Side) (Partition, error) {
	if !l.g.Directed {
		side = Both
	}
	if label != graph.NoLabel && int(label) >= len(l.g.EdgeLabels) {
		return nil, fmt.Errorf("the graph has %d edge labels, and none of number %d", len(l.g.EdgeLabels), label)
	}
	key := partKey{label, side}
	l.mu.Lock()
	p := l.parts[key]
	if p == nil {
		p = new(part)
		l.parts[key] = p
	}
	l.mu.Unlock()
	p.once.Do(func() {
		p.p, p.err = l.make(ctx, key)
		if p.err != nil { // perhaps of this context alone: the next caller tries again
			l.mu.Lock()
			delete(l.parts, key)
			l.mu.Unlock()
		}
	})
	return p.p, p.err
}

// make reads or makes one partition.
func (l *Labels) make(ctx context.Context, key partKey) (Partition, error) {
	if l.file != nil {
		if p, err := l.file.partition(key); err == nil {
			return p, nil
		}
		// A partition that is damaged is made anew.
	}
	var renumbered []uint32
	if l.Renumbering != nil {
		renumbered = l.New
	}
	lists, err := RowsByLabel(l.g).Lists(key.label, key.side, renumbered)
	if err != nil {
		return nil, err
	}
	if l.Kind == Hashes {
		return NewHashed(lists, l.Load)
	}
	return NewInterval(lists), nil
}

// All makes every partition, in parallel, and keeps none that nobody has asked for. It
// calls use with each, in no order, from several goroutines.
func (l *Labels) All(ctx context.Context, use func(label uint32, side Side, p Partition) error) error {
	rows := RowsByLabel(l.g)
	sides := rows.Sides()
	work := make([]uint64, rows.Labels()*len(sides)+1)
	for i := range rows.Labels() * len(sides) {
		work[i+1] = work[i] + rows.Edges(uint32(i/len(sides))-1) + 1
	}
	var mu sync.Mutex
	var first error
	err := graph.Parallel(ctx, work, l.threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			key := partKey{i/uint32(len(sides)) - 1, sides[int(i)%len(sides)]}
			p, err := l.make(ctx, key)
			if err == nil {
				err = use(key.label, key.side, p)
			}
			if err != nil {
				mu.Lock()
				if first == nil {
					first = err
				}
				mu.Unlock()
				return
			}
		}
	})
	if first != nil {
		return first
	}
	return err
}
