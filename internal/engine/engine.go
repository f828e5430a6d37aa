// Package engine is what all engines share: the interface, options, results
// and sinks. It knows plans and graphs and must not know any single engine.
package engine

import (
	"context"
	"errors"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// Engine runs plans.
type Engine interface {
	// Name is what --engine takes.
	Name() string
	// Check says why this engine cannot run p on g here, or nil.
	Check(g *graph.Graph, p *plan.Plan, o Options) error
	// Run counts the matches of p when s is nil, else hands every match to s.
	// It returns a partial Result (Complete false) together with ctx's error
	// when cut short, and with a nil error when s asked to stop.
	Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o Options, s Sink) (Result, error)
}

// Options are common to all engines.
type Options struct {
	Threads int   // 0: all cores
	Limit   int64 // stop after this many matches; 0: no limit
	Memory  int64 // bytes the search may use beyond the graph; 0: no limit
	// Levels asks for actual counts and times per level (explain --analyze).
	Levels bool
	// PerRoot, if not nil, receives the number of matches per vertex at level 0
	// (len = vertices). Only for counting rooted plans.
	PerRoot []Uint128
	// Progress is told the fraction of roots done, at most a few times a second.
	Progress func(done, total uint64)
	// Opt are engine-specific switches, NAME=VALUE.
	Opt map[string]string
}

// Result is what a run found.
type Result struct {
	// Matches is the number of matches of the plan: subgraphs when the plan is
	// Restricted, embeddings otherwise. A lower bound when not Complete.
	Matches  Uint128
	Complete bool
	Engine   string
	Device   string // "cpu"
	Search   time.Duration
	// Prepare is what a device needed before the search: uploads of arrays that
	// were not there yet, what is made of them once, and the wait for its kernels
	// to be compiled: little where they were compiled while others ran.
	Prepare time.Duration
	Threads int
	// Plan and Reason are the plan that was run and why, where the engine had to take
	// another than the one it was given, of the same pattern and as Restricted.
	Plan   *plan.Plan
	Reason string
	Levels []LevelStat // only with Options.Levels
	Notes  []string    // for every user: what could not be had, what is unlike what was asked for
	Stats  []string    // how the search went, for who asks
}

// LevelStat is what happened at one level.
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

// ErrOption is wrapped by an engine's Check where one of Options.Opt is not an
// option or value of its.
var ErrOption = errors.New("engine option")
