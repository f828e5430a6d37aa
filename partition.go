package weft

import (
	"context"
	"io"
	"iter"

	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/vfs"
)

// Partition is a part for each vertex of a graph, from 0 on, with the sizes of the parts.
type Partition struct {
	Parts []PartSize
	// Cut is the number of pairs of neighbours in different parts, of Pairs in all.
	Cut, Pairs uint64
	// Balance is the bytes of the largest part, divided by the mean of all parts; 1 is perfect.
	Balance float64
	// Notes are for the user: why a partition that was kept in a file is not used, or cannot be kept.
	Notes []string

	g  *Graph
	of []uint32
}

// PartSize is the size of one part.
type PartSize struct {
	Vertices uint64
	Inside   uint64 // pairs of neighbours that are both in the part
	Cross    uint64 // pairs of neighbours of which one is in the part
	Bytes    uint64 // of the neighbour lists of its vertices, in each direction of a directed graph
}

// Partition cuts the vertices into parts, such that few edges are between parts, and no part has many
// more bytes of neighbour lists than the others. A vertex is never divided, so a hub may make its part
// larger. The same options give the same parts, with any number of threads. The partition
// of a graph that was opened from a file in weft's own form is kept in a folder next to that file, and read there the next time.
// Partition accepts the options WithPartitioner, WithImbalance, WithSeed, WithThreads and WithMemory. A number of
// parts below 1 or above 2^20 is an error of kind ErrUsage. If ctx ends first, the error is the context's.
func (g *Graph) Partition(ctx context.Context, parts int, options ...Option) (p *Partition, err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.Partition, options)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &p)
	method, err := partition.ParseMethod(s.Partitioner)
	if err != nil {
		return nil, kind.With(kind.Usage, err)
	}
	o := partition.Options{Method: method, Parts: parts, Slack: partition.DefaultSlack, Seed: s.Seed, Threads: s.Workers()}
	if s.Imbalance != nil {
		o.Slack = *s.Imbalance
	}
	if err := o.Check(); err != nil {
		return nil, kind.With(kind.Usage, err)
	}
	watched, stop := memory.Watch(ctx, s.Memory)
	defer stop()
	found, warning, err := partition.Open(watched, vfs.From(ctx), g.s.Data.FileName(), g.s.Data, o)
	if err != nil {
		if cause := memory.Cause(watched); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	p = &Partition{Cut: found.Cut, Pairs: found.Cut, Balance: found.Balance(), g: g, of: found.Of}
	for _, x := range found.Parts {
		p.Parts = append(p.Parts, PartSize(x))
		p.Pairs += x.Inside
	}
	if warning != "" {
		p.Notes = append(p.Notes, warning)
	}
	return p, nil
}

// Part returns the part of the vertex with the given id. ok is false if the graph does not have it. It
// panics with ErrClosed after Close of the graph.
func (p *Partition) Part(id string) (part int, ok bool) {
	if p.g == nil {
		return 0, false
	}
	defer done(p.g.reads())
	v, ok := p.g.s.Data.Lookup(id)
	if !ok {
		return 0, false
	}
	return int(p.of[v]), true
}

// All yields each vertex's id and part. It panics with ErrClosed after Close of the graph.
func (p *Partition) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if p.g == nil {
			return
		}
		defer p.g.reads().End()
		for v, part := range p.of {
			if !yield(p.g.s.Data.IDs.String(uint32(v)), int(part)) {
				return
			}
		}
	}
}

// Write writes a row for each vertex: its id in the column vertex, and its part in the column part. The
// formats are those of Graph.List.
func (p *Partition) Write(w io.Writer, format string) (err error) {
	ctx := context.Background()
	defer ends(ctx, &err)
	l, err := p.g.enter(&ctx)
	if err != nil {
		return err
	}
	defer l.Leave(&err)
	if err := sink.CheckFormat(format); err != nil {
		return kind.With(kind.Usage, err)
	}
	return sink.WriteNumbered(w, format, len(p.of), []sink.Column{
		sink.Vertex(p.g.s.Data, "vertex", 0),
		sink.Value("part", sink.Int, func(m []uint32, _ []uint64) any { return int64(p.of[m[0]]) }),
	}, false)
}
