package codegen_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestConditions binds edges to data edges and compares several of them, and
// vertices, with each other, or asks for an order and windows of their times.
func TestConditions(t *testing.T) {
	checks(t)
	on(t, func(t *testing.T, e engine.Engine) {
		nodiff.Check(t, nodiff.Config{
			Engine: e, Patterns: nodiff.Choices, Columns: nodiff.Timed, MaxPattern: 4, Opt: lookups,
			Compile: func(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
				o.Method = "nest"
				return planner.Compile(g, p, o)
			},
		})
	})
}
