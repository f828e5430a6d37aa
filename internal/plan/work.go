package plan

import "math/big"

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
