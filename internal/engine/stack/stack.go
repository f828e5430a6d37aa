// Package stack runs plans on GPUs by depth-first search in one persistent kernel. Each warp
// has an explicit stack. The design is STMatch's (Wei and Jiang, STMatch: Accelerating Graph
// Pattern Matching on GPU with Stack-Based Loop Optimizations, SC 2022).
//
// The device code is in package kernels: stack/stack.cuh and the files that it includes. This
// package chooses what to launch. It has a plan lowered to text, joins the text with the
// schedule, decides how much memory the sets get and how the roots are cut into tasks, and
// reads the counters afterwards.
//
// It knows plans and sessions. It must not know the pattern language, other engines, or where
// results go.
package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gpu/neighbourhood"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// Engine runs plans on the devices of a session.
type Engine struct{ s *session.Session }

// New returns the engine for a session's devices. The session stays the caller's
// to close.
func New(s *session.Session) *Engine { return &Engine{s: s} }

// Name returns "stack".
func (*Engine) Name() string { return "stack" }

// prepared is a plan that is ready to run, by one of two schedules: the nest, or rows of
// bits (package neighbourhood). Where a bound on neighbourhoods turns out to be too low, the
// nest counts the same plan.
type prepared struct {
	e        *Engine
	g        *graph.Graph
	p        *plan.Plan
	o        engine.Options
	switches switches
	local    *neighbourhood.Search // nil: the nest is to run
	divided  *divided              // if not nil, counts in place of local

	mu    sync.Mutex
	nests map[int]*search // that were needed so far, by the room of a set, as search's
}

// Prepare refuses plans of other methods than nest and local, and plans for the local method
// that a plan for the nest is better for. Such a plan is listed by the nest, and so are
// levels measured, as the local method only counts.
func (e *Engine) Prepare(_ context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	if p.Method != plan.Nest && p.Method != plan.Local {
		return nil, plan.Refusef("the engine stack does not run plans by the method %v; plan with nest or local", p.Method)
	}
	s, rows, on, err := parse(o)
	if err != nil {
		return nil, err
	}
	x := &prepared{e: e, g: g, p: p, o: o, switches: s}
	switch {
	case p.Empty != nil:
	case p.Method == plan.Local && on && !o.Listing && !o.Levels:
		x.local, err = neighbourhood.New(e.Name(), e.s, g, p, rows, o)
		if d := x.divide(rows); d != nil {
			x.divided, err = d, nil
		}
	default:
		_, err = x.search(0)
	}
	return x, err
}

// search is the nest's search with sets of cap elements, made when it is first needed. 0: sets as
// the options have them.
func (x *prepared) search(cap int) (*search, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.nests[cap]; s != nil {
		return s, nil
	}
	o := x.switches
	if cap > 0 {
		o.slot = cap
	}
	s, err := newSearch(x.e, x.g, x.p, x.o, o)
	if err != nil {
		return nil, err
	}
	if x.nests == nil {
		x.nests = map[int]*search{}
	}
	x.nests[cap] = s
	return s, nil
}

// Traits says that kernels are compiled, and what is read in host memory.
func (x *prepared) Traits() engine.Traits {
	t := engine.Traits{Compiles: x.p.Empty == nil}
	if d := x.divided; d != nil {
		t.Memory = d.rest.Memory()
	} else if x.local != nil {
		t.Memory = x.local.Memory()
	} else if t.Compiles {
		if s, err := x.search(0); err == nil {
			t.Memory = gpu.Memory(x.e.s, s.memory.Give(s.job()))
		}
	}
	if t.Rehearses = t.Memory != nil; t.Rehearses {
		t.Host = t.Memory.Host()
	}
	return t
}

// Compile starts compiling the kernels of the plan.
func (x *prepared) Compile(ctx context.Context) {
	if d := x.divided; d != nil {
		d.rest.Compile(ctx)
		d.hubs.Compile(ctx)
	} else if x.local != nil {
		x.local.Compile(ctx)
	} else if x.p.Empty == nil {
		if s, err := x.search(0); err == nil {
			_ = x.e.s.Compile(ctx, s.memory.Give(s.job()))
		}
	}
}

// Compiled reports whether these kernels are compiled: see engine.Compiled.
func (x *prepared) Compiled(ctx context.Context) bool {
	if d := x.divided; d != nil {
		return d.rest.Compiled(ctx) && d.hubs.Compiled(ctx)
	}
	if x.local != nil {
		return x.local.Compiled(ctx)
	}
	if x.p.Empty == nil {
		if s, err := x.search(0); err == nil {
			return x.e.s.Compiled(ctx, s.memory.Give(s.job()))
		}
	}
	return true
}

// Run counts the matches, or hands every match to goal.Sink.
func (x *prepared) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	res, err := x.runAll(ctx, goal)
	if x.switches.hubs == "on" && x.divided == nil && err == nil {
		res.Notes = append(res.Notes, "stack.hubs=on has no effect on this plan")
	}
	return res, err
}

// runAll is Run without notes about hubs.
func (x *prepared) runAll(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	none := engine.Result{Engine: x.e.Name(), Device: x.e.s.String()}
	if err := goal.Check(x.p, x.o); err != nil {
		return none, err
	}
	if x.p.Empty != nil {
		none.Complete = true
		return none, nil
	}
	if x.local == nil && x.divided == nil {
		res, err := x.runNest(ctx, goal)
		if x.p.Method == plan.Local {
			res.Notes = append(res.Notes, "counted by the nest")
		}
		return res, err
	}
	var res engine.Result
	var err error
	if x.divided != nil {
		res, err = x.divided.run(ctx, goal)
	} else {
		res, err = x.local.Run(ctx, goal)
	}
	if errors.Is(err, neighbourhood.ErrUniverse) {
		res, err = x.runNest(ctx, goal)
		res.Notes = append(res.Notes, "counted by the nest")
	} else if without := x.switches.ofNest; len(without) > 0 {
		res.Notes = append(res.Notes, fmt.Sprintf("no effect on the local method: %s; stack.local=off plans a nest", strings.Join(without, ", ")))
	}
	return res, err
}

var _ engine.Engine = (*Engine)(nil)
