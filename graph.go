package weft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/vfs"
)

// Graph is a data graph. It is immutable and safe for concurrent use, Close included. Methods
// of a nil or zero Graph return an error of kind ErrUsage, or zero where they return no error.
type Graph struct {
	rt      *Runtime
	g       *graph.Graph
	path    string
	load    time.Duration
	check   time.Duration // the part of load that Verify took
	summary Summary
	read    ReadReport
	leases  runtime.Leases

	prepared prepared
}

// newGraph is a graph that took so long to load from path. What is asked of a graph
// without a search is kept, so that it can be asked of a closed one too.
func (rt *Runtime) newGraph(g *graph.Graph, path string, load time.Duration) *Graph {
	r := &g.Read
	return &Graph{
		rt: rt, g: g, path: path, load: load, check: g.CheckTime(),
		summary: Summary{path, g.NumVertices(), g.NumEdges(), g.Directed, len(g.VertexLabels), len(g.EdgeLabels)},
		read:    ReadReport{r.Format, r.Columns, r.Lines, r.Kept, r.SelfLoops, r.Duplicates, r.Reciprocal, r.Notes, r.Converted, r.DirectionGuessed},
	}
}

// Open is the function Open for a graph of this runtime.
func (rt *Runtime) Open(ctx context.Context, path string, options ...Option) (g *Graph, err error) {
	defer endedBy(ctx, &err)
	s, err := rt.collect(callOpen, options)
	if err != nil {
		return nil, err
	}
	return rt.open(ctx, path, s)
}

// open is Open.
func (rt *Runtime) open(ctx context.Context, path string, s *settings) (*Graph, error) {
	size := int64(0)
	s.read.Files = vfs.From(ctx)
	if file, err := s.read.Files.Stat(path); err == nil {
		size = file.Size()
	}
	return rt.load(ctx, path, size, s, func(ctx context.Context, progress format.Progress) (*graph.Graph, error) {
		return format.Read(ctx, path, s.read, progress)
	})
}

// load makes a graph of the input called name. size is the number of its bytes, 0 where
// that is not known.
func (rt *Runtime) load(ctx context.Context, name string, size int64, s *settings, read func(context.Context, format.Progress) (*graph.Graph, error)) (*Graph, error) {
	if !rt.r.Leases.Take() {
		return nil, errRuntimeClosed
	}
	defer rt.r.Leave()
	start := time.Now()
	rt.r.Begin(s.device, s.gpuMemory)
	if size > 0 {
		rt.r.Ready(s.device, s.workers(), size) // threads are made while the input is read
	}
	ctx, stop := watchMemory(ctx, s.memory)
	defer stop()
	var progress format.Progress
	if f := s.progress; f != nil {
		progress = func(done, total int64) { f(Progress{"load", uint64(max(done, 0)), uint64(max(total, 0))}) }
	}
	g, err := read(ctx, progress)
	if err != nil {
		if cause := memoryCause(ctx); cause != nil {
			return nil, fmt.Errorf("reading %s: %w", name, cause)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.As(err, new(*disk.TempError)) {
			return nil, fmt.Errorf("%s: unpacking: %w", name, err) // which is not about the input
		}
		return nil, withKind(ErrInput, classify(err))
	}
	rt.r.Ready(s.device, s.workers(), int64(8*len(g.Out.Adj))) // of text that took longer to read than they wait
	return rt.newGraph(g, name, time.Since(start)), nil
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
	// K is ws's neighbours, ba's edges a vertex, or the size of cliques.
	K uint64
	// P is er's edge probability, and ws's of rewiring.
	P float64
	// Degree is rgg's mean degree.
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
}

// GenerateModels lists the models of Spec.
func GenerateModels() []string { return gen.Models() }

// Generate is the function Generate for a graph of this runtime.
func (rt *Runtime) Generate(ctx context.Context, spec Spec, options ...Option) (out *Graph, err error) {
	defer endedBy(ctx, &err)
	s, err := rt.collect(callGenerate, options)
	if err != nil {
		return nil, err
	}
	if !rt.r.Leases.Take() {
		return nil, errRuntimeClosed
	}
	defer rt.r.Leave()
	start := time.Now()
	if err := gen.Room(gen.Spec(spec), s.memory); err != nil {
		return nil, classify(err)
	}
	ctx, stop := watchMemory(ctx, s.memory)
	defer stop()
	g, err := gen.Generate(ctx, gen.Spec(spec), s.threads)
	if err != nil {
		if cause := memoryCause(ctx); cause != nil {
			return nil, fmt.Errorf("generating: %w", cause)
		}
		return nil, classify(err)
	}
	return rt.newGraph(g, "gen "+spec.Model, time.Since(start)), nil
}

// NumVertices is the number of vertices.
func (g *Graph) NumVertices() int { return g.Summary().Vertices }

// NumEdges is the number of edges.
func (g *Graph) NumEdges() uint64 { return g.Summary().Edges }

// Directed reports whether edges have a direction.
func (g *Graph) Directed() bool { return g.Summary().Directed }

// Summary is what a Result says about its graph.
type Summary struct {
	Path         string `json:"path"`
	Vertices     int    `json:"vertices"`
	Edges        uint64 `json:"edges"`
	Directed     bool   `json:"directed"`
	VertexLabels int    `json:"vertex_labels"`
	EdgeLabels   int    `json:"edge_labels"`
}

// Summary describes the graph in numbers.
func (g *Graph) Summary() Summary {
	if g == nil {
		return Summary{}
	}
	return g.summary
}

// ReadReport is what reading kept and dropped: nothing is dropped silently. Of a
// graph in weft's own form it is the report of the file that it was converted
// from, which Converted says.
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
	// DirectionGuessed reports whether neither the input nor WithDirected says whether the
	// edges have a direction. The graph is undirected then, and a query with arrows has
	// a note that says so.
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

// LoadTime is how long it took to open the graph.
func (g *Graph) LoadTime() time.Duration {
	if g == nil {
		return 0
	}
	return g.load
}
