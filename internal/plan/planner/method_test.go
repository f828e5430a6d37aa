package planner_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestMethods: which method counts small patterns on a graph with hubs. That a wedge is counted from degrees and not by the neighbours of its
// middle makes a hundredfold of its time.
func TestMethods(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 10, M: 20_000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query   string
		induced bool
		want    plan.Method
	}{
		{"MATCH (a)--(b)--(c)", false, plan.Nest},
		{"MATCH (a)--(b), (a)--(c), (a)--(d)", false, plan.Nest},
		{"MATCH (a)--(b)--(c)--(a)", false, plan.Local},
		{"MATCH (a)--(b)--(c)--(a)", true, plan.Local},
		{"MATCH (a)--(b)--(c)--(a), (a)--(d)--(b), (c)--(d)", false, plan.Local},
		{"MATCH (m)--(a), (m)--(b), (m)--(c), (m)--(d)", true, plan.Decomposed},
	} {
		q, err := gql.Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		q.Pattern.Induced = c.induced
		if pl, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot}); err != nil || pl.Method != c.want {
			t.Errorf("%s, induced %t: %v: %v, want %v (%s)", c.query, c.induced, err, pl.Method, c.want, pl.Why)
		}
	}
}
