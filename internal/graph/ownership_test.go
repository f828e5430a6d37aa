package graph_test

import (
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
)

func TestHolds(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 5, M: 60, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := graph.EdgeRelation(t.Context(), g, 1, func(row int) bool { return true })
	if err != nil && g.Edges != nil {
		t.Fatal(err)
	}
	sparse := g.RelationByLabel(0) // which the graph does not have
	if sparse.Out.Sparse == nil {
		t.Error("no edges in lists that are not sparse")
	}
	for _, lists := range []graph.Lists{g.Out.Lists(), g.Any().Lists(), g.RelationByLabel(graph.NoLabel).Out, sparse.Out, sparse.Either()} {
		if !g.Holds(lists) {
			t.Error("lists that the graph keeps")
		}
		if c := lists.Dense; c != nil && g.Holds((&graph.CSR{Off: slices.Clone(c.Off)}).Lists()) {
			t.Error("a copy")
		}
	}
	if other != nil && g.Holds(other.Out) || g.Holds(g.NoRelation().Out) || g.Holds(graph.Lists{}) {
		t.Error("lists of a query")
	}
}
