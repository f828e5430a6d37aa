package order

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
)

// twinsLast returns the vertices of a large pattern that every good order of a count has at its
// end. They are groups of interchangeable vertices, which the tail closes whatever their
// number, as long as the rest stays connected. The pattern's core remains to be ordered: one
// vertex of a star, three of a triangle with leaves.
func (b *Rules) twinsLast(o plan.Options) (last uint32) {
	if b.N <= exhaustive || o.Listing || o.NoTail || b.Pattern.Mode == pattern.Trail {
		return 0
	}
	s := b.statistics()
	var groups []uint32
	var done uint32
	for v := range b.N {
		if done>>v&1 != 0 {
			continue
		}
		group := uint32(0)
		for u := v; u < b.N; u++ {
			if b.Near[u] == b.Near[v] && b.Far[u] == b.Far[v] && s.Class[u] == s.Class[v] && b.free(u) && u != o.Root {
				group |= 1 << u
			}
		}
		done |= group
		if bits.OnesCount32(group) > 1 {
			groups = append(groups, group)
		}
	}
	slices.SortStableFunc(groups, func(x, y uint32) int { return bits.OnesCount32(y) - bits.OnesCount32(x) })
	parts := pattern.Components(b.Near, b.all())
	taken := 0
	var linked uint32
	for _, group := range groups {
		v := bits.TrailingZeros32(group)
		if taken == plan.MaxTail || linked&group != 0 {
			continue
		}
		// The rest may hang together by one of them.
		for _, some := range []uint32{group, group & (group - 1)} {
			rest := b.all() &^ last &^ some
			if rest != 0 && pattern.Components(b.Near, rest) == parts {
				last |= some
				linked |= b.Near[v] | b.Far[v]
				taken++
				break
			}
		}
	}
	return last
}

// free reports whether v takes part in no condition over several vertices and in
// no choice of an edge.
func (b *Rules) free(v int) bool {
	return b.Tied(v) == 0 && !slices.ContainsFunc(b.Edges, func(e bind.Edge) bool {
		return b.Pattern.Edges[e.Edge].From == v || b.Pattern.Edges[e.Edge].To == v
	})
}
