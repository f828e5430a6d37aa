package irgen_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/testing/matcharun"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/view"
)

// TestSparseSubgraph: a program's arrays of a subgraph by a label of few edges do not grow with the graph, and the program holds no more
// of it.
func TestSparseSubgraph(t *testing.T) {
	const n = 1 << 17 // more than have offsets
	s := nodiff.Spec{N: n, Directed: true, EdgeLabels: true}
	for v := range 300 {
		s.Edges = append(s.Edges, nodiff.SpecEdge{U: v, V: v + 1, Label: "A"}, nodiff.SpecEdge{U: v + 1, V: v, Label: "B"})
	}
	g := s.Build()
	in := map[string]data.Input{"D": {Graph: g, View: view.Of{Graph: g}}}
	const text = `input D: Graph
let R = subgraph(D, '(a)-[:A]->(b)')
return sum(apply(lambda e: size(neighbor(R, get(e, 1))) + size(neighbor(R, get(e, 0))), None, edges(R)))
`
	_, set, code := matcharun.Lowered(t, text, in)
	bytes := 0
	of := kir.Program{Globals: slices.DeleteFunc(slices.Clone(code.Program.Globals), func(g *kir.GlobalDef) bool { return g.Name == "D" })} // without the graph itself
	of.EachArray(func(b []byte) []byte {
		bytes += len(b)
		return b
	})
	if bytes == 0 || set.Held() == 0 || bytes >= n/8 || set.Held() >= n/8 {
		t.Errorf("a subgraph of 300 edges takes %d bytes of arrays, and %d bytes are held, in a graph of %d vertices", bytes, set.Held(), n)
	}
	if got, err := matcharun.Interpreted(t, text, in); err != nil || got != fmt.Sprint([]string{}, []int{599}) {
		t.Errorf("%s, %v", got, err)
	}
}
