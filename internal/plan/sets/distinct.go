package sets

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// addDistinct lists, for each level, the earlier levels that could hold the same vertex and
// must not. A neighbour list (graphs have no self-loops), a restriction, or a pair of disjoint
// label ranges keeps two levels apart, and such levels are left out.
func addDistinct(pl *plan.Plan, less *Poset) {
	excluding := false
	for l := range pl.Levels {
		for _, b := range pl.Levels[l].Back {
			excluding = excluding || b.Neg
		}
	}
	for l := range pl.Levels {
		lv := &pl.Levels[l]
		apart := less.below[l] | less.above[l]
		for _, b := range lv.Back {
			if !b.Neg {
				apart |= 1 << b.Level
			}
		}
		var same uint32
		for m := (1<<l - 1) &^ apart; m != 0; m &= m - 1 {
			j := bits.TrailingZeros32(m)
			if plan.Overlap(lv.Ranges, pl.Levels[j].Ranges) &&
				!(excluding && slices.ContainsFunc(lv.Back, func(b plan.Back) bool { return b.Level != j && toldApart(pl, j, b) })) {
				same |= 1 << j
			}
		}
		lv.Distinct = pattern.Members(same)
	}
}

// toldApart reports whether a third vertex keeps level j's vertex from being the vertex that
// has the backward neighbour b. It does if b's list must contain one of the two and must not
// contain the other. In an induced pattern a third vertex that is adjacent to only one of two
// vertices tells them apart.
func toldApart(pl *plan.Plan, j int, b plan.Back) bool {
	if b.Level < j {
		return slices.Contains(pl.Levels[j].Back, plan.Back{Level: b.Level, Adj: b.Adj, Neg: !b.Neg})
	}
	return slices.Contains(pl.Levels[b.Level].Back, plan.Back{Level: j, Adj: pl.Adjs[b.Adj].Rev, Neg: !b.Neg})
}
