package bind_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
)

// TestReduceThreads: semijoins leave the same candidates for any number of threads, over lists with an
// offset for each vertex, sparse ones, and those of either direction.
func TestReduceThreads(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 13, M: 150000, Directed: true, EdgeLabels: 20, Skew: 1, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"MATCH (a)-[:0]->(b)-[:1]->(c)-[:2]->(a)",
		"MATCH (a)-[:0]->(b)-[:17]->(c), (b)<-[:19]-(d)",
		"MATCH (a)-[:3]-(b)-[:18]-(c)-[:0]-(d)-[:2]->(a)",
		"MATCH (a)-->(b)-[:12]->(c)-->(d)-[:15]->(a)",
	} {
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		reduce := func(threads int) *bind.Binding {
			b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			b.Reduce()
			return b
		}
		want := reduce(1)
		if reflect.DeepEqual(want.Reduction.Before, want.Reduction.After) {
			t.Fatalf("%s: semijoins drop no candidate", text)
		}
		for _, threads := range []int{2, 7} {
			got := reduce(threads)
			if !reflect.DeepEqual(got.Reduction, want.Reduction) || !reflect.DeepEqual(got.Vertices, want.Vertices) {
				t.Errorf("%s: %d threads leave %v candidates, one leaves %v", text, threads, got.Reduction.After, want.Reduction.After)
			}
		}
	}
}

// TestReduceEnds: semijoins whose context has ended change nothing.
func TestReduceEnds(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 6, M: 300, Directed: true, EdgeLabels: 2, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse("MATCH (a)-[:0]->(b)-[:1]->(c)")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b, err := bind.Bind(g, q.Pattern, plan.Options{Root: plan.NoRoot, Context: ctx})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if b.Reduce(); b.Reduction != nil {
		t.Error("candidates were reduced after the context had ended")
	}
}
