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
	for _, off := range [][]uint64{g.Out.Off, g.Any().Off, g.RelationByLabel(graph.NoLabel).Out.Off} {
		if !g.Holds(off) {
			t.Error("lists that the graph keeps")
		}
		if g.Holds(slices.Clone(off)) {
			t.Error("a copy")
		}
	}
	if other != nil && g.Holds(other.Out.Off) || g.Holds(nil) {
		t.Error("lists of a query")
	}
}
