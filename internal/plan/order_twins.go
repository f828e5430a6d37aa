package plan

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
)

// twinsLast returns the vertices of a large pattern that every good order of a
// count has at its end: groups of interchangeable ones, which the tail closes
// whatever their number, as long as the rest stays connected. What is left to
// order is the pattern's core: one vertex of a star, three of a triangle with
// leaves.
func (b *binding) twinsLast(o Options) (last uint32) {
	if b.n <= exhaustive || o.Listing || o.NoTail || b.p.Mode == pattern.Trail {
		return 0
	}
	s := b.statistics()
	var groups []uint32
	var done uint32
	for v := range b.n {
		if done>>v&1 != 0 {
			continue
		}
		group := uint32(0)
		for u := v; u < b.n; u++ {
			if b.near[u] == b.near[v] && b.far[u] == b.far[v] && s.class[u] == s.class[v] && b.free(u) && u != o.Root {
				group |= 1 << u
			}
		}
		done |= group
		if bits.OnesCount32(group) > 1 {
			groups = append(groups, group)
		}
	}
	slices.SortStableFunc(groups, func(x, y uint32) int { return bits.OnesCount32(y) - bits.OnesCount32(x) })
	parts := components(b.near, b.all())
	taken := 0
	var linked uint32
	for _, group := range groups {
		v := bits.TrailingZeros32(group)
		if taken == MaxTail || linked&group != 0 {
			continue
		}
		// The rest may hang together by one of them.
		for _, some := range []uint32{group, group & (group - 1)} {
			rest := b.all() &^ last &^ some
			if rest != 0 && components(b.near, rest) == parts {
				last |= some
				linked |= b.near[v] | b.far[v]
				taken++
				break
			}
		}
	}
	return last
}

// free reports whether v takes part in no condition over several vertices and in
// no choice of an edge.
func (b *binding) free(v int) bool {
	return b.tied(v) == 0 && !slices.ContainsFunc(b.edges, func(e boundEdge) bool {
		return b.p.Edges[e.edge].From == v || b.p.Edges[e.edge].To == v
	})
}
