package gpu

import (
	"slices"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
)

// ListVertices adds to a program the vertices that have the lists of an adjacency, ascending, if the program reads sparse lists there: kernels
// then find a vertex by the number of its list. It returns nil if the program reads an offset for each vertex.
func ListVertices(p *kir.Program, adj *kir.GlobalDef, lists *graph.Handle) *kir.GlobalDef {
	if adj.Sparse == nil {
		return nil
	}
	return p.AddGlobal(&kir.GlobalDef{Name: adj.Name + " (vertices)", Kind: kir.Array, Adj: slices.Collect(lists.Sparse.Vertices), Of: adj.Of})
}
