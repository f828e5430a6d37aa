package graph

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
)

// manyEdges is the number of edges from which memory while loading matters more
// than the milliseconds of a collection.
const manyEdges = 1 << 21

// build takes the collected edges and vertices through these steps: compact
// ids, classes, distinct pairs and degrees, order, adjacency, edge table,
// properties.
func (b *builderState) build(ctx context.Context) (*Graph, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.reset()
	threads := threadCount(b.o.Threads)
	if b.pairs.edges >= manyEdges {
		debug.FreeOSMemory() // the readers' buffers are garbage by now
	}
	slices.SortStableFunc(b.edges, func(x, y edgeRun) int { return cmp.Compare(x.seq, y.seq) })
	slices.SortStableFunc(b.verts, func(x, y vertexRun) int { return cmp.Compare(x.seq, y.seq) })
	g := &Graph{Directed: b.o.Directed, Read: b.o.Read}
	segs := b.segments()

	rank, err := b.compact(ctx, threads, segs)
	defer rank.free()
	if err != nil {
		return nil, err
	}
	n := int(rank.n)
	class := b.classes(g, n)

	keep := len(b.edges) > 0
	if keep { // whose order the edge table needs
		segs = packed(segs)
	}
	a, err := b.adjacency(ctx, threads, g, segs, rank, class)
	defer a.free()
	if err != nil {
		_ = g.Close()
		return nil, err
	}
	if class == nil {
		g.Classes[0].End = uint32(len(a.order))
	}
	b.userIDs(g, rank, a.order)
	g.Read.SelfLoops += a.loops
	if keep {
		err = b.table(ctx, threads, g, a.place)
	} else {
		kept := a.pairs
		if g.Directed {
			kept = a.arcs
		}
		g.Read.Duplicates += a.given - a.loops - a.arcs
		g.Read.Reciprocal += a.arcs - kept
		g.Read.Kept += kept
	}
	if err == nil {
		err = b.vertexProps(g, a.place)
	}
	if err != nil {
		_ = g.Close()
		return nil, err
	}
	return g, nil
}

// compact replaces the raw ids of segments and vertex runs by compact ones.
func (b *builderState) compact(ctx context.Context, threads int, segs []*segment) (*ranker, error) {
	verts := make([][]uint64, len(b.verts))
	for i, r := range b.verts {
		verts[i] = r.id
	}
	var rank *ranker
	var err error
	if b.kind == idsString {
		rank, err = b.strs.rank()
	} else {
		rank, err = newRanker(ctx, threads, segs, verts, max(b.most, b.pairs.most), b.known)
	}
	if err != nil {
		return rank, err
	}
	for _, v := range verts {
		for i, x := range v {
			v[i] = uint64(rank.rank(x))
		}
	}
	return rank, rank.apply(ctx, threads, segs)
}

// userIDs sets the side table of the user's ids.
func (b *builderState) userIDs(g *Graph, rank *ranker, order []uint32) {
	d := &g.IDs
	if b.kind != idsString {
		d.Num = makeBig[int64](uint64(len(order)))
		for v, x := range order {
			if rank.ids == nil {
				d.Num[v] = int64(x)
			} else {
				d.Num[v] = int64(rank.ids[x])
			}
		}
		return
	}
	d.StrOff = makeBig[uint64](uint64(len(order)) + 1)
	for v, x := range order {
		d.StrOff[v+1] = d.StrOff[v] + uint64(len(b.strs.textOf(rank.ids[x])))
	}
	d.StrBytes = makeBig[uint8](d.StrOff[len(order)])
	for v, x := range order {
		copy(d.StrBytes[d.StrOff[v]:], b.strs.textOf(rank.ids[x]))
	}
}
