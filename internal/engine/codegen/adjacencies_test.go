package codegen_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestManyAdjacencies: a condition asks adjacencies beyond those that have tables.
func TestManyAdjacencies(t *testing.T) {
	s := &nodiff.Spec{N: 12, Directed: true, EdgeLabels: true}
	for u := range 12 {
		for v := range 12 {
			if u != v && (u*7+v*5)%3 != 0 {
				s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: v, Label: []string{"X", "Y", "Z", "W"}[(3*u+v*v+u*v/2)%4]})
			}
		}
	}
	q, err := gql.Parse("MATCH (a)-[:X]->(b)-[:Y]->(c) WHERE EXISTS { (a)-[:Z]->(z) WHERE id(z) > 0 } OR NOT EXISTS { (c)-[:W]->(b) }")
	if err != nil {
		t.Fatal(err)
	}
	g := s.Build()
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: "nest", Seed: 1, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), oracle.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	on(t, func(t *testing.T, e engine.Engine) {
		for _, lookup := range []string{"bits", "hash", "search"} {
			o := engine.Options{Opt: map[string]string{"codegen.lookup": lookup}}
			if r, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{}); err != nil || r.Matches != want.Matches {
				t.Errorf("%s: %v, %v; want %v", lookup, r.Matches, err, want.Matches)
			}
		}
	})
}
