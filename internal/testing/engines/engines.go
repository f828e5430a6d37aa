// Package engines helps tests of engines. It makes an engine of two functions, gives an engine
// options, checks what Prepare refuses, and opens sessions.
package engines

import (
	"context"
	"maps"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// Direct is an engine that prepares nothing: Check refuses plans, and Run runs them.
type Direct interface {
	Name() string
	Check(g *graph.Graph, p *plan.Plan, o engine.Options) error
	Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, goal engine.Goal) (engine.Result, error)
}

// Of returns d as an engine.
func Of(d Direct) engine.Engine { return direct{d} }

type direct struct{ d Direct }

func (e direct) Name() string { return e.d.Name() }

func (e direct) Prepare(_ context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	return prepared{e.d, g, p, o}, e.d.Check(g, p, o)
}

type prepared struct {
	d Direct
	g *graph.Graph
	p *plan.Plan
	o engine.Options
}

func (prepared) Traits() engine.Traits { return engine.Traits{} }

func (prepared) Compile(context.Context) {}

func (x prepared) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	return x.d.Run(ctx, x.g, x.p, x.o, goal)
}

// With is e with more options in each run.
func With(e engine.Engine, opt map[string]string) engine.Engine { return with{e, opt} }

type with struct {
	engine.Engine
	opt map[string]string
}

func (e with) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	all := maps.Clone(e.opt)
	maps.Copy(all, o.Opt)
	o.Opt = all
	return e.Engine.Prepare(ctx, g, p, o)
}

// Refusal is the error of preparing p.
func Refusal(e engine.Engine, g *graph.Graph, p *plan.Plan, o engine.Options) error {
	_, err := e.Prepare(context.Background(), g, p, o)
	return err
}
