package cost_test

import (
	"math"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/cost"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestJointDegrees: the model knows that vertices with many edges of one label have few of another,
// and is exact for stars. One that multiplies mean degrees would expect 9 times as many.
func TestJointDegrees(t *testing.T) {
	// Vertex 0 has 30 edges of X and 1 of Y; vertex 1 has 1 of X and 30 of Y; vertex 2 has 30 of X and none of Y.
	s := nodiff.Spec{N: 100, Directed: true, EdgeLabels: true}
	for u, n := range [][2]int{{30, 1}, {1, 30}, {30, 0}} {
		for i := range n[0] {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: 10 + i, Label: "X"})
		}
		for i := range n[1] {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: 50 + i, Label: "Y"})
		}
	}
	q, err := gql.Parse("MATCH (a)-[:X]->(b), (a)-[:Y]->(c)")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(s.Build(), q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	b.Reduce()
	if got := b.Reduction.After[0]; got != 2 { // vertex 2 has no edge of Y
		t.Errorf("%d candidates of a are left, want 2", got)
	}
	if got := cost.NewStatistics(b).Card(7); math.Abs(got-60) > 1e-6 {
		t.Errorf("%g matches expected, there are 60", got)
	}
}

// TestParallelLinks: the model knows how many of the edges of one label run parallel to edges of another.
func TestParallelLinks(t *testing.T) {
	s := nodiff.Spec{N: 40, Directed: true, EdgeLabels: true}
	for u := range 20 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: 20 + u, Label: "X"}, nodiff.SpecEdge{U: 20 + u, V: u, Label: "Y"}, nodiff.SpecEdge{U: u, V: 20 + (u+1)%20, Label: "X"})
	}
	q, err := gql.Parse("MATCH (a)-[:X]->(b)-[:Y]->(a), (b)-[:Y]->(c)")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(s.Build(), q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	b.Reduce()
	if got := cost.NewStatistics(b).Card(3); math.Abs(got-20) > 1e-6 {
		t.Errorf("%g pairs expected, there are 20", got)
	}
}

// TestParallelLinksApart: where no edge of one label runs parallel to one of another, no match is expected.
func TestParallelLinksApart(t *testing.T) {
	s := nodiff.Spec{N: 40, Directed: true, EdgeLabels: true}
	for u := range 20 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: 20 + u, Label: "X"}, nodiff.SpecEdge{U: 20 + u, V: (u + 1) % 20, Label: "Y"})
	}
	q, err := gql.Parse("MATCH (a)-[:X]->(b)-[:Y]->(a), (b)-[:Y]->(c)")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(s.Build(), q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	b.Reduce()
	if b.Empty != nil {
		t.Fatal("semijoins alone leave no candidate")
	}
	if got := cost.NewStatistics(b).Card(7); got != 0 {
		t.Errorf("%g matches expected, there are none", got)
	}
}

// TestCyclesClose: where neighbours are often adjacent, more cycles of four are expected than in a random graph.
func TestCyclesClose(t *testing.T) {
	s := nodiff.Spec{N: 800}
	for u := range s.N {
		for v := u + 1; v < u/8*8+8; v++ {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: v})
		}
	}
	q, err := gql.Parse("MATCH (a)--(b)--(c)--(d)--(a)")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Bind(s.Build(), q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	if got, random := cost.NewStatistics(b).Card(15), math.Pow(7, 4); got < 2*random {
		t.Errorf("%g matches expected; a random graph has %g", got, random)
	}
}
