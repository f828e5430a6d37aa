package join_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// anyEdges draws a pattern whose edges have one label, several, none, or are not of a label.
func anyEdges(s *nodiff.Spec, _ int) *rapid.Generator[*pattern.Pattern] {
	edges := []string{"--", "-[:X]-", "-[:X|Y]-", "-[:!X]-"}
	if s.Directed {
		edges = append(edges, "-->", "<--", "-[:Y]->", "<-[:X|Y]-", "-[:!Y]->")
	}
	return rapid.Custom(func(t *rapid.T) *pattern.Pattern {
		edge := func() string { return rapid.SampledFrom(edges).Draw(t, "edge") }
		text := "MATCH " + rapid.SampledFrom([]string{"", "REPEATABLE ELEMENTS ", "INDUCED "}).Draw(t, "mode")
		text += "(a)" + edge() + "(b)" + edge() + "(c)" + rapid.SampledFrom([]string{"", edge() + "(a)", edge() + "(d)"}).Draw(t, "more")
		q, err := gql.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		return q.Pattern
	}).Filter(func(p *pattern.Pattern) bool { return p.Validate() == nil })
}

// severalLabels are runs that read lists of edges of several labels in a layout of partitions.
func severalLabels() (all []nodiff.Technique) {
	for _, kind := range []string{"interval", "hashed"} {
		for _, tech := range []nodiff.Technique{nodiff.Nest, nodiff.Listing, nodiff.Rooted} {
			tech = tech.With(kind+", "+tech.Name, "join.lists", kind).Said("lists by label, " + kind + "\n.*no one label in common")
			tech.Patterns, tech.Columns = anyEdges, func(w *nodiff.Columns) { w.EdgeLabels = true }
			all = append(all, tech)
		}
	}
	return all
}

// TestSeveralLabels: lists of several labels, of edges without a label and of all edges, in each layout of
// partitions and next to lists of one label, against the oracle.
func TestSeveralLabels(t *testing.T) {
	c := config()
	c.Techniques = severalLabels()
	nodiff.Suite{Plans: 200, Graphs: 5}.Run(t, c, []engine.Engine{c.Engine})
}

// TestGPUSeveralLabels: the same on devices.
func TestGPUSeveralLabels(t *testing.T) {
	onDevice(t, func(t *testing.T, e engine.Engine) {
		c := gpuConfig()
		c.Techniques = severalLabels()
		compare(t, c, e, nodiff.Suite{Plans: 200, Graphs: 3}, nodiff.Suite{Plans: 24, Graphs: 2})
	})
}

// TestRelationThreads: lists of several labels give the same counts whatever the number of threads that make
// them. Making them ends with the context.
func TestRelationThreads(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 12, M: 40000, Directed: true, EdgeLabels: 10, Skew: 1, Seed: 3}, 2)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse("MATCH (a)-[:7]->(b)-->(c)-[:8|9]-(d)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	count := func(ctx context.Context, threads int, lists string) (engine.Uint128, error) {
		r, err := engine.Once(ctx, join.New(), g, p, engine.Options{Threads: threads, Opt: map[string]string{"join.lists": lists}}, engine.Goal{})
		return r.Matches, err
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, lists := range []string{"interval", "hashed"} {
		if _, err := count(ended, 2, lists); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end: %v", lists, err)
		}
	}
	want, err := count(t.Context(), 1, "graph")
	if err != nil || want.IsZero() {
		t.Fatal(want, err)
	}
	for _, lists := range []string{"interval", "hashed"} {
		for _, threads := range []int{1, 2, 7} {
			if n, err := count(t.Context(), threads, lists); err != nil || n != want {
				t.Errorf("%s on %d threads: %v, %v; want %v", lists, threads, n, err, want)
			}
		}
	}
}
