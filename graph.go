package weft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/search"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/vfs"
)

// Graph is a data graph. It is immutable and safe for concurrent use, Close included. Methods
// of a nil or zero Graph return an error of kind ErrUsage, or zero where they return no error.
type Graph struct {
	rt      *Runtime
	s       *search.Graph
	path    string
	load    time.Duration
	check   time.Duration // the part of load that verifying took
	summary Summary
	read    ReadReport
}

// newGraph is a graph that took `load` to read from path. Values that need no search are kept,
// so that a closed graph has them too.
func (rt *Runtime) newGraph(g *graph.Graph, path string, load time.Duration) *Graph {
	r := &g.Read
	return &Graph{
		rt: rt, s: search.NewGraph(rt.r, g), path: path, load: load, check: g.CheckTime(),
		summary: Summary{path, g.NumVertices(), g.NumEdges(), g.Directed, len(g.VertexLabels), len(g.EdgeLabels)},
		read:    ReadReport{r.Format, r.Columns, r.Lines, r.Kept, r.SelfLoops, r.Duplicates, r.Reciprocal, r.Notes, r.Converted, r.DirectionGuessed},
	}
}

// Open is the function Open for a graph of this runtime.
func (rt *Runtime) Open(ctx context.Context, path string, options ...Option) (g *Graph, err error) {
	defer ends(ctx, &err)
	s, err := rt.collect(setting.Open, options)
	if err != nil {
		return nil, err
	}
	return rt.open(ctx, path, s)
}

// open is Open.
func (rt *Runtime) open(ctx context.Context, path string, s *setting.Settings) (*Graph, error) {
	size := int64(0)
	s.Read.Files = vfs.From(ctx)
	if file, err := s.Read.Files.Stat(path); err == nil {
		size = file.Size()
	}
	return rt.load(ctx, path, size, s, func(ctx context.Context, progress format.Progress) (*graph.Graph, error) {
		return format.Read(ctx, path, s.Read, progress)
	})
}

// load makes a graph of the input called name. size is its number of bytes, or 0 if not known.
func (rt *Runtime) load(ctx context.Context, name string, size int64, s *setting.Settings, read func(context.Context, format.Progress) (*graph.Graph, error)) (*Graph, error) {
	if !rt.r.Leases.Take() {
		return nil, errRuntimeClosed
	}
	defer rt.r.Leave()
	start := time.Now()
	rt.r.Begin(s.Device, s.GPUMemory)
	if size > 0 {
		rt.r.Ready(s.Device, s.Workers(), size) // threads are made while the input is read
	}
	ctx, stop := memory.Watch(ctx, s.Memory)
	defer stop()
	var progress format.Progress
	if f := s.Progress; f != nil {
		progress = func(done, total int64) { f("load", uint64(max(done, 0)), uint64(max(total, 0))) }
	}
	g, err := read(ctx, progress)
	if err != nil {
		if cause := memory.Cause(ctx); cause != nil {
			return nil, fmt.Errorf("reading %s: %w", name, cause)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.As(err, new(*disk.TempError)) {
			return nil, fmt.Errorf("%s: unpacking: %w", name, err) // the error is not about the input
		}
		return nil, kind.With(kind.Input, search.Classify(err))
	}
	rt.r.Ready(s.Device, s.Workers(), int64(8*len(g.Out.Adj))) // after a text that took longer to read than the threads wait
	return rt.newGraph(g, name, time.Since(start)), nil
}

// NumVertices returns the number of vertices.
func (g *Graph) NumVertices() int { return g.Summary().Vertices }

// NumEdges returns the number of edges.
func (g *Graph) NumEdges() uint64 { return g.Summary().Edges }

// Directed reports whether edges have a direction.
func (g *Graph) Directed() bool { return g.Summary().Directed }

// Summary has a graph's numbers, as a Result has them.
type Summary struct {
	Path         string `json:"path"`
	Vertices     int    `json:"vertices"`
	Edges        uint64 `json:"edges"`
	Directed     bool   `json:"directed"`
	VertexLabels int    `json:"vertex_labels"`
	EdgeLabels   int    `json:"edge_labels"`
}

// Summary returns the numbers of the graph.
func (g *Graph) Summary() Summary {
	if g == nil {
		return Summary{}
	}
	return g.summary
}

// ReadReport counts the lines and edges that reading kept and dropped: nothing is dropped
// silently. A graph in weft's own format has the report of the file that it was converted from,
// and Converted says so.
type ReadReport struct {
	Format     string   `json:"format"`
	Columns    string   `json:"columns,omitempty"`
	Lines      uint64   `json:"lines"`
	Kept       uint64   `json:"kept"`
	SelfLoops  uint64   `json:"self_loops"`
	Duplicates uint64   `json:"duplicates"`
	Reciprocal uint64   `json:"reciprocal"`
	Notes      []string `json:"notes,omitempty"`
	Converted  bool     `json:"converted,omitempty"`
	// DirectionGuessed reports whether neither the input nor WithDirected states whether the
	// edges have a direction. The graph is undirected then, and a query with arrows has a note
	// that says so.
	DirectionGuessed bool `json:"direction_guessed,omitempty"`
}

// Read reports how the graph was read.
func (g *Graph) Read() ReadReport {
	if g == nil {
		return ReadReport{}
	}
	r := g.read
	r.Notes = slices.Clone(r.Notes)
	return r
}

// LoadTime returns the time that opening the graph took.
func (g *Graph) LoadTime() time.Duration {
	if g == nil {
		return 0
	}
	return g.load
}

// WriteOptions say how Write writes. The zero value chooses the format by the file's name.
type WriteOptions struct {
	Format    string            // "" means by the file's extension
	AllowLoss bool              // write the file without the parts that its format cannot hold
	Lost      func(what string) // called, with AllowLoss, for each part that is left out
	Vertices  string            // a second file for the vertex table
	Stdout    io.Writer         // the output for "-"; nil is the standard output
	Memory    int64             // bytes that the process may use, else ErrMemory; 0 is the system's limit
}

// Write writes the graph to a file, which appears under its name when it is complete. "x.weft"
// is weft's own format: it is verified when it is first opened, and then opens in milliseconds.
// With o.Vertices both files appear, or none; an error names a file that appeared nevertheless.
func (g *Graph) Write(ctx context.Context, path string, o WriteOptions) (err error) {
	defer ends(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return err
	}
	l.Done = new(bool)
	defer l.Leave(&err)
	ctx, stop := memory.Watch(ctx, o.Memory)
	defer stop()
	err = format.Write(ctx, path, g.s.Data, format.WriteOptions{Format: o.Format, AllowLoss: o.AllowLoss, Lost: o.Lost, Vertices: o.Vertices, Stdout: o.Stdout, Files: vfs.From(ctx)})
	*l.Done = err == nil
	if cause := memory.Cause(ctx); err != nil && cause != nil {
		return fmt.Errorf("writing %s: %w", path, cause)
	}
	if errors.Is(err, format.ErrUnknown) || errors.Is(err, format.ErrOutput) || errors.Is(err, format.ErrLoss) {
		return kind.With(kind.Usage, err)
	}
	return err
}

// Convert is the function Convert with the folders and the limits of this runtime.
func (rt *Runtime) Convert(ctx context.Context, from, to string, o WriteOptions, options ...Option) (r ReadReport, err error) {
	defer ends(ctx, &err)
	s, err := rt.collect(setting.Convert, options)
	if err != nil {
		return ReadReport{}, err
	}
	g, err := rt.open(ctx, from, s)
	if err != nil {
		return ReadReport{}, err
	}
	defer g.Close()
	o.Memory = cmp.Or(o.Memory, s.Memory)
	return g.Read(), g.Write(ctx, to, o)
}

// CheckFile checks every section of a file in weft's own format, or the structure of a graph
// from another file.
func (g *Graph) CheckFile(ctx context.Context, options ...Option) (err error) {
	defer ends(ctx, &err)
	l, s, err := g.begin(&ctx, setting.CheckFile, options)
	if err != nil {
		return err
	}
	defer l.Leave(&err)
	return kind.With(kind.Input, g.s.Data.Verify(ctx, s.Threads))
}

// Close frees the memory of the graph, on GPUs as well, and unmaps its file. Calls that begin
// later return ErrClosed. Close does not wait for calls in progress, so the body of a loop over
// Match may call it. These calls end as usual, and the last one frees the memory. An iteration
// is in progress until its loop ends. A busy GPU frees the graph's memory when its search ends.
// Closing twice does nothing.
func (g *Graph) Close() error {
	if g == nil || g.s == nil {
		return nil
	}
	return g.s.Close()
}

// enter takes a lease for a call on g, which *ctx then holds; see runtime.Enter.
func (g *Graph) enter(ctx *context.Context) (runtime.Lease, error) {
	if g == nil || g.s == nil {
		return runtime.Lease{}, errNoGraph
	}
	return g.s.Enter(ctx)
}

// begin is enter for a call with options.
func (g *Graph) begin(ctx *context.Context, of setting.Call, options []Option) (l runtime.Lease, s *setting.Settings, err error) {
	if l, err = g.enter(ctx); err != nil {
		return l, nil, err
	}
	if s, err = g.rt.collect(of, options); err != nil {
		l.End()
		return runtime.Lease{}, nil, err
	}
	return l, s, nil
}

// reads takes a lease for a method that returns no error. It panics with ErrClosed if the graph's
// memory is gone.
func (g *Graph) reads() runtime.Lease {
	l, ok := g.s.Share()
	if !ok {
		panic(ErrClosed)
	}
	return l
}

// done ends a lease of reads; it is deferred. A panic over a corrupt file becomes a panic with an
// error that says so.
func done(l runtime.Lease) {
	defer l.End()
	if x := recover(); x != nil {
		if err := l.Damage(x); err != nil {
			panic(public(err))
		}
		panic(x)
	}
}
