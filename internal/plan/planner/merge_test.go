package planner_test

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestMergeOrder: an order for a join that merges rows begins at an end of a path with labels of its own, so that one vertex has neighbours to
// come at a time, or at the vertex next to it, as the end is a factor of the weight then. A listing, and a count by vertex, have no such order.
func TestMergeOrder(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 4000, M: 60000, VertexLabels: 8, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for v := range 8 {
		parts = append(parts, "("+string(rune('a'+v))+":"+g.VertexLabels[v]+")")
	}
	q, err := gql.Parse("MATCH " + strings.Join(parts, "--"))
	if err != nil {
		t.Fatal(err)
	}
	compile := func(o plan.Options) *plan.Plan {
		o.Order = plan.MergeOrder
		p, err := planner.Compile(g, q.Pattern, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := compile(plan.Options{Root: plan.NoRoot})
	if first := p.Order[0]; first > 1 && first < 6 || p.Levels[6].Rows <= 0 || p.Levels[6].Rows > p.Levels[6].Estimate || p.Levels[5].Left > p.Levels[5].Rows {
		t.Errorf("order %v (%s), %v rows of %v", p.Order, p.Why, p.Levels[6].Rows, p.Levels[6].Estimate)
	}
	for _, c := range []struct {
		why string
		o   plan.Options
	}{
		{"a listing", plan.Options{Root: plan.NoRoot, Listing: true}},
		{"a count by vertex", plan.Options{Root: 3}},
	} {
		if p := compile(c.o); p.Levels[6].Rows != 0 {
			t.Errorf("%s: %v rows, by %s", c.why, p.Levels[6].Rows, p.Why)
		}
	}
}
