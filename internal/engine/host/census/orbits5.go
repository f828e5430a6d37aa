package census

import (
	"math/bits"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// Orbits of five vertices are counted as homomorphisms, in which vertices that are not adjacent may be one vertex: these are short sums over a
// vertex's neighbours, of numbers that neighbours, edges and pairs have. Package escape makes them numbers of subgraphs. A few orbits,
// those of counted, are numbers of subgraphs from the start.
//
// All passes go over a graph whose vertices are sorted by falling degree, so higher neighbours are those with smaller numbers, the first of a list.
//
// In comments r is the root, x is a neighbour of it, w is any vertex, C(r,w) the number of neighbours that r and w share, T(rx) this number
// for an edge, P(rx) the number of walks of three edges between its ends, K(rx) twice its cliques of four, and q(rab) is the number of
// vertices adjacent to all three of a triangle.

// counted are the orbits whose subgraphs are counted, and not homomorphisms, and how often each is: a wheel from both pairs of opposite vertices.
var counted = [escape.NumOrbits]uint64{23: 1, 34: 1, 62: 1, 63: 1, 64: 1, 68: 1, 69: 2, 70: 1, 71: 1, 72: 1}

// fives is what orbits of five vertices need besides those of four. Places are those of orbitCounts.higher.
type fives struct {
	closed []uint32   // T by place in the graph's lists
	leaves []uint32   // by vertex: its neighbours of degree 1, the last ones of its list
	edges  []edgeSums // by place
	tails  []uint64   // by place: triangles whose highest vertex is the next higher neighbour; at the last place those below all of them
	order  []uint32   // the number that a vertex has after sorting
}

// edgeSums are values of an edge rx: over the vertices w that r and x share, of d(w) and of T(rw)+T(xw); P; and K.
type edgeSums struct{ degrees, closed, paths, cliques uint64 }

// fivePasses are the passes for orbits of five vertices, after those of four.
func (c *orbitCounts) fivePasses() []pass {
	n := c.csr.NumVertices()
	return []pass{
		plain(c.homomorphisms),
		func(stop *atomic.Bool, _ *crew.Memory) visitFunc {
			return (&dense5{c: c, stop: stop, at: make([]uint32, n)}).visit
		},
		func(stop *atomic.Bool, m *crew.Memory) visitFunc {
			return (&walk5{root: newRoot(c.csr, 5, stop, m), c: c, inner: make([]uint64, n)}).visit
		},
		func(stop *atomic.Bool, _ *crew.Memory) visitFunc {
			return (&opposite5{c: c, stop: stop, at: make([]uint32, n)}).visit
		},
		func(stop *atomic.Bool, _ *crew.Memory) visitFunc {
			return (&cycle5{c: c, stop: stop, walks: make([]uint32, n), at: make([]bool, n), beyond: make([]uint64, n)}).visit
		},
	}
}

// sortByDegree makes the graph one whose vertices have the numbers of c.rank.
func (c *orbitCounts) sortByDegree() {
	from, n := c.csr, c.csr.NumVertices()
	c.five.order = c.rank
	old := make([]uint32, n) // by new number
	for v, r := range c.rank {
		old[r] = uint32(v)
	}
	to := &graph.CSR{Off: make([]uint64, n+1), Adj: make([]uint32, len(from.Adj))}
	for r, v := range old {
		to.Off[r+1] = to.Off[r] + uint64(from.Degree(v))
	}
	next := append([]uint64(nil), to.Off[:n]...)
	for r, v := range old {
		for _, u := range from.List(v) {
			at := &next[c.rank[u]]
			to.Adj[*at] = uint32(r)
			*at++
		}
	}
	c.rank = old
	for r := range c.rank {
		c.rank[r] = uint32(r)
	}
	c.csr = to
}

// unsort gives the numbers to the vertices as they were before sortByDegree.
func (c *orbitCounts) unsort() {
	sorted := make([]uint64, len(c.rank))
	for i, of := range c.n {
		for v, r := range c.five.order {
			sorted[v] = of[r]
		}
		c.n[i], sorted = sorted, of
	}
}

// fivesMemory is the bytes of fives, of the sorted graph, and of the workers' arrays beyond vertexBytes.
func fivesMemory(csr *graph.CSR, threads int) int64 {
	n, adj := int64(csr.NumVertices()), int64(len(csr.Adj))
	return n*(8+4+8+4) + adj*(4+4+(32+8)/2) + int64(threads)*n*8
}

// prepareFives makes room for numbers of edges.
func (c *orbitCounts) prepareFives() {
	c.close()
	c.five.edges, c.five.tails = make([]edgeSums, len(c.higher)), make([]uint64, len(c.higher))
}

// matrices5 is the most bytes of all workers' matrices, of all neighbours in triangles with the root, or of the higher ones and all.
func (c *orbitCounts) matrices5() int64 {
	most := int64(0)
	for v := range c.csr.NumVertices() {
		near := int64(0)
		for _, t := range c.five.closed[c.csr.Off[v]:c.csr.Off[v+1]] {
			if t > 0 {
				near++
			}
		}
		higher, d := int64(c.off[v+1]-c.off[v]), int64(c.csr.Degree(uint32(v)))
		need := int64(0)
		if v > 0 && near > 1 { // a higher vertex, adjacent or not, may share neighbours with it
			words := (near + 63) / 64
			need = near*words*9/8 + min(int64(batchWords), int64(v)*words)
		}
		most = max(most, need+higher*((d+63)/64)*5/4)
	}
	return int64(c.o.Threads) * 8 * most
}

// withoutLeaves is the neighbours of v but its leaves.
func (c *orbitCounts) withoutLeaves(v uint32) []uint32 {
	return c.csr.Adj[c.csr.Off[v] : c.csr.Off[v+1]-uint64(c.five.leaves[v])]
}

// close finds closed, of the triangles of each edge.
func (c *orbitCounts) close() {
	f := &c.five
	f.closed, f.leaves = make([]uint32, len(c.csr.Adj)), make([]uint32, c.csr.NumVertices())
	next := make([]uint64, c.csr.NumVertices()) // the place of the next lower neighbour
	for v := range next {
		list, at := c.above(uint32(v))
		own := c.csr.Off[v]
		for i, u := range list {
			t := c.triangles[at+uint64(i)]
			f.closed[own+uint64(i)] = t
			f.closed[next[u]] = t
			next[u]++
		}
		next[v] = own + uint64(len(list))
		if nb := c.csr.List(uint32(v)); len(nb) == 1 {
			f.leaves[nb[0]]++
		}
	}
}

// homomorphisms makes the numbers of v for orbits of up to four vertices those of homomorphisms.
func (c *orbitCounts) homomorphisms(v uint32) {
	c.n[orbitTriangle][v] /= 2
	var n [escape.NumOrbits]uint64
	for i := range orbitsOfFour {
		n[i] = c.n[i][v]
	}
	orbits := escape.Orbits()
	for i := range orbitsOfFour {
		c.n[i][v] = orbits[i].Homomorphisms(n[i], &n)
	}
}

// subgraphs makes n of homomorphisms those of subgraphs.
func subgraphs(n *[escape.NumOrbits]uint64) {
	orbits := escape.Orbits()
	for i := range n {
		if k := counted[i]; k > 0 {
			n[i] /= k
		} else {
			n[i] = orbits[i].Subgraphs(n[i], n)
		}
	}
}

// dense5 counts, from the lowest vertex of each triangle, what needs q.
type dense5 struct {
	c    *orbitCounts
	stop *atomic.Bool
	at   []uint32
	// rows has a row of bits for each higher neighbour of the root: the root's neighbours that are its neighbours too, the higher ones first.
	rows, both []uint64
	near       []dense5Sums // by place in the root's list
}

// dense5Sums are numbers of a vertex, and of its edge to the root.
type dense5Sums struct {
	wedge, edge, inner, clique, cycle uint64 // of orbits 66, 70, 71, 72, and what cycles have too many
	cliques, tails                    uint64 // of the edge
}

func (x *dense5) visit(v uint32) {
	c, at := x.c, x.at
	list := c.csr.List(v)
	higher, begin := c.above(v)
	words := (len(list) + 63) / 64
	if !x.fill(v, list, higher, words) {
		return
	}
	for len(x.near) < len(list) {
		x.near = append(x.near, dense5Sums{})
	}
	near := x.near[:len(list)]
	row := func(i int) []uint64 { return x.rows[i*words : (i+1)*words] }
	var own dense5Sums
	for i, a := range higher {
		if x.stop.Load() {
			return
		}
		next, of := c.above(a)
		for k, b := range next {
			if at[b] == 0 {
				continue
			}
			j := int(at[b] - 1)
			x.tails(&own, near, i, j, of, k, b)
			q := uint64(setops.And(x.both, row(i), row(j)))
			if q == 0 {
				continue
			}
			na, nb := &near[i], &near[j]
			na.cliques += q
			nb.cliques += q
			atomic.AddUint64(&c.five.edges[of+uint64(k)].cliques, q)
			own.wedge += 2 * q * uint64(c.triangles[of+uint64(k)])
			na.wedge += 2 * q * uint64(c.triangles[begin+uint64(j)])
			nb.wedge += 2 * q * uint64(c.triangles[begin+uint64(i)])
			if q == 1 {
				continue
			}
			pairs := escape.Choose2(q)
			own.inner += pairs
			na.inner += pairs
			nb.inner += pairs
			for w, word := range x.both {
				for ; word != 0; word &= word - 1 {
					near[w<<6+bits.TrailingZeros64(word)].edge += q - 1
				}
			}
			own.clique += x.cliques(near, i, j, len(higher), words)
		}
	}
	own.clique /= 4
	x.add(v, &own)
	for i, u := range list {
		s := &near[i]
		s.clique /= 3
		x.add(u, s)
		if i < len(higher) {
			e := begin + uint64(i)
			atomic.AddUint64(&c.five.edges[e].cliques, s.cliques)
			atomic.AddUint64(&c.five.tails[e], s.tails)
		}
		at[u] = 0
	}
	clear(near)
}

func (x *dense5) add(v uint32, s *dense5Sums) {
	x.c.add(66, v, s.wedge)
	x.c.add(70, v, s.edge)
	x.c.add(71, v, s.inner)
	x.c.add(72, v, s.clique)
	x.c.add(34, v, -s.cycle)
}

// fill writes rows and at, or neither if v is the lowest vertex of no triangle.
func (x *dense5) fill(v uint32, list, higher []uint32, words int) bool {
	if len(higher) < 2 {
		return false
	}
	if need := len(higher) * words; cap(x.rows) < need {
		x.rows = make([]uint64, need+need/4)
	}
	if cap(x.both) < words {
		x.both = make([]uint64, words+words/4)
	}
	x.rows, x.both = x.rows[:len(higher)*words], x.both[:words]
	clear(x.rows)
	for i, u := range higher {
		x.at[u] = uint32(i + 1)
	}
	found := false
	for i, u := range list {
		next, _ := x.c.above(u)
		for _, w := range next {
			if w >= v {
				break
			}
			if p := int(x.at[w]); p != 0 {
				x.rows[(p-1)*words+i>>6] |= 1 << (i & 63)
				if i < len(higher) {
					x.rows[i*words+(p-1)>>6] |= 1 << ((p - 1) & 63)
					found = true
				}
			}
		}
	}
	if !found {
		for _, u := range higher {
			x.at[u] = 0
		}
	}
	return found
}

// tails takes a triangle of the root, its i-th neighbour, and the j-th, b, which is the highest and at place of+k. Cycle5 counts a cycle of five
// too often for each neighbour, higher than all three, of one of the three; for the triangle's vertices twice as often if it is their own.
func (x *dense5) tails(own *dense5Sums, near []dense5Sums, i, j int, of uint64, k int, b uint32) {
	c := x.c
	end := c.off[b+1]
	top := end - c.off[b]
	all := uint64(j) + uint64(k) + top
	own.cycle += all + uint64(j)
	near[i].cycle += all + uint64(k)
	near[j].cycle += all + top
	if j > 0 {
		near[j-1].tails++
	}
	if k > 0 {
		atomic.AddUint64(&c.five.tails[of+uint64(k)-1], 1)
	}
	if top > 0 {
		atomic.AddUint64(&c.five.tails[end-1], 1)
	}
}

// cliques counts cliques of five of the root, its i-th and its j-th neighbour, and two higher neighbours of which one is higher than both: each
// clique three times at each vertex, and returns their number, four for each clique.
func (x *dense5) cliques(near []dense5Sums, i, j, higher, words int) (all uint64) {
	both := x.both[:(higher+63)/64]
	if r := higher & 63; r != 0 {
		both[len(both)-1] &= 1<<r - 1
	}
	for w := 0; w <= j>>6; w++ {
		for word := both[w]; word != 0; word &= word - 1 {
			p := w<<6 + bits.TrailingZeros64(word)
			if p >= j {
				break
			}
			n := uint64(setops.AndCount(both, x.rows[p*words:p*words+len(both)]))
			near[p].clique += n
			all += n
		}
	}
	near[i].clique += all
	near[j].clique += all
	return all
}

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

// pairs adds up the edges among the neighbours that the root shares with each higher vertex w, which are opposite vertices of a wheel or of one
// less a spoke.
func (x *walk5) pairs(v uint32, list []uint32) {
	x.found = x.found[:0]
	if len(x.near) < 2 {
		return
	}
	for _, w := range x.met {
		if w < v && x.share[w] > 2 {
			x.found = append(x.found, w)
		}
	}
	if len(x.found) == 0 {
		return
	}
	if x.slot == nil {
		x.slot = make([]uint32, len(x.at))
	}
	for len(x.places) < len(x.near) {
		x.places = append(x.places, place5{})
	}
	places := x.places[:len(x.near)]
	x.list = x.near
	x.fill(x.near)
	any := false
	var less, rim uint64
	for todo := x.found; len(todo) > 0; {
		batch := todo[:min(len(todo), max(batchWords/x.words, 1))]
		todo = todo[len(batch):]
		x.shared(batch)
		for i, w := range batch {
			if x.stop.Load() {
				return
			}
			rest := uint64(x.share[w]) - 2
			both := x.tails[i*x.words : (i+1)*x.words]
			ends, wheels := uint64(0), uint64(0)
			for k, word := range both {
				for ; word != 0; word &= word - 1 {
					p := k<<6 + bits.TrailingZeros64(word)
					n := uint64(setops.AndCount(both, x.row(p)))
					if n == 0 {
						continue
					}
					pairs := escape.Choose2(n)
					ends += n
					wheels += pairs
					at := &places[p]
					at.edges += n
					at.less += rest * n
					at.hub += pairs
				}
			}
			if ends == 0 {
				continue
			}
			any = true
			x.inner[w] = ends / 2
			less += rest * (ends / 2)
			rim += wheels
			x.c.add(63, w, rest*(ends/2))
			x.c.add(68, w, wheels)
		}
	}
	if !any {
		return
	}
	x.c.add(63, v, less)
	x.c.add(68, v, rim)
	for i, u := range x.near {
		x.c.add(62, u, -places[i].edges)
		x.c.add(64, u, places[i].less)
		x.c.add(69, u, places[i].hub)
	}
	clear(places)
	// All that the root shares with w may be opposite to the edges, in triangles of the root or not.
	for _, u := range list {
		edges := uint64(0)
		for _, w := range x.csr.List(u) {
			if w >= v {
				break
			}
			edges += x.inner[w]
		}
		x.c.add(62, u, edges)
	}
	for _, w := range x.found {
		x.inner[w] = 0
	}
}

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
