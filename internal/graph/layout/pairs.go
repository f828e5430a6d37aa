package layout

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
)

// A pair is two ids in one number: a vertex above bit 32, its neighbour below.

// pairs returns the pairs of a partition, in any order. It takes the rows of a label in blocks, or ranges of vertices, and each
// has its place in the result.
func (r *Rows) pairs(ctx context.Context, label uint32, side Side, renumbered []uint32, threads int) ([]uint64, error) {
	var size uint64
	switch {
	case r.by != nil:
		size = uint64(len(r.by.Of(label)))
	case label != graph.NoLabel:
		return nil, nil
	default:
		size = uint64(len(r.g.Out.Adj)) // each edge of an undirected graph from both ends
		if !r.g.Directed {
			side = Out
		}
	}
	if side == Both {
		size *= 2
	}
	if size >= 1<<32 {
		return nil, ErrTooLong
	}
	pairs := make([]uint64, size)
	put := func(at int, u, v uint32) {
		if renumbered != nil {
			u, v = renumbered[u], renumbered[v]
		}
		a, b := uint64(u), uint64(v)
		switch side {
		case Out:
			pairs[at] = a<<32 | b
		case In:
			pairs[at] = b<<32 | a
		default:
			pairs[2*at], pairs[2*at+1] = a<<32|b, b<<32|a
		}
	}
	if r.by != nil {
		rows := r.by.Of(label)
		return pairs, blocksOf(len(rows), threads).each(ctx, func(_, lo, hi int) {
			for at, i := range rows[lo:hi] {
				put(lo+at, r.g.Edges.Src[i], r.g.Edges.Dst[i])
			}
		})
	}
	return pairs, graph.Parallel(ctx, r.g.Out.Off, threads, func(lo, hi uint32) {
		for u := lo; u < hi; u++ {
			for at, v := range r.g.Out.List(u) {
				put(int(r.g.Out.Off[u])+at, u, v)
			}
		}
	})
}

// digitBits is the most bits of a digit by which pairs are sorted: its counters stay in the first cache.
const digitBits = 11

// sortPairs sorts pairs of numbers of width bits by vertex and neighbour, or by vertex alone, where it keeps the order of
// pairs of one vertex. It returns them in the slice that was given or in a new one. Why: threads share each pass over a digit, from
// the lowest to the highest, so that no thread has a long list alone.
func sortPairs(ctx context.Context, pairs []uint64, vertices bool, width, threads int) ([]uint64, error) {
	first := 0
	if vertices {
		first = 32
	}
	if len(pairs) < 512 {
		slices.SortStableFunc(pairs, func(a, b uint64) int { return cmp.Compare(a>>first, b>>first) })
		return pairs, nil
	}
	digit := digitBits
	if passes := (width + digitBits - 1) / digitBits; passes > 0 {
		digit = (width + passes - 1) / passes
	}
	mask := uint64(1)<<digit - 1
	k := blocksOf(len(pairs), threads)
	other := make([]uint64, len(pairs))
	at := make([][1 << digitBits]int, k.n)
	for half := first; half <= 32; half += 32 {
		for shift := half; shift < half+width; shift += digit {
			if err := k.each(ctx, func(b, lo, hi int) {
				n := &at[b]
				clear(n[:])
				for _, p := range pairs[lo:hi] {
					n[p>>shift&mask]++
				}
			}); err != nil {
				return nil, err
			}
			sum := 0
			for d := range mask + 1 {
				for b := range at {
					at[b][d], sum = sum, sum+at[b][d]
				}
			}
			if err := k.each(ctx, func(b, lo, hi int) {
				to := &at[b]
				for _, p := range pairs[lo:hi] {
					d := &to[p>>shift&mask]
					other[*d] = p
					*d++
				}
			}); err != nil {
				return nil, err
			}
			pairs, other = other, pairs
		}
	}
	return pairs, nil
}

// sortAll sorts pairs of numbers of width bits, and returns them in the slice that was given or in a new one.
func sortAll(ctx context.Context, pairs []uint64, width, threads int) ([]uint64, error) {
	k := blocksOf(len(pairs), threads)
	var unsorted atomic.Bool
	if err := k.each(ctx, func(_, lo, hi int) {
		if !unsorted.Load() && !slices.IsSorted(pairs[max(lo-1, 0):hi]) {
			unsorted.Store(true)
		}
	}); err != nil || !unsorted.Load() {
		return pairs, err
	}
	return sortPairs(ctx, pairs, false, width, threads)
}

// listsOf makes lists of sorted pairs. Pairs that repeat count once.
func listsOf(ctx context.Context, pairs []uint64, threads int) (*Lists, error) {
	k := blocksOf(len(pairs), threads)
	// Each block counts its vertices and neighbours that no block before it has; then it writes them at its places.
	vertices, neighbours := make([]int, k.n), make([]int, k.n)
	if err := k.each(ctx, func(b, lo, hi int) {
		n, rows, before := 0, 0, beforeOf(pairs, lo)
		for _, p := range pairs[lo:hi] {
			if p != before {
				n++
				if p>>32 != before>>32 {
					rows++
				}
				before = p
			}
		}
		vertices[b], neighbours[b] = rows, n
	}); err != nil {
		return nil, err
	}
	rows, all := sums(vertices), sums(neighbours)
	l := &Lists{Vertices: make([]uint32, rows), Off: make([]uint32, rows+1), Adj: make([]uint32, all)}
	l.Off[rows] = uint32(all)
	return l, k.each(ctx, func(b, lo, hi int) {
		row, at, before := vertices[b], neighbours[b], beforeOf(pairs, lo)
		for _, p := range pairs[lo:hi] {
			if p != before {
				if p>>32 != before>>32 {
					l.Vertices[row], l.Off[row] = uint32(p>>32), uint32(at)
					row++
				}
				l.Adj[at] = uint32(p)
				at++
				before = p
			}
		}
	})
}

// beforeOf returns the pair before pairs[i], or one of a vertex that does not exist.
func beforeOf(pairs []uint64, i int) uint64 {
	if i == 0 {
		return uint64(None)<<32 | uint64(None)
	}
	return pairs[i-1]
}
