package census

import (
	"sync/atomic"
)

// opposite5 adds to each vertex of a triangle what the edge between the others has, and to both ends of an edge what its cliques tell.
type opposite5 struct {
	c    *orbitCounts
	stop *atomic.Bool
	at   []uint32
	near []edgeSums // by place among the root's higher neighbours
}

func (x *opposite5) visit(v uint32) {
	c, at := x.c, x.at
	list, begin := c.above(v)
	for len(x.near) < len(list) {
		x.near = append(x.near, edgeSums{})
	}
	near, d := x.near[:len(list)], uint64(c.csr.Degree(v))
	edges := c.five.edges
	for i, u := range list {
		at[u] = uint32(i + 1)
		if k := edges[begin+uint64(i)].cliques; k > 0 {
			du, t := uint64(c.csr.Degree(u)), uint64(c.triangles[begin+uint64(i)])
			c.add(57, v, k*du)
			c.add(57, u, k*d)
			c.add(67, v, k*t)
			c.add(67, u, k*t)
		}
	}
	var own edgeSums
	for i, u := range list {
		if x.stop.Load() {
			return
		}
		next, of := c.above(u)
		vu := &edges[begin+uint64(i)]
		for j, w := range next {
			if p := at[w]; p != 0 {
				own.plus(&edges[of+uint64(j)])
				near[i].plus(&edges[begin+uint64(p-1)])
				near[p-1].plus(vu)
			}
		}
	}
	x.add(v, &own)
	for i, u := range list {
		x.add(u, &near[i])
		at[u] = 0
	}
	clear(near)
}

func (e *edgeSums) plus(o *edgeSums) {
	e.degrees += o.degrees
	e.closed += o.closed
	e.paths += o.paths
	e.cliques += o.cliques
}

func (x *opposite5) add(v uint32, e *edgeSums) {
	x.c.add(46, v, 2*e.degrees)
	x.c.add(52, v, 2*e.paths)
	x.c.add(59, v, e.closed)
	x.c.add(65, v, 2*e.cliques)
}
