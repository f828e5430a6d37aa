package graph

import (
	"context"
	"sync/atomic"
)

// arranged is an order of vertices, with the counts of edges that making it found.
type arranged struct {
	order, place []uint32 // as degreeOrder returns them
	given, loops uint64   // edges, and how many of them are self-loops
	arcs, pairs  uint64   // distinct arcs, and distinct pairs, without self-loops
}

func (a *arranged) free() {
	freeBig(&a.order)
	freeBig(&a.place)
}

// adjacency makes the graph's lists of edges by compact ids, and frees the edges.
//
// Vertices are ordered by degree. Degrees are known only when repeated edges are found, and
// finding these needs an order. So the first order counts every edge as distinct. If the
// degrees turn out to have another order, the lists are renumbered as they are made.
func (b *builderState) adjacency(ctx context.Context, threads int, g *Graph, segs []*segment, rank *ranker, class []uint32) (*arranged, error) {
	n := uint32(rank.n)
	a := &arranged{}
	defer func() {
		for _, s := range segs {
			s.free()
		}
	}()
	all, err := countEnds(ctx, threads, segs, n, g.Directed)
	defer all.free()
	if err != nil {
		return a, err
	}
	a.given, a.loops = all.given, all.loops
	deg := all.size[0]
	if g.Directed {
		deg = makeTemp[uint32](uint64(n))
		defer freeBig(&deg)
		for x := range deg {
			deg[x] = all.size[0][x] + all.size[1][x]
		}
	}
	exist := rank.vertices(&all.loop, deg)
	a.order, a.place = degreeOrder(deg, class, g.Classes, exist)
	h, err := newHalves(ctx, threads, byOrder(all.size, a.order))
	defer func() { h.free() }()
	if err != nil {
		return a, err
	}
	if err := h.lower(ctx, threads, segs, a.place); err != nil {
		return a, err
	}
	a.arcs = a.given - a.loops - h.same.Load()
	a.pairs = a.arcs - h.both.Load()
	var final []uint32
	defer func() { freeBig(&final) }()
	if !h.inOrder(a.order, class) {
		final = a.again(h.neigh, deg, class, g.Classes, exist)
	}
	all.free() // deg among them
	return a, h.upper(ctx, threads, g, final)
}

// byOrder returns sizes by internal ids, given sizes by compact ids.
func byOrder(size [2][]uint32, order []uint32) (by [2][]uint32) {
	for way, s := range size {
		if s != nil {
			by[way] = makeTemp[uint32](uint64(len(order)))
			for v, x := range order {
				by[way][v] = s[x]
			}
		}
	}
	return by
}

// newCSR makes room for lists of the sizes given. The list of size[v] is that of vertex final[v],
// or of v if final is nil.
func newCSR(size, final []uint32) CSR {
	c := CSR{Off: makeBig[uint64](uint64(len(size)) + 1)}
	sum := uint64(0)
	if final == nil {
		for v, s := range size {
			sum += uint64(s)
			c.Off[v+1] = sum
		}
	} else {
		for v, s := range size {
			c.Off[final[v]+1] = uint64(s)
		}
		for x := range size {
			sum += c.Off[x+1]
			c.Off[x+1] = sum
		}
	}
	c.Adj = makeBig[uint32](sum)
	return c
}

func (c *CSR) put(u, v uint32) { c.Adj[atomic.AddUint64(&c.Off[u+1], 1)-1] = v }

// sort sorts all lists of a CSR that is filled.
func (c *CSR) sort(ctx context.Context, threads int) error {
	tmp := make([][]uint32, threads)
	return overVertices(ctx, threads, c.Off, func(w int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			sortList(c.Adj[c.Off[v]:c.Off[v+1]], c.NumVertices(), &tmp[w])
		}
	})
}
