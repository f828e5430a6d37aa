// Package layout is what engines need beyond adjacency lists: orientations, hub
// bitmaps and adjacency of a part of the edges.
//
// It must know nothing of patterns, plans or engines.
package layout

import (
	"context"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
)

// Oriented is a CSR with the place in each list where larger ids begin. As
// internal ids descend in degree, the smaller neighbours, List(v)[:Pos(v)], are
// the acyclic orientation towards hubs, whose out-degrees are small.
type Oriented struct {
	graph.CSR
	// First[v] is the index in Adj of v's first neighbour above v.
	First []uint64
}

// Orient finds the places in parallel; threads 0 means all cores.
func Orient(ctx context.Context, c graph.CSR, threads int) (*Oriented, error) {
	o := &Oriented{CSR: c, First: make([]uint64, c.NumVertices())}
	return o, graph.Parallel(ctx, c.Off, threads, func(lo, hi uint32) {
		for v := lo; v < hi; v++ {
			i, _ := slices.BinarySearch(c.List(v), v)
			o.First[v] = c.Off[v] + uint64(i)
		}
	})
}

// Below returns the neighbours of v with smaller ids.
func (o *Oriented) Below(v uint32) []uint32 { return o.Adj[o.Off[v]:o.First[v]:o.First[v]] }

// Above returns the neighbours of v with larger ids.
func (o *Oriented) Above(v uint32) []uint32 {
	return o.Adj[o.First[v]:o.Off[v+1]:o.Off[v+1]]
}

// MaxBelow is the largest number of smaller neighbours of a vertex.
func (o *Oriented) MaxBelow() int {
	m := 0
	for v, f := range o.First {
		m = max(m, int(f-o.Off[v]))
	}
	return m
}

// Hubs holds the lists of some vertices as bitmaps, for tests of one neighbour
// in one step.
type Hubs struct {
	words int
	row   map[uint32]int
	bit   []uint64
}

// NewHubs makes bitmaps for the vertices of the largest degrees, at least
// minDegree, as many as fit maxBytes.
func NewHubs(ctx context.Context, c graph.CSR, minDegree int, maxBytes uint64, threads int) (*Hubs, error) {
	n := c.NumVertices()
	h := &Hubs{words: (n + 63) / 64, row: map[uint32]int{}}
	var vs []uint32
	for v := range uint32(n) {
		if c.Degree(v) >= max(minDegree, 1) {
			vs = append(vs, v)
		}
	}
	slices.SortStableFunc(vs, func(a, b uint32) int { return c.Degree(b) - c.Degree(a) })
	if h.words > 0 {
		vs = vs[:min(uint64(len(vs)), maxBytes/8/uint64(h.words))]
	}
	h.bit = make([]uint64, len(vs)*h.words)
	off := make([]uint64, len(vs)+1)
	for i, v := range vs {
		h.row[v] = i
		off[i+1] = off[i] + uint64(c.Degree(v))
	}
	return h, graph.Parallel(ctx, off, threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			b := h.bit[int(i)*h.words:][:h.words]
			for _, w := range c.List(vs[i]) {
				b[w>>6] |= 1 << (w & 63)
			}
		}
	})
}

// Len returns the number of bitmaps.
func (h *Hubs) Len() int { return len(h.row) }

// Bitmap returns the neighbours of v as a bitmap over all vertices; nil when v
// has none here.
func (h *Hubs) Bitmap(v uint32) []uint64 {
	i, ok := h.row[v]
	if !ok {
		return nil
	}
	return h.bit[i*h.words:][:h.words:h.words]
}

// Count returns the number of bits set in both bitmaps.
func Count(a, b []uint64) int {
	n := 0
	for i := range a {
		n += bits.OnesCount64(a[i] & b[i])
	}
	return n
}
