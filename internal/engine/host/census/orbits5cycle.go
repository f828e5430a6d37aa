package census

import (
	"sync/atomic"
)

// cycle5 counts the cycles of five from their highest vertex v. All other vertices are lower. Walks v, a, b, c, e, v over an edge bc are counted
// if a is not c and b is not e; those in which a is e are tails of triangles, which dense5 takes off.
type cycle5 struct {
	c      *orbitCounts
	stop   *atomic.Bool
	walks  []uint32 // by vertex: the walks of two edges from the root to it
	met    []uint32 // the vertices that have any
	at     []bool   // the root's neighbours
	beyond []uint64 // by vertex b: over its neighbours c, of the walks to c that do not go over b
}

func (x *cycle5) visit(v uint32) {
	c, csr := x.c, x.c.csr
	higher, begin := c.above(v)
	run := uint64(0)
	for i := len(higher) - 1; i >= 0; i-- {
		run += c.five.tails[begin+uint64(i)]
		c.add(34, higher[i], -run)
	}
	list := csr.List(v)[len(higher):]
	if len(list) == 0 {
		return
	}
	met := x.met[:0]
	for _, u := range list {
		x.at[u] = true
		nb := csr.List(u)
		for j := len(nb) - 1; nb[j] > v; j-- {
			w := nb[j]
			if x.walks[w] == 0 {
				met = append(met, w)
			}
			x.walks[w]++
		}
	}
	all := uint64(0)
	for _, w := range met {
		if x.stop.Load() {
			return
		}
		// Over the lower neighbours z of w: of the walks to z, and of those where z is the root's neighbour.
		var sum, mine, lower uint64
		nb := csr.List(w)
		for j := len(nb) - 1; j >= 0 && nb[j] > v; j-- {
			z := nb[j]
			k := uint64(x.walks[z])
			sum += k
			if x.at[z] {
				mine += k
			}
			lower++
		}
		if x.at[w] {
			sum -= lower - 1 // for the walk v, w, z to each z but one
		}
		n := uint64(x.walks[w])*sum - mine
		x.beyond[w] = sum
		c.add(34, w, n)
		all += n
	}
	c.add(34, v, all/2)
	for _, u := range list {
		n, own := uint64(0), uint64(x.walks[u])
		nb := csr.List(u)
		for j := len(nb) - 1; nb[j] > v; j-- {
			n += x.beyond[nb[j]] - own
		}
		c.add(34, u, n)
		x.at[u] = false
	}
	for _, w := range met {
		x.walks[w], x.beyond[w] = 0, 0
	}
	x.met = met
}
