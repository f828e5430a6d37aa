package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

func (b *builderState) build(ctx context.Context) (*Graph, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	slices.SortStableFunc(b.edges, func(x, y edgeRun) int { return cmp.Compare(x.seq, y.seq) })
	slices.SortStableFunc(b.verts, func(x, y vertexRun) int { return cmp.Compare(x.seq, y.seq) })
	g := &Graph{Directed: b.o.Directed, Read: b.o.Read}

	// Compact ids: places in the order of the user's ids.
	var raw []uint64
	for _, r := range b.edges {
		raw = append(append(raw, r.src...), r.dst...)
	}
	for _, r := range b.verts {
		raw = append(raw, r.id...)
	}
	less := func(a, c uint64) int { return cmp.Compare(a, c) }
	if b.kind == idsString {
		less = func(a, c uint64) int { return cmp.Compare(b.strs.text[a], b.strs.text[c]) }
	}
	slices.SortFunc(raw, less)
	raw = slices.Compact(raw)
	if uint64(len(raw)) > maxVertices {
		return nil, fmt.Errorf("%w: %d vertices", ErrTooLarge, len(raw))
	}
	n := len(raw)
	rank := make(map[uint64]uint32, n)
	for i, x := range raw {
		rank[x] = uint32(i)
	}
	b.compact(func(x uint64) uint32 { return rank[x] })
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	class := b.classes(g, n)
	var arcs []uint64 // distinct arcs; both ways on an undirected graph
	var both []uint64
	loops := uint64(0)
	for _, r := range b.edges {
		for i := range r.src {
			u, v := r.src[i], r.dst[i]
			if u == v {
				loops++
				continue
			}
			arcs = append(arcs, u<<32|v)
			both = append(both, u<<32|v, v<<32|u)
		}
	}
	given := uint64(len(arcs))
	slices.Sort(arcs)
	arcs = slices.Compact(arcs)
	slices.Sort(both)
	both = slices.Compact(both)
	deg := make([]uint32, n)
	for _, a := range both {
		deg[a>>32]++
	}
	order := make([]uint32, n) // compact ids in the order of internal ids
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(x, y uint32) int {
		if class != nil && class[x] != class[y] {
			return cmp.Compare(class[x], class[y])
		}
		return cmp.Compare(deg[y], deg[x])
	})
	place := make([]uint32, n)
	for i, x := range order {
		place[x] = uint32(i)
	}
	mk := func(arcs []uint64, rev bool) CSR {
		keys := make([]uint64, len(arcs))
		for i, a := range arcs {
			u, v := uint64(place[a>>32]), uint64(place[uint32(a)])
			if rev {
				u, v = v, u
			}
			keys[i] = u<<32 | v
		}
		slices.Sort(keys)
		c := CSR{make([]uint64, n+1), make([]uint32, len(keys))}
		for i, k := range keys {
			c.Adj[i] = uint32(k)
			c.Off[k>>32+1]++
		}
		for v := range n {
			c.Off[v+1] += c.Off[v]
		}
		return c
	}
	kept := uint64(len(arcs))
	if g.Directed {
		g.Out, g.In = mk(arcs, false), mk(arcs, true)
	} else {
		g.Out = mk(both, false)
		g.In = g.Out
		kept = uint64(len(both) / 2)
	}
	g.IDs = b.userIDs(raw, order)
	g.Read.SelfLoops += loops
	if b.shape.set && !b.shape.plain() {
		if err := b.table(g, place); err != nil {
			return nil, err
		}
	} else {
		g.Read.Duplicates += given - uint64(len(arcs))
		g.Read.Reciprocal += uint64(len(arcs)) - kept
		g.Read.Kept += kept
	}
	if err := b.vertexProps(g, place); err != nil {
		return nil, err
	}
	b.kind, b.strs, b.labels, b.vlabels = idsUnknown, interner{}, interner{}, interner{}
	b.edges, b.verts, b.shape = nil, nil, edgeShape{}
	return g, nil
}

// compact replaces raw ids by compact ones.
func (b *builderState) compact(rank func(uint64) uint32) {
	for _, r := range b.edges {
		for i := range r.src {
			r.src[i], r.dst[i] = uint64(rank(r.src[i])), uint64(rank(r.dst[i]))
		}
	}
	for _, r := range b.verts {
		for i := range r.id {
			r.id[i] = uint64(rank(r.id[i]))
		}
	}
}

func (b *builderState) userIDs(raw []uint64, order []uint32) IDs {
	if b.kind != idsString {
		num := make([]int64, len(order))
		for v, x := range order {
			num[v] = int64(raw[x])
		}
		return IDs{Num: num}
	}
	off := make([]uint64, len(order)+1)
	for v, x := range order {
		off[v+1] = off[v] + uint64(len(b.strs.text[raw[x]]))
	}
	bytes := make([]byte, 0, off[len(order)])
	for _, x := range order {
		bytes = append(bytes, b.strs.text[raw[x]]...)
	}
	return IDs{StrOff: off, StrBytes: bytes}
}
