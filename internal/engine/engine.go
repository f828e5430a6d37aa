// Package engine holds the contract of all engines: the interface, options, results and sinks.
//
// It knows plans and graphs. It must not know any single engine.
package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/runtime/crew"
)

// Engine makes plans ready to run.
type Engine interface {
	// Name is the value of --engine.
	Name() string
	// Prepare lowers p for g, once for all runs that follow. It runs nothing on a
	// device, and waits for none. The error wraps a *plan.Refusal where this engine does not
	// run p, and ErrOption where one of o.Opt is not an option or value of the engine. Any
	// other error is a failure.
	Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o Options) (Prepared, error)
}

// Prepared is a plan that is ready to run any number of times. It keeps compiled code for later
// runs. Safe for concurrent use.
type Prepared interface {
	// Traits says how the plan will be run, for the choice among engines.
	Traits() Traits
	// Compile starts compiling the kernels of Run in the background, and returns at once. It
	// does nothing while another run holds the devices. Compilations that have not begun when
	// ctx ends are dropped. Run reports any error.
	Compile(ctx context.Context)
	// Run counts the matches, or hands every match to goal.Sink. It returns a partial
	// Result (Complete false) together with ctx's error when cut short, and with a nil
	// error when the sink asked to stop.
	Run(ctx context.Context, goal Goal) (Result, error)
}

// Compiled is a Prepared of an engine with kernels of its own. Compiled reports whether they are kept, in memory or on
// disk, so that Run does not compile. It does not block while another run holds the devices.
type Compiled interface {
	Prepared
	Compiled(ctx context.Context) bool
}

// Traits are facts about a prepared plan that tell engines apart.
type Traits struct {
	Compiles bool // Compile has something to compile
	Filters  bool // candidates are filtered before the search
	BitRows  bool // neighbours are looked up in rows of bits,
	Hashes   bool // or in hash tables
	Fits     bool // a device full of warps has room for the candidate sets
	// Phases say in words what the engine does one after the other; nil: it is a loop nest.
	Phases []string
	Host   int64 // bytes of arrays that a GPU will read in host memory, as far as is known before a run
	// Memory is what is known before a run of the memory of a GPU. With Rehearses a run with Goal.Memory tells the rest.
	Memory    *Memory
	Rehearses bool
}

// Options say what a plan is prepared for.
type Options struct {
	Threads int        // 0: all cores
	Crew    *crew.Pool // whose goroutines they are; nil: new ones
	Memory  int64      // bytes the search may use beyond the graph; 0: no limit
	// Compiler is the number of bytes of memory that a compiler of the machine may have; 0: no limit.
	Compiler int64
	Spill    string // folder of the files of tables that exceed Memory; "": the system's for temporary files
	// Listing says that runs have a sink: engines may prepare counts differently.
	Listing bool
	// Levels asks for actual counts and times per level (explain --analyze).
	Levels bool
	// Opt are engine-specific switches, NAME=VALUE.
	Opt map[string]string
	// Lowered, if not nil, counts the programs that plans were lowered to.
	Lowered *atomic.Int64
}

// Goal says what one run must find.
type Goal struct {
	Sink  Sink  // takes every match, of a plan prepared for Listing; nil: count
	Limit int64 // stop after this many matches; 0: no limit
	// PerRoot, if not nil, receives the number of matches per vertex at level 0
	// (len = vertices). Only for counting rooted plans.
	PerRoot []Uint128
	// Memory, if not nil, asks for no search: the run is prepared on the GPU, and tells how it would use
	// the GPU's memory. Only for plans with Traits.Rehearses.
	Memory *Memory
	// Progress is told the fraction of roots done, at most a few times a second.
	Progress func(done, total uint64)
	// Details, if not nil, is told more than Progress, in words, by searches that have more to say. They call it in place of Progress.
	Details func(done, total uint64, detail string)
}

// Check returns an error where a plan cannot reach the goal.
func (goal *Goal) Check(p *plan.Plan, o Options) error {
	switch {
	case goal.PerRoot != nil && !p.Rooted:
		return errors.New("counts per vertex need a rooted plan")
	case (goal.Sink != nil) != o.Listing:
		return errors.New("a plan prepared for a count was asked for matches, or the reverse")
	}
	return nil
}

// Once prepares a plan and runs it once.
func Once(ctx context.Context, e Engine, g *graph.Graph, p *plan.Plan, o Options, goal Goal) (Result, error) {
	o.Listing = goal.Sink != nil
	ready, err := e.Prepare(ctx, g, p, o)
	if err != nil {
		return Result{Engine: e.Name()}, err
	}
	return ready.Run(ctx, goal)
}

// Result is the result of one run.
type Result struct {
	// Matches is the number of matches of the plan: subgraphs when the plan is
	// Restricted, embeddings otherwise. A lower bound when not Complete.
	Matches  Uint128
	Complete bool
	Engine   string
	Device   string // "cpu"
	Search   time.Duration
	// Prepare is the time that a device needed before the search: for uploading arrays, for
	// making tables of them once, and for waiting until kernels were compiled. The wait is
	// short if they were compiled while others ran.
	Prepare time.Duration
	Threads int
	Levels  []LevelStat // only with Options.Levels
	// Filters says, by level, how many vertices the engine's own filters left before the search, after
	// the plan's label, predicates and degree. Only with Options.Levels, of engines that filter.
	Filters [][]plan.Filtered
	Notes   []string // for every user: wishes that could not be fulfilled, and differences from the request
	Stats   []string // how the search went, for users who ask
	Meters  *Meters  // of a search on GPUs; nil: there are none
}

// LevelStat has the figures of a run at one level.
type LevelStat struct {
	Matches Uint128       // partial matches that reached the level
	Time    time.Duration // wall time attributed to the level, by sampling
}

// Batch is a run of matches in rows: row i's vertices are
// Vertices[i*Width:(i+1)*Width], by pattern vertex index (not by level), and its
// chosen edges Edges[i*EdgeWidth:(i+1)*EdgeWidth], by index into Plan.Edges.
// Batches belong to the engine again when Emit returns.
type Batch struct {
	Rows      int
	Width     int
	Vertices  []uint32
	EdgeWidth int
	Edges     []uint64
}

// Sink takes matches. Emit may be called by several workers at once, never by
// the same worker twice at once; worker is 0 … Threads-1.
type Sink interface {
	Emit(worker int, b *Batch) error
}

// ErrOverflow says that a count does not fit 128 bits: no total wraps around in
// silence.
var ErrOverflow = errors.New("the count passes 2^128-1, the largest that totals hold")

// ErrStop is returned by a Sink that wants no more matches: not a failure.
var ErrStop = errors.New("stop")

// ErrOption is wrapped by an engine's Prepare where one of Options.Opt is not an
// option or value of the engine.
var ErrOption = option.Err
