package plan

import (
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
)

// TailBlocks lists the intersections that an evaluation of Tail.Groups may need, in ascending
// order. Each is a set of groups (bit g is Groups[g]) whose label ranges have a vertex in
// common. Under Hom only single groups are listed.
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
