package join_test

import (
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

func config() nodiff.Config {
	return nodiff.Config{
		Engine:  join.New(),
		Compile: planner.Compile,
		Opt:     map[string]string{"join.extend": "multi", "join.batch": "1|3", "join.steal": "off"},
	}
}

// TestNoDiff: phases of one vertex and of several, batches of one row and more, against the
// oracle on random small graphs, in all semantics.
func TestNoDiff(t *testing.T) {
	c := config()
	c.Techniques = slices.Clone(nodiff.Nests)
	// Each matching pattern, and eliminations, among phases of several vertices.
	several := nodiff.Technique{Patterns: nodiff.Patterns, MaxPattern: 6, Force: func(o *plan.Options, _ map[string]string) {
		o.Order, o.Given = "geneva", nil
	}}
	for _, kind := range []string{"pattern 1", "pattern 2", "pattern 3", "pattern 4", "pattern 5", "pattern 6", "pattern 7", "elimination"} {
		c.Techniques = append(c.Techniques, several.With(kind, "join.extend", "multi").Said(kind))
	}
	nodiff.Check(t, c)
}

// TestConditions: conditions that compare several vertices and edges.
func TestConditions(t *testing.T) {
	c := config()
	c.Patterns = nodiff.Conditions
	nodiff.Check(t, c)
}

// TestLaws: counts that must not change when vertices are renamed, the pattern is permuted, or
// a second graph stands beside the first.
func TestLaws(t *testing.T) { nodiff.Laws(t, config()) }

var _ engine.Engine = join.New()
