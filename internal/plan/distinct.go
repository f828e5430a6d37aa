package plan

import "slices"

// addDistinct lists for each level the earlier levels that could hold the same
// vertex and must not: those that no neighbour list (graphs have no self-loops),
// no restriction and no pair of disjoint label ranges keeps apart.
func addDistinct(pl *Plan, less *poset) {
	for l := range pl.Levels {
		lv := &pl.Levels[l]
		for j := range l {
			if !apart(pl, less, j, l) {
				lv.Distinct = append(lv.Distinct, j)
			}
		}
	}
}

// apart reports whether levels j < l differ by what the plan says anyway.
func apart(pl *Plan, less *poset, j, l int) bool {
	lv := &pl.Levels[l]
	if less.ordered(j, l) || !overlap(lv.Ranges, pl.Levels[j].Ranges) {
		return true
	}
	return slices.ContainsFunc(lv.Back, func(b Back) bool { return b.Level == j && !b.Neg || b.Level != j && toldApart(pl, j, b) })
}

// toldApart reports whether a list that another vertex's backward neighbour b is
// in, or is not in, is one that level j's vertex must not, or must, be in: in an
// induced pattern any two vertices are told apart so by a third that only one of
// them is a neighbour of.
func toldApart(pl *Plan, j int, b Back) bool {
	if b.Level < j {
		return slices.Contains(pl.Levels[j].Back, Back{Level: b.Level, Adj: b.Adj, Neg: !b.Neg})
	}
	return slices.Contains(pl.Levels[b.Level].Back, Back{Level: j, Adj: pl.Adjs[b.Adj].Rev, Neg: !b.Neg})
}
