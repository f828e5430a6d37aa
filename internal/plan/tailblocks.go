package plan

import (
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
)

// TailBlocks lists the intersections that evaluating Tail.Groups may need, as
// sets of groups (bit g is Groups[g]): those whose label ranges allow a vertex in
// common, ascending; under Hom the groups alone.
func (pl *Plan) TailBlocks() (masks []uint32) {
	groups := pl.Tail.Groups
	meet := make([]uint32, len(groups)) // of each group, which others it meets
	for i, g := range groups {
		for j, h := range groups {
			if i == j || pl.Mode == pattern.Iso && Overlap(pl.Levels[g.Levels[0]].Ranges, pl.Levels[h.Levels[0]].Ranges) {
				meet[i] |= 1 << j
			}
		}
	}
	for mask := uint32(1); mask < 1<<len(groups); mask++ {
		if !slices.ContainsFunc(pattern.Members(mask), func(g int) bool { return mask&^meet[g] != 0 }) {
			masks = append(masks, mask)
		}
	}
	return masks
}
