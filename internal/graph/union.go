package graph

import (
	"context"
	"slices"
)

// Any returns adjacency in either direction: the distinct neighbours of each
// vertex, each once. On an undirected graph it is Out; on a directed one it is
// made on the first call and kept. Safe for concurrent use.
func (g *Graph) Any() *CSR {
	if !g.Directed {
		return &g.Out
	}
	// All callers wait for one result that the graph keeps, so no single query's end, or number
	// of threads, may rule it.
	return g.any.get(func() *CSR { return unionCSR(&g.Out, &g.In) })
}

func unionCSR(a, b *CSR) *CSR {
	ctx, threads := context.Background(), threadCount(0)
	n := a.NumVertices()
	c := &CSR{Off: makeBig[uint64](uint64(n) + 1)}
	done := false
	defer func() {
		if !done {
			c.free()
		}
	}()
	_ = overVertices(ctx, threads, a.Off, func(_ int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			c.Off[v+1] = uint64(unionSize(a.List(v), b.List(v)))
		}
	})
	for v := range n {
		c.Off[v+1] += c.Off[v]
	}
	c.Adj = makeBig[uint32](c.Off[n])
	_ = overVertices(ctx, threads, c.Off, func(_ int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			union(c.List(v), a.List(v), b.List(v))
		}
	})
	done = true
	return c
}

// unionLists returns the lists that have the entries of both.
func unionLists(a, b Lists) Lists {
	if a.Sparse != nil && b.Sparse != nil {
		return Lists{Sparse: unionSparse(a.Sparse, b.Sparse)}
	}
	n := a.NumVertices()
	c := &CSR{Off: make([]uint64, n+1), Adj: make([]uint32, 0, a.Entries()+b.Entries())}
	for v := range uint32(n) {
		c.Adj = appendUnion(c.Adj, a.List(v), b.List(v))
		c.Off[v+1] = uint64(len(c.Adj))
	}
	return c.Lists()
}

// unionSparse is unionLists in time that does not grow with the graph.
func unionSparse(a, b *Sparse) *Sparse {
	one, other := slices.Collect(a.Vertices), slices.Collect(b.Vertices)
	vertices := appendUnion(nil, one, other)
	u := newSparse(a.n, len(vertices))
	u.s.adj = make([]uint32, 0, len(a.adj)+len(b.adj))
	for _, v := range vertices {
		u.begin(v, uint32(len(u.s.adj)))
		u.s.adj = appendUnion(u.s.adj, a.List(v), b.List(v))
	}
	return u.end()
}

// appendUnion adds the sorted union of a and b to out.
func appendUnion(out, a, b []uint32) []uint32 {
	had, n := len(out), unionSize(a, b)
	out = slices.Grow(out, n)[:had+n]
	union(out[had:], a, b)
	return out
}

func unionSize(a, b []uint32) int {
	n := len(a) + len(b)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch x, y := a[i], b[j]; {
		case x < y:
			i++
		case x > y:
			j++
		default:
			i++
			j++
			n--
		}
	}
	return n
}

// union writes the sorted union of a and b to dst, which has its exact size.
func union(dst, a, b []uint32) {
	k := 0
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		dst[k] = min(x, y)
		k++
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	k += copy(dst[k:], a[i:])
	copy(dst[k:], b[j:])
}

// Degree returns the number of distinct neighbours of v in either direction,
// the degree that orders vertices inside a class. On a directed graph it makes
// Any.
func (g *Graph) Degree(v uint32) int { return g.Any().Degree(v) }

// Has reports whether there is an edge from u to v (either way on an undirected
// graph).
func (g *Graph) Has(u, v uint32) bool { return g.Out.Has(u, v) }

// Has reports whether v is in u's list.
func (c *CSR) Has(u, v uint32) bool {
	_, ok := slices.BinarySearch(c.List(u), v)
	return ok
}
