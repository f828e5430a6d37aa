package large

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// method is this package alone as an engine.
type method struct{}

func (method) Name() string { return "large" }

func (method) Check(_ *graph.Graph, p *plan.Plan, _ engine.Options) error { return Supports(p) }

func (method) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, goal engine.Goal) (engine.Result, error) {
	return Run(ctx, g, p, o, goal)
}

// TestPlans compares compiled plans with the oracle.
func TestPlans(t *testing.T) {
	eager(t)
	nodiff.Check(t, nodiff.Config{
		Engine: engines.Of(method{}), Compile: planner.Compile, MaxPattern: 6, Method: "large", Patterns: nodiff.Labelled,
		Techniques: []nodiff.Technique{nodiff.Large, nodiff.LargeListing}, LeastRuns: 20,
	})
}

// TestDoubled: a candidate that one of two edges excludes may have been all that
// another candidate had for the other edge.
func TestDoubled(t *testing.T) {
	eager(t)
	// 0 and 2 have edges both ways; 0 has one from 3, and 1 one to 3 and one from 4.
	g := (&nodiff.Spec{Directed: true, N: 5, Labels: [][]string{{"A"}, {"A"}, {"B"}, {"B"}, {"B"}}, Edges: []nodiff.SpecEdge{
		{U: 0, V: 2}, {U: 2, V: 0}, {U: 1, V: 3}, {U: 3, V: 0}, {U: 4, V: 1},
	}}).Build()
	q, err := gql.Parse("MATCH (u:A)-->(v:B)-->(u)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: "large"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Run(t.Context(), g, p, engine.Options{}, engine.Goal{}); err != nil || got.Matches != engine.U64(1) {
		t.Errorf("%v matches, want 1: %v", got.Matches, err)
	}
	rounds := 20
	if testing.Short() {
		rounds = 4
		t.Log("-short: a fifth of the random patterns, for the race detector's sake")
	}
	for range rounds {
		nodiff.Check(t, nodiff.Config{Engine: engines.Of(method{}), Compile: planner.Compile, MaxPattern: 6, Method: "large", Patterns: nodiff.Doubled, MaxVertices: 12})
	}
}
