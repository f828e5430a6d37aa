// Package codegen runs a plan by compiling the whole plan into one program. The program is for
// GPUs, or C for the processor. Every level of the loop nest becomes generated code. For plans with the
// local method, the generated code is the part below a root, over rows of bits.
//
// It knows plans, their lowering, sessions, membership tables and the local method. It must not
// know other engines.
package codegen

import (
	"context"
	"fmt"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/gpu/neighbourhood"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// Options are the engine's switches.
var Options = append(option.Table{
	option.Choice("codegen.lookup", "how a loop nest tests whether a vertex is in a neighbour list", membership.Lookups...),
}, neighbourhood.Options("codegen")...)

// Engine is the engine codegen over the devices of a session.
type Engine struct{ s *session.Session }

// New returns the engine; the session stays the caller's to close.
func New(s *session.Session) *Engine { return &Engine{s} }

// Name is the value of --engine.
func (*Engine) Name() string { return "codegen" }

// prepared is a plan that is ready to run: by its loop nest, or by rows of bits.
type prepared struct {
	e      *Engine
	g      *graph.Graph
	p      *plan.Plan
	o      engine.Options
	nest   *program
	memory gpu.Room
	local  *neighbourhood.Search
}

// Prepare refuses plans of other methods than nest and local. The local method only counts.
func (e *Engine) Prepare(_ context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	v, err := Options.Read(o.Opt)
	if err != nil {
		return nil, err
	}
	rows, on := neighbourhood.Read(e.Name(), v)
	switch {
	case p.Method != plan.Nest && p.Method != plan.Local:
		return nil, plan.Refusef("method %s: codegen runs the methods nest and local", p.Method)
	case o.Levels:
		return nil, plan.Refusef("codegen does not measure single levels")
	case p.Method == plan.Local && !on:
		return nil, plan.Refusef("codegen.local=off: plan with nest")
	case p.Method == plan.Local && o.Listing:
		return nil, plan.Refusef("codegen only counts by the local method; plan with nest for a listing")
	}
	x := &prepared{e: e, g: g, p: p, o: o}
	if x.memory, err = gpu.ReadRoom(o); err != nil {
		return nil, err
	}
	switch {
	case p.Empty != nil:
	case p.Method == plan.Local:
		x.local, err = neighbourhood.New(e.Name(), e.s, g, p, rows, o)
	default:
		for l := 1; l < len(p.Levels); l++ {
			if p.Levels[l].Set < 0 {
				return nil, plan.Refusef("the pattern has several components")
			}
		}
		x.nest, err = e.program(p, membership.LookupOf(v, "codegen.lookup"), o)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Traits says how a nest looks neighbours up, and whether its sets fit.
func (x *prepared) Traits() engine.Traits {
	t := engine.Traits{Compiles: x.p.Empty == nil}
	if n := x.nest; n != nil {
		t.BitRows, t.Hashes = n.lookup == membership.Bits, n.lookup == membership.Hash
		t.Fits = x.e.fits(n.code.Slots, n.extra.Cap)
		t.Memory = gpu.Memory(x.e.s, n.job())
	} else if x.local != nil {
		t.Memory = x.local.Memory()
	}
	if t.Rehearses = t.Memory != nil; t.Rehearses {
		t.Host = t.Memory.Host()
	}
	return t
}

// Compile starts compiling the kernels.
func (x *prepared) Compile(ctx context.Context) {
	if x.local != nil {
		x.local.Compile(ctx)
	} else if x.nest != nil {
		_ = x.e.s.Compile(ctx, x.nest.job())
	}
}

// Compiled reports whether these kernels are compiled: see engine.Compiled.
func (x *prepared) Compiled(ctx context.Context) bool {
	if x.local != nil {
		return x.local.Compiled(ctx)
	}
	return x.nest == nil || x.e.s.Compiled(ctx, x.nest.job())
}

// Run counts the matches, or hands them to goal.Sink.
func (x *prepared) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	none := engine.Result{Engine: x.e.Name(), Device: x.e.s.String()}
	switch err := goal.Check(x.p, x.o); {
	case err != nil:
		return none, err
	case x.p.Empty != nil:
		none.Complete = true
		return none, nil
	case x.local != nil:
		return x.local.Run(ctx, goal)
	}
	res, found, err := x.search(ctx, goal, x.nest)
	if m := goal.Memory; m != nil && err == nil && x.nest.lookup != membership.Search {
		// With little memory lists are searched, without tables: the least is that of these kernels.
		var lean *program
		if lean, err = x.e.program(x.p, membership.Search, x.o); err == nil {
			var least engine.Memory
			goal.Memory = &least
			_, _, err = x.search(ctx, goal, lean)
			m.Least = min(m.Least, least.Least)
		}
	}
	if err == nil {
		res.Stats = append(res.Stats, fmt.Sprintf("on the device: %s, search %v", gpu.Times(&found), gpu.Round(found.Search)))
	}
	return res, err
}

// search runs the kernels of one program.
func (x *prepared) search(ctx context.Context, goal engine.Goal, p *program) (engine.Result, session.Result, error) {
	n := &nest{ctx: ctx, program: p, Run: gpu.Run{Session: x.e.s, Graph: x.g, Plan: x.p, Goal: goal, Room: x.memory}}
	n.Launched = &n.filled
	j := p.job()
	j.Start = n.start
	return n.Do(ctx, j)
}
