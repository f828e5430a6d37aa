package census

import (
	"sync/atomic"

	"github.com/weftgraph/weft/internal/engine/escape"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/runtime/crew"
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
