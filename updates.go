package weft

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/stream"
	"github.com/weftgraph/weft/internal/stream/split"
	"github.com/weftgraph/weft/internal/vfs"
)

// StreamOptions say which updates WriteStream makes of a graph, and how it writes them.
type StreamOptions struct {
	// Insert and Delete are the shares of the graph's edges that updates add and remove, from 0 to 1.
	Insert, Delete float64
	// ByTime adds the latest edges, in the order of their times. Otherwise edges and their order are drawn at random.
	ByTime bool
	Seed   uint64
	// Rate is the mean number of updates in a second. If it is not 0, updates have times of arrival. Those of a graph whose edges
	// have times have the times of their edges instead.
	Rate float64
	// Poisson makes arrivals a Poisson process. Otherwise the time between them is always the same.
	Poisson bool
	// Batch is the number of updates that arrive together. 0 means 1.
	Batch int
	// Start is the time from which arrivals are counted. The zero value is the start of 2026, UTC.
	Start time.Time

	// Format is text, rapidflow or ndjson; docs/formats.md describes them. "" means text.
	Format string
	// Initial says how the initial graph is written.
	Initial WriteOptions
}

// StreamReport has the numbers of updates that WriteStream wrote.
type StreamReport struct {
	Added   uint64 `json:"added"`   // updates that add an edge
	Removed uint64 `json:"removed"` // updates that remove one
}

// WriteStream makes a stream of updates from a graph: it draws edges to add and edges to remove, writes the graph without the edges to
// add to the file initial, and then the updates. The same graph and options give the same output on every machine. The error is of
// kind ErrUsage if the options do not fit the graph or a format, or about a file. If the updates cannot be written, the initial graph may be.
func (g *Graph) WriteStream(ctx context.Context, initial string, updates io.Writer, o StreamOptions) (r StreamReport, err error) {
	defer ends(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return r, err
	}
	l.Done = new(bool)
	defer l.Leave(&err)
	ctx, stop := memory.Watch(ctx, o.Initial.Memory)
	defer stop()
	r, err = writeStream(ctx, g.s.Data, initial, updates, &o)
	*l.Done = err == nil
	if cause := memory.Cause(ctx); err != nil && cause != nil {
		return r, fmt.Errorf("writing %s: %w", initial, cause)
	}
	if errors.Is(err, format.ErrUnknown) || errors.Is(err, format.ErrOutput) || errors.Is(err, format.ErrLoss) || errors.Is(err, split.ErrSpec) || errors.Is(err, stream.ErrLoss) {
		return r, kind.With(kind.Usage, err)
	}
	return r, err
}

func writeStream(ctx context.Context, g *graph.Graph, initial string, updates io.Writer, o *StreamOptions) (r StreamReport, err error) {
	if o.Format == "" {
		o.Format = string(stream.Lines)
	}
	to, err := stream.ParseWritable(o.Format)
	if err != nil {
		return r, kind.With(kind.Usage, err)
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	var s *split.Split
	var first *graph.Graph
	err = g.Guard(func() error {
		spec := split.Spec{Insert: o.Insert, Delete: o.Delete, ByTime: o.ByTime, Seed: o.Seed, Rate: o.Rate, Poisson: o.Poisson, Batch: o.Batch, Start: o.Start.UnixMicro()}
		if s, err = split.New(ctx, g, spec); err != nil {
			return err
		}
		var line []byte
		if err = s.Each(ctx, func(u *stream.Update) (err error) { // before anything is written
			line, err = stream.Append(line[:0], u, to)
			return err
		}); err != nil {
			return err
		}
		first, err = s.Initial(ctx, 0)
		return err
	})
	if err != nil {
		return r, err
	}
	w := o.Initial
	err = format.Write(ctx, initial, first, format.WriteOptions{Format: w.Format, AllowLoss: w.AllowLoss, Lost: w.Lost, Vertices: w.Vertices, Stdout: w.Stdout, Files: vfs.From(ctx)})
	if err = errors.Join(err, first.Close()); err != nil {
		return r, err
	}
	out := bufio.NewWriterSize(updates, 1<<16)
	enc := stream.NewEncoder(out, to)
	err = g.Guard(func() error {
		return s.Each(ctx, func(u *stream.Update) error {
			err := enc.Encode(u)
			switch {
			case err != nil:
			case u.Op == stream.AddEdge:
				r.Added++
			default:
				r.Removed++
			}
			return err
		})
	})
	if err == nil {
		err = out.Flush()
	}
	return r, err
}
