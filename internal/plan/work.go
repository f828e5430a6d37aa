package plan

import (
	"math/big"

	"github.com/weftgraph/weft/internal/graph"
)

// fitsCache is how many vertices a graph has of which the offsets of a few lists stay in a core's own
// cache. There an offset is found faster than a sparse list; elsewhere a sparse list is.
const fitsCache = 1 << 16

// OffsetsFit reports whether offsets for each vertex are faster to read than sparse lists, in a search that is long enough to make
// them first.
func OffsetsFit(g *graph.Graph) bool { return g.NumVertices() <= fitsCache }

// worthOffsets is the work of a search for each vertex of a small graph from which on sparse lists get an offset for each vertex
// first. To make them takes less time than a compilation.
const worthOffsets = 4

// OffsetsPay reports whether generated code is to read offsets for each vertex in place of sparse lists: in a long search of a small graph.
func (pl *Plan) OffsetsPay() bool {
	return OffsetsFit(pl.Graph) && pl.Work() > worthOffsets*float64(pl.Graph.NumVertices())
}

// Work is the estimated cost of counting with this plan, in set elements read.
func (pl *Plan) Work() float64 {
	if pl.Formula != nil && pl.Method == Decomposed {
		return pl.Formula.Cost
	}
	if pl.Price > 0 {
		return pl.Price
	}
	var w float64
	for i := range pl.Levels {
		w += pl.Levels[i].Cost
	}
	return w
}

// RootSymmetry is the number of automorphisms that fix the vertex at level 0:
// for a rooted plan, embeddings at a vertex = matches there × RootSymmetry.
func (pl *Plan) RootSymmetry() *big.Int {
	if !pl.Restricted {
		return big.NewInt(1)
	}
	return pl.Pattern.Automorphisms().Stabilizer([]int{pl.Order[0]}).Order()
}

// Rows returns how many rows a join without merges is expected to make, and MergedRows how many with them; 0: that was not asked. Those of
// the tail are not made.
func (p *Plan) Rows() (rows float64) {
	for l := range min(max(len(p.Levels)-p.Tail.K, 1), len(p.Levels)) {
		rows += p.Levels[l].Estimate
	}
	return rows
}

// MergedRows: see Rows.
func (p *Plan) MergedRows() (rows float64) {
	for l := range min(max(len(p.Levels)-p.Tail.K, 1), len(p.Levels)) {
		rows += p.Levels[l].Rows
	}
	return rows
}
