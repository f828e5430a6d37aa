package planner_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestLargeFromFour: patterns of four labelled vertices are for the large method where their links have few pairs, so that
// the plan of a nest would take longer than the search.
func TestLargeFromFour(t *testing.T) {
	labelled := func(n, degree int) *graph.Graph {
		s := nodiff.Spec{N: n}
		for v := range n {
			s.Labels = append(s.Labels, []string{[]string{"A", "B", "C"}[v%3]})
			for k := range degree {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: (v + 1 + k) % n})
			}
		}
		return s.Build()
	}
	few, many := labelled(200, 5), labelled(3000, 10)
	for _, c := range []struct {
		g    *graph.Graph
		text string
		want bool
	}{
		{few, "MATCH (a:A)--(b:B)--(c:C)--(d:A)", true},
		{few, "MATCH (a:A)--(b:B)--(c)--(d:A), (a)--(d)", true},
		{many, "MATCH (a:A)--(b:B)--(c:C)--(d:A)", false},
		{many, "MATCH (a:A)--(b:B)--(c:C)--(d:A)--(e:B)", true},
		{few, "MATCH (a:A)--(b:B)--(c)--(d)", false}, // labels of half of the vertices
		{few, "MATCH (a:A)--(b:B)--(c:C)", false},
	} {
		q, err := gql.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(c.g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Method == plan.Large; got != c.want {
			t.Errorf("%s in %d vertices: method %s", c.text, c.g.NumVertices(), p.Method)
		}
	}
}
