package graph

import (
	"context"
	"sync/atomic"
)

// Components returns, for each vertex, the smallest internal id in its connected component. It
// also returns the number of components and the size of the largest. Directions do not count.
// The algorithm is a parallel union-find: roots hook onto smaller roots. If ctx ends, the error
// is its cause.
func (g *Graph) Components(ctx context.Context, threads int) (root []uint32, count, largest uint64, err error) {
	n := g.NumVertices()
	root = make([]uint32, n)
	for v := range root {
		root[v] = uint32(v)
	}
	find := func(v uint32) uint32 {
		for {
			p := atomic.LoadUint32(&root[v])
			if p == v {
				return v
			}
			if q := atomic.LoadUint32(&root[p]); q != p {
				atomic.CompareAndSwapUint32(&root[v], p, q)
			}
			v = p
		}
	}
	err = overVertices(ctx, threadCount(threads), g.Out.Off, func(_ int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			for _, w := range g.Out.List(v) {
				if !g.Directed && w > v {
					break // the other end sees this edge
				}
				for a, b := find(v), find(w); a != b; a, b = find(a), find(b) {
					if a < b {
						a, b = b, a
					}
					if atomic.CompareAndSwapUint32(&root[a], a, b) {
						break
					}
				}
			}
		}
	})
	if err != nil {
		return nil, 0, 0, err
	}
	size := make([]uint32, n)
	for v := range root {
		root[v] = find(uint32(v))
		size[root[v]]++
	}
	for _, s := range size {
		if s > 0 {
			count++
			largest = max(largest, uint64(s))
		}
	}
	return root, count, largest, nil
}

// Cores returns the core number of every vertex, and the largest one, the degeneracy.
// Directions do not count. The algorithm is that of Batagelj and Zaversnik (2003), linear in
// the edges, on one core. On a directed graph it makes Any.
func (g *Graph) Cores(ctx context.Context) (core []uint32, degeneracy uint32, err error) {
	a := g.Any()
	n := a.NumVertices()
	core = make([]uint32, n)
	most := 0
	for v := range core {
		core[v] = uint32(a.Degree(uint32(v)))
		most = max(most, int(core[v]))
	}
	first := make([]uint32, most+2) // where each degree begins in order
	for _, d := range core {
		first[d+1]++
	}
	for d := range most + 1 {
		first[d+1] += first[d]
	}
	order, place := make([]uint32, n), make([]uint32, n)
	next := append([]uint32(nil), first...)
	for v, d := range core {
		order[next[d]], place[v] = uint32(v), next[d]
		next[d]++
	}
	for i := range order {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		v := order[i]
		degeneracy = max(degeneracy, core[v])
		for _, w := range a.List(v) {
			d := core[w]
			if d <= core[v] {
				continue
			}
			// Swap w with the first vertex of its degree, then shrink.
			f := max(first[d], uint32(i)+1)
			u := order[f]
			order[f], order[place[w]] = w, u
			place[u], place[w] = place[w], f
			first[d] = f + 1
			core[w] = d - 1
		}
	}
	return core, degeneracy, nil
}
