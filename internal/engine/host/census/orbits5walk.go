package census

import (
	"github.com/weftgraph/weft/internal/engine/escape"
)

// walk5 counts what walks of two and three edges from the root tell.
type walk5 struct {
	*root
	c      *orbitCounts
	near   []uint32 // the root's neighbours with which it has triangles
	inner  []uint64 // by vertex: edges among the neighbours that it shares with the root
	places []place5 // by place in near
}

// place5 are numbers of a vertex: of orbits 64 and 69, and of the edges of inner that have it.
type place5 struct{ less, hub, edges uint64 }

func (x *walk5) visit(v uint32) {
	list := x.csr.List(v)
	if len(list) == 0 {
		return
	}
	if len(list) == 1 {
		x.leaf(v, list[0])
		return
	}
	x.v, x.list = v, x.c.withoutLeaves(v)
	x.walk()
	x.near = x.near[:0]
	own := x.c.five.closed[x.csr.Off[v]:]
	for i, u := range list {
		if own[i] > 0 {
			x.near = append(x.near, u)
			p := len(x.near)
			x.at[u] = uint32(p)
			x.degree[p], x.closed[p] = uint64(x.csr.Degree(u)), uint64(own[i])
		}
	}
	x.neighbours(v, list)
	x.pairs(v, list)
	for _, u := range x.near {
		x.at[u] = 0
	}
	for _, w := range x.met {
		x.share[w] = 0
	}
}

// walk goes to the neighbours' neighbours, the root among them, but to no leaf: it shares only its own neighbour.
func (x *walk5) walk() {
	x.met = x.met[:0]
	for _, u := range x.list {
		for _, w := range x.c.withoutLeaves(u) {
			if x.share[w] == 0 {
				x.met = append(x.met, w)
			}
			x.share[w]++
		}
	}
	if leaves := x.c.five.leaves[x.v]; leaves > 0 {
		if x.share[x.v] == 0 {
			x.met = append(x.met, x.v)
		}
		x.share[x.v] += leaves
	}
	if n := x.csr.Degree(x.v) + 1; len(x.degree) < n {
		x.degree, x.closed = make([]uint64, 2*n), make([]uint64, 2*n)
	}
}

// leaf is neighbours for a root with the only neighbour u, whose neighbours it shares once each.
func (x *walk5) leaf(v, u uint32) {
	n, du := x.c.n, uint64(x.csr.Degree(u))
	if higher, begin := x.c.above(v); len(higher) > 0 {
		x.c.five.edges[begin].paths = du
	}
	x.c.add(49, u, du)
	x.c.add(37, v, du*du)
	x.c.add(51, v, n[orbitTriangle][u])
	x.c.add(36, v, n[orbitWedgeEnd][u])
	x.c.add(50, v, du)
	var s [escape.NumOrbits]uint64
	x.hang(&s, u)
	x.joined(&s, v)
	x.add(&s, v)
}

// hang adds what an edge to u tells, which is at an orbit of four.
func (x *walk5) hang(s *[escape.NumOrbits]uint64, u uint32) {
	n := x.c.n
	s[15] += n[orbitPathEnd][u]
	s[18] += n[orbitStarLeaf][u]
	s[19] += n[orbitPathInner][u]
	s[22] += n[orbitStarMiddle][u]
	s[24] += n[orbitTailedFar][u]
	s[27] += n[orbitTail][u]
	s[31] += n[orbitTailedMiddle][u]
	s[35] += n[orbitCycle][u]
	s[39] += n[orbitDiamondInner][u]
	s[45] += n[orbitDiamondOuter][u]
	s[56] += n[orbitClique][u]
}

// joined sets what the numbers of v tell, for two graphs that have only v in common.
func (x *walk5) joined(s *[escape.NumOrbits]uint64, v uint32) {
	h := func(orbit int) uint64 { return x.c.n[orbit][v] }
	d := h(orbitEdge)
	s[16] = d * h(orbitPathEnd)
	s[17] = h(orbitWedgeEnd) * h(orbitWedgeEnd)
	s[20] = d * h(orbitStarLeaf)
	s[21] = d * h(orbitPathInner)
	s[23] = choose4(d)
	s[26] = d * h(orbitTailedFar)
	s[28] = d * h(orbitTail)
	s[30] = h(orbitTriangle) * h(orbitWedgeEnd)
	s[33] = d * h(orbitTailedMiddle)
	s[38] = d * h(orbitCycle)
	s[42] = d * h(orbitDiamondInner)
	s[44] = h(orbitTriangle) * h(orbitTriangle)
	s[47] = d * h(orbitDiamondOuter)
	s[58] = d * h(orbitClique)
}

func (x *walk5) add(s *[escape.NumOrbits]uint64, v uint32) {
	for i := orbitsOfFour; i < escape.NumOrbits; i++ {
		x.c.add(i, v, s[i])
	}
}

// neighbours adds what is a sum over the root's neighbours, or over the vertices met.
func (x *walk5) neighbours(v uint32, list []uint32) {
	c, csr, share, n := x.c, x.csr, x.share, x.c.n
	own := c.five.closed[csr.Off[v]:]
	higher, begin := c.above(v)
	var s [escape.NumOrbits]uint64
	for i, u := range list {
		if x.stop.Load() {
			return
		}
		du, t := uint64(csr.Degree(u)), uint64(own[i])
		from := csr.Off[u]
		nb, leaves := c.withoutLeaves(u), uint64(c.five.leaves[u])
		closed := c.five.closed[from : from+uint64(len(nb))]
		// Over the neighbours w of u, of C = C(v,w), its square and C·T(uw); and over those that are v's: of d(w), T(vw), T(uw) and its square.
		paths, squares := leaves, leaves
		var house, degrees, mine, its, itsSquares uint64
		if t == 0 {
			for j, w := range nb {
				k := uint64(share[w])
				paths += k
				squares += k * k
				house += k * uint64(closed[j])
			}
		} else {
			for j, w := range nb {
				k, tw := uint64(share[w]), uint64(closed[j])
				paths += k
				squares += k * k
				house += k * tw
				if p := x.at[w]; p != 0 {
					degrees += x.degree[p]
					mine += x.closed[p]
					its += tw
					itsSquares += tw * tw
				}
			}
		}
		if i < len(higher) {
			e := &c.five.edges[begin+uint64(i)]
			e.degrees, e.closed, e.paths = degrees, mine+its, paths
		}
		c.add(49, u, squares)
		s[36] += leaves
		s[50] += leaves
		s[51] += house
		s[37] += paths * du
		x.hang(&s, u)
		if t == 0 {
			continue
		}
		s[25] += du * degrees
		s[29] += t * n[orbitWedgeEnd][u]
		s[32] += t * du * du
		s[40] += du * its
		s[41] += t * t * du
		s[43] += t * n[orbitTriangle][u]
		s[48] += t * degrees
		s[53] += t * paths
		s[54] += itsSquares
		s[55] += t * t * t
		s[60] += t * its
		s[61] += t * mine
	}
	for _, w := range x.met {
		k := uint64(share[w])
		s[36] += k * k * uint64(csr.Degree(w))
		s[50] += k * k * k
	}
	x.joined(&s, v)
	x.add(&s, v)
}
