package large

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// method is this package alone as an engine.
type method struct{}

func (method) Name() string { return "large" }

func (method) Check(_ *graph.Graph, p *plan.Plan, _ engine.Options) error { return Supports(p) }

func (method) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, s engine.Sink) (engine.Result, error) {
	return Run(ctx, g, p, o, s)
}

// TestPlans compares compiled plans with the oracle.
func TestPlans(t *testing.T) {
	eager(t)
	nodiff.Check(t, nodiff.Config{Engine: method{}, Compile: plan.Compile, MaxPattern: 6, Methods: []string{"large"}})
}
