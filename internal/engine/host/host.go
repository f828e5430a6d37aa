// Package host runs plans on all cores of this machine.
//
// Five methods share one scheduler, and the plan says which of them runs:
//
//   - nest: the loop nest over the set program;
//   - local: the bit matrix of a root's neighbourhood;
//   - large: candidate filtering with an adaptive order, for large labelled patterns;
//   - temporal: extension by data edges in windows of time;
//   - formula: arithmetic over other counts.
//
// It knows plans and graphs. It must not know the pattern language, other engines, or where results go.
package host

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host/large"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// Host is the engine for all cores. The zero value is ready.
type Host struct{}

// New returns the host engine.
func New() engine.Engine { return Host{} }

// Name returns "host".
func (Host) Name() string { return "host" }

// Options are the engine's switches.
var Options = option.Table{
	option.Switch("host.steal", true, "idle threads steal parts of others' work"),
	option.Switch("host.windows", true, "search windows of time as slices of sorted lists"),
	option.Switch("host.bitmap", true, "keep long lists also as bitmaps"),
}

// switches are the values of the options.
type switches struct{ steal, windows, bitmap bool }

// job is the task of the searches of one run.
type job struct {
	engine.Options
	engine.Goal
	switches
	programs *programs
}

// programs are a plan as the loops below read it: each is made by the first run that needs
// it.
type programs struct {
	walked, closed func() *program      // every level; the last ones closed by arithmetic
	local          func() *localProgram // over rows of bits
}

// prepared is a plan that is ready to run.
type prepared struct {
	g        *graph.Graph
	p        *plan.Plan
	o        engine.Options
	switches switches
	programs programs
}

// Prepare returns an error for plans that no method of this engine can run.
func (Host) Prepare(_ context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	switch p.Method {
	case plan.Large:
		if err := large.Supports(p); err != nil {
			return nil, err
		}
	case plan.Local:
		if err := plan.LocalOK(p); err != nil {
			return nil, err
		}
		if !plan.LocalFits(p) {
			return nil, plan.Refusef("a neighbourhood of more than %d vertices is too large for the local method", plan.MaxUniverse)
		}
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	v, err := Options.Read(o.Opt)
	if err != nil {
		return nil, err
	}
	s := switches{v.On("host.steal"), v.On("host.windows"), v.On("host.bitmap")}
	return &prepared{g, p, o, s, programs{
		walked: sync.OnceValue(func() *program { return compile(g, p, false) }),
		closed: sync.OnceValue(func() *program { return compile(g, p, true) }),
		local:  sync.OnceValue(func() *localProgram { return compileLocal(g, p) }),
	}}, nil
}

// Traits has nothing to say: there is one engine for the processor to choose.
func (*prepared) Traits() engine.Traits { return engine.Traits{} }

// Compile does nothing: the searches are compiled into this program.
func (*prepared) Compile(context.Context) {}

// Run counts or lists the matches.
func (x *prepared) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	if err := goal.Check(x.p, x.o); err != nil {
		return engine.Result{}, err
	}
	start := time.Now()
	var res engine.Result
	var err error
	g, p, o := x.g, x.p, job{x.o, goal, x.switches, &x.programs}
	switch {
	case p.Empty != nil:
		res.Complete = true
	case p.Method == plan.Large:
		res, err = large.Run(ctx, g, p, x.o, goal)
	case p.Method == plan.Decomposed && o.Sink == nil && o.PerRoot == nil && o.Limit <= 0 && !o.Levels:
		res, err = runFormula(ctx, g, p, o)
	case p.Method == plan.Walks && o.Sink == nil:
		res, err = runWalks(ctx, g, p, o)
	case p.Method == plan.Temporal:
		res, err = runTemporal(ctx, g, p, o)
	case p.Method == plan.Local && o.Sink == nil && !o.Levels:
		res, err = runLocal(ctx, o)
	default:
		res, err = runNest(ctx, p, o)
	}
	res.Engine, res.Device, res.Threads = "host", "cpu", o.Threads
	res.Search = time.Since(start)
	return res, err
}

var _ engine.Engine = Host{}
