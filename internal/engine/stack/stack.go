// Package stack runs plans on GPUs by depth-first search with an explicit stack a
// warp, in one persistent kernel: STMatch (Wei and Jiang, STMatch: Accelerating
// Graph Pattern Matching on GPU with Stack-Based Loop Optimizations, SC 2022).
//
// The device code is in package kernels: stack/stack.cuh and what it includes. This
// package chooses what to launch: it has a plan lowered to text, puts it together
// with the schedule, decides how much memory the sets get and how the roots are
// cut into tasks, and reads the counters afterwards.
//
// It knows plans and sessions, and must not know the pattern language, other
// engines or where results go.
package stack

import (
	"context"
	"fmt"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
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

// schedule is a way to search on a device: one for each method that the engine
// runs.
type schedule interface {
	// check says why p cannot be run this way, or nil.
	check(e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options) error
	// run counts the matches of p, or hands them to sink where that is not nil.
	run(ctx context.Context, e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options, sink engine.Sink) (engine.Result, error)
}

// schedules are those that the engine has; each is entered by its own file.
var schedules = map[plan.Method]schedule{plan.Nest: nest{}}

// MethodError says that a plan's method is none of the engine's: Plan has to be
// compiled again with Options.Method set to one of Methods.
type MethodError struct {
	Method  plan.Method
	Methods []string
}

func (e *MethodError) Error() string {
	return fmt.Sprintf("the engine stack does not run plans by the method %v; plan with one of %v", e.Method, e.Methods)
}

// Methods are the names of the plan methods that the engine runs, for
// plan.Options.Method.
func Methods() []string {
	var out []string
	for m := range plan.Walks + 1 {
		if schedules[m] != nil {
			out = append(out, m.String())
		}
	}
	return out
}

// pick is the schedule for a run: another method than the nest only counts, and
// has no statistics of levels.
func pick(p *plan.Plan, o engine.Options, listing bool) schedule {
	if p.Method == plan.Local && (listing || o.Levels) {
		return schedules[plan.Nest]
	}
	return schedules[p.Method]
}

// Check says why p cannot run here, or nil. A *MethodError asks for another plan
// of the same pattern.
func (e *Engine) Check(g *graph.Graph, p *plan.Plan, o engine.Options) error {
	if o.PerRoot != nil && !p.Rooted {
		return fmt.Errorf("counts per vertex need a rooted plan")
	}
	s := pick(p, o, false)
	if s == nil {
		return &MethodError{p.Method, Methods()}
	}
	return s.check(e, g, p, o)
}

// Run counts the matches of p when sink is nil, else hands every match to it.
func (e *Engine) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, sink engine.Sink) (engine.Result, error) {
	if err := e.Check(g, p, o); err != nil {
		return engine.Result{}, err
	}
	res := engine.Result{Complete: true, Device: e.s.String()}
	var err error
	if p.Empty == nil {
		res, err = pick(p, o, sink != nil).run(ctx, e, g, p, o, sink)
	}
	res.Engine = e.Name()
	return res, err
}

var _ engine.Engine = (*Engine)(nil)
