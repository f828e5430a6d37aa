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
	return slices.ContainsFunc(lv.Back, func(b Back) bool { return b.Level == j && !b.Neg })
}
