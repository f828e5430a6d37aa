// Package host runs plans on all cores of this machine.
//
// Five methods share one scheduler: the loop nest over the set program (nest),
// the bit matrix of a root's neighbourhood (local), candidate filtering with an
// adaptive order for large labelled patterns (large), extension by data edges in
// windows of time (temporal), and arithmetic over other counts (formula). Which one runs is the plan's decision.
//
// It knows plans and graphs, and must not know the pattern language, other
// engines or where results go.
package host

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host/crew"
	"github.com/weftgraph/weft/internal/engine/host/large"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// Alone says that this process runs one search at a time, whose threads may stand by.
func Alone() { crew.Alone() }

// Ready has so many threads stand by for a short while, after Alone: a search that begins then does
// not wait for the scheduler to wake one after another.
func Ready(threads int) { crew.Ready(max(0, threads-1)) } // the caller of Run is one

// Host is the engine for all cores. The zero value is ready.
type Host struct{}

// New returns the host engine.
func New() engine.Engine { return Host{} }

// Name returns "host".
func (Host) Name() string { return "host" }

// Check says why p cannot run here, or nil.
func (Host) Check(g *graph.Graph, p *plan.Plan, o engine.Options) error {
	if o.PerRoot != nil && !p.Rooted {
		return fmt.Errorf("counts per vertex need a rooted plan")
	}
	switch p.Method {
	case plan.Large:
		return large.Supports(p)
	case plan.Local:
		if err := plan.LocalOK(p); err != nil {
			return err
		}
		if !plan.LocalFits(p) {
			return fmt.Errorf("a neighbourhood of more than %d vertices is too large for the local method", plan.MaxUniverse)
		}
	}
	return nil
}

// Run counts or lists the matches of p.
func (h Host) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, s engine.Sink) (engine.Result, error) {
	if err := h.Check(g, p, o); err != nil {
		return engine.Result{}, err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	start := time.Now()
	var res engine.Result
	var err error
	switch {
	case p.Empty != nil:
		res.Complete = true
	case p.Method == plan.Large:
		res, err = large.Run(ctx, g, p, o, s)
	case p.Method == plan.Decomposed && s == nil && o.PerRoot == nil && o.Limit <= 0 && !o.Levels:
		res, err = runFormula(ctx, g, p, o)
	case p.Method == plan.Walks && s == nil:
		res, err = runWalks(ctx, g, p, o)
	case p.Method == plan.Temporal:
		res, err = runTemporal(ctx, g, p, o, s)
	case p.Method == plan.Local && s == nil && !o.Levels:
		res, err = runLocal(ctx, g, p, o)
	default:
		res, err = runNest(ctx, g, p, o, s)
	}
	res.Engine, res.Device, res.Threads = "host", "cpu", o.Threads
	res.Search = time.Since(start)
	return res, err
}

var _ engine.Engine = Host{}
