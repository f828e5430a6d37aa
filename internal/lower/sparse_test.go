package lower_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestSparseAgreesWithOracle interprets random plans over sparse lists, which stay so or get offsets of the program's own.
func TestSparseAgreesWithOracle(t *testing.T) {
	for _, e := range []interpreted{
		{o: lower.Options{Roomy: true, Sparse: lower.AsStored}, room: -1},
		{o: lower.Options{Roomy: true, Sparse: lower.AsStored, Off: "fold,hoist,share,dead"}, room: -1},
		{o: lower.Options{Roomy: true, Sparse: lower.OwnOffsets}, room: -1},
		{o: lower.Options{View: lower.Checks, Choices: true, Sparse: lower.AsStored}},
	} {
		t.Run(fmt.Sprintf("%s/%d", e.Name(), e.o.Sparse), func(t *testing.T) {
			x := &parts.Trial{Layout: parts.Sparse}
			c := nodiff.Config{Whole: true, Compile: x.Compile(nest), MaxPattern: 6}
			over := []engine.Engine{x.Engine(engines.Of(e))}
			suite := nodiff.Suite{Plans: 12, Graphs: 4}
			suite.Run(t, c, over)
			c.MaxPattern, c.Patterns = 0, nodiff.Conditions
			suite.Run(t, c, over)
			x.Enough(t)
		})
	}
}

// TestSparseGlobals: the globals of sparse lists have the lists of their relation, with one level of bitmaps and with several, and
// a program that keeps them as they are makes no offsets.
func TestSparseGlobals(t *testing.T) {
	for levels, n := range map[int]int{1: 256, 2: 10_000, 3: 20_000, 4: 1_200_000} {
		s := nodiff.Spec{N: n, Directed: true, EdgeLabels: true, Edges: []nodiff.SpecEdge{{U: 3, V: 7, Label: "B"}}}
		for v := 0; v < 30; v += 2 {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: v * (n / 60), V: v + 1, Label: "A"}, nodiff.SpecEdge{U: v * (n / 60), V: v + 2, Label: "A"})
		}
		g := s.Build()
		q, err := gql.Parse("MATCH (a)-[:A]->(b)<-[:A]-(c)")
		if err != nil {
			t.Fatal(err)
		}
		p, err := nest(g, q.Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		code, err := lower.Plan(p, lower.Options{Roomy: true, Sparse: lower.AsStored})
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		var scratch graph.Scratch
		for i, x := range code.Program.Globals[:len(p.Adjs)] {
			if x.Kind != kir.Adj || x.Sparse == nil || x.Off != nil || x.Vertices() != n {
				t.Fatalf("%d vertices: global %d is not of sparse lists: %s, %v, %d offsets, %d vertices", n, i, x.Name, x.Sparse != nil, len(x.Off), x.Vertices())
			}
			most = max(most, x.Sparse.Levels)
			for v := range uint32(n) {
				if !slices.Equal(x.List(v), p.Adjs[i].Lists.List(v, &scratch)) {
					t.Fatalf("%d vertices: %s of %d is %v", n, x.Name, v, x.List(v))
				}
			}
		}
		if most != levels {
			t.Errorf("%d vertices: %d levels of bitmaps, want %d", n, most, levels)
		}
	}
}
