package escape

import (
	"math/bits"
	"strings"
	"sync"
)

// graphlets are the connected graphs of two to five vertices: their edges, as pairs of digits, and the orbit of each vertex in the
// numbers of Pržulj (Biological network comparison using graphlet degree distribution, Bioinformatics 2007). Of two graphs of the same number of
// vertices, the one with more edges has the larger numbers.
var graphlets = []struct {
	edges  string
	orbits []uint8
}{
	{"01", []uint8{0, 0}},
	{"01 12", []uint8{1, 2, 1}},
	{"01 12 20", []uint8{3, 3, 3}},
	{"01 12 23", []uint8{4, 5, 5, 4}},
	{"01 02 03", []uint8{7, 6, 6, 6}},
	{"01 12 23 30", []uint8{8, 8, 8, 8}},
	{"01 12 23 31", []uint8{9, 11, 10, 10}},
	{"01 12 23 30 02", []uint8{13, 12, 13, 12}},
	{"01 02 03 12 13 23", []uint8{14, 14, 14, 14}},
	{"01 12 23 34", []uint8{15, 16, 17, 16, 15}},                   // path
	{"01 12 23 24", []uint8{18, 20, 21, 19, 19}},                   // fork
	{"01 02 03 04", []uint8{23, 22, 22, 22, 22}},                   // star
	{"01 12 20 13 24", []uint8{25, 26, 26, 24, 24}},                // bull
	{"01 12 23 34 42", []uint8{27, 28, 30, 29, 29}},                // lollipop of a triangle
	{"01 12 20 03 04", []uint8{33, 32, 32, 31, 31}},                // cricket
	{"01 12 23 34 40", []uint8{34, 34, 34, 34, 34}},                // cycle
	{"01 12 23 34 41", []uint8{35, 38, 37, 36, 37}},                // banner
	{"01 12 13 14 23 34", []uint8{39, 42, 40, 41, 40}},             // dart
	{"01 12 20 03 34 40", []uint8{44, 43, 43, 43, 43}},             // bowtie
	{"01 12 13 23 24 34", []uint8{45, 47, 48, 48, 46}},             // kite
	{"02 03 04 12 13 14", []uint8{50, 50, 49, 49, 49}},             // bipartite(2,3)
	{"01 12 23 34 41 40", []uint8{52, 53, 51, 51, 53}},             // house
	{"01 02 03 04 12 13 14", []uint8{55, 55, 54, 54, 54}},          // book
	{"01 12 13 14 23 24 34", []uint8{56, 58, 57, 57, 57}},          // lollipop of a clique
	{"01 02 03 04 12 23 34", []uint8{61, 59, 60, 60, 59}},          // gem
	{"01 12 23 30 40 41 42", []uint8{63, 64, 63, 62, 64}},          // wheel less a spoke
	{"01 02 12 13 14 23 24 34", []uint8{65, 67, 67, 66, 66}},       // clique less a wedge
	{"01 02 03 04 12 23 34 41", []uint8{69, 68, 68, 68, 68}},       // wheel
	{"02 03 04 12 13 14 23 24 34", []uint8{70, 70, 71, 71, 71}},    // clique less an edge
	{"01 02 03 04 12 13 14 23 24 34", []uint8{72, 72, 72, 72, 72}}, // clique
}

// NumOrbits is the number of orbits of connected graphs of two to five vertices. Those of two to four are the first 15.
const NumOrbits = 73

// Orbit tells how the numbers of an orbit and of others at one vertex of a graph are related.
type Orbit struct {
	// A homomorphism from the orbit's graph to the vertex's graph takes the orbit to the vertex, and edges to edges. There are Symmetries of them
	// to each subgraph that has the vertex at the orbit, and N to each subgraph that has it at an orbit of Merged: there some vertices,
	// not adjacent to each other, become one.
	Symmetries uint64
	Merged     []Term
	// Within tells how many subgraphs on all vertices of the orbit's graph have it at an orbit: those of fewer edges.
	Within []Term
}

// Term is a number for each subgraph that has a vertex at an orbit.
type Term struct {
	Orbit int
	N     uint64
}

// Subgraphs is how many subgraphs have a vertex at the orbit, of the number of homomorphisms, and of the numbers of subgraphs of orbits of
// fewer vertices.
func (o *Orbit) Subgraphs(homomorphisms uint64, n *[NumOrbits]uint64) uint64 {
	return (homomorphisms - o.merged(n)) / o.Symmetries
}

// Homomorphisms is the inverse of Subgraphs.
func (o *Orbit) Homomorphisms(subgraphs uint64, n *[NumOrbits]uint64) uint64 {
	return subgraphs*o.Symmetries + o.merged(n)
}

func (o *Orbit) merged(n *[NumOrbits]uint64) (sum uint64) {
	for _, t := range o.Merged {
		sum += t.N * n[t.Orbit]
	}
	return sum
}

// InduceOrbits makes the numbers of subgraphs that have a vertex at each orbit of up to three, four or five vertices those of induced subgraphs.
func InduceOrbits(n []uint64) {
	orbits := Orbits()
	for i := len(n) - 1; i >= 0; i-- {
		for _, t := range orbits[i].Within {
			n[t.Orbit] -= t.N * n[i]
		}
	}
}

// Orbits returns all orbits, by number.
var Orbits = sync.OnceValue(func() *[NumOrbits]Orbit {
	known := map[small][]uint8{}
	for _, g := range graphlets {
		edges := strings.Fields(g.edges)
		permute(len(g.orbits), func(to []uint8) {
			s, orbits := small{n: uint8(len(to))}, make([]uint8, len(to))
			for _, e := range edges {
				s.join(to[e[0]-'0'], to[e[1]-'0'])
			}
			for v, orbit := range g.orbits {
				orbits[to[v]] = orbit
			}
			known[s] = orbits
		})
	}
	var all [NumOrbits]Orbit
	for s, at := range known {
		for v, orbit := range at {
			if o := &all[orbit]; o.Symmetries == 0 {
				o.Symmetries = s.symmetries(uint8(v))
				o.Within = terms(within(s, v, known))
			}
		}
	}
	// What is merged is an orbit of fewer vertices, with its symmetries.
	for s, at := range known {
		for v, orbit := range at {
			if o := &all[orbit]; o.Merged == nil {
				o.Merged = terms(merged(s, v, known))
				for i := range o.Merged {
					t := &o.Merged[i]
					t.N *= all[t.Orbit].Symmetries
				}
			}
		}
	}
	return &all
})

// terms are those of which there is any.
func terms(n [NumOrbits]uint64) []Term {
	out := []Term{}
	for orbit, k := range n {
		if k > 0 {
			out = append(out, Term{orbit, k})
		}
	}
	return out
}

// small is a graph of n vertices, at most five, as the neighbours of each.
type small struct {
	n    uint8
	near [5]uint8
}

func (s *small) join(u, v uint8) {
	s.near[u] |= 1 << v
	s.near[v] |= 1 << u
}

// symmetries is the number of permutations that leave v and keep the edges.
func (s small) symmetries(v uint8) (n uint64) {
	permute(int(s.n), func(to []uint8) {
		moved := small{n: s.n}
		for a := range s.n {
			for b := range a {
				if s.near[a]>>b&1 == 1 {
					moved.join(to[a], to[b])
				}
			}
		}
		if moved == s && to[v] == v {
			n++
		}
	})
	return n
}

// within counts the connected graphs of all vertices of s and some of its edges, by the orbit of v.
func within(s small, v int, known map[small][]uint8) (n [NumOrbits]uint64) {
	var edges [][2]uint8
	for a := range s.n {
		for b := range a {
			if s.near[a]>>b&1 == 1 {
				edges = append(edges, [2]uint8{a, b})
			}
		}
	}
	for set := range uint(1)<<len(edges) - 1 {
		some := small{n: s.n}
		for m := set; m != 0; m &= m - 1 {
			e := edges[bits.TrailingZeros(m)]
			some.join(e[0], e[1])
		}
		if at, ok := known[some]; ok {
			n[at[v]]++
		}
	}
	return n
}

// merged counts the graphs that s becomes if sets of vertices without an edge among them become one vertex each, by the orbit of v's set.
func merged(s small, v int, known map[small][]uint8) (n [NumOrbits]uint64) {
	set := make([]uint8, s.n) // of each vertex; the first of each is after those of smaller vertices
	var next func(u, sets uint8)
	next = func(u, sets uint8) {
		if u < s.n {
			for set[u] = range sets + 1 {
				next(u+1, max(sets, set[u]+1))
			}
			return
		}
		if sets == s.n {
			return
		}
		g := small{n: sets}
		for a := range s.n {
			for b := range a {
				if s.near[a]>>b&1 == 1 {
					if set[a] == set[b] {
						return
					}
					g.join(set[a], set[b])
				}
			}
		}
		n[known[g][set[v]]]++
	}
	next(0, 0)
	return n
}

// permute calls f with all permutations of 0 … n-1.
func permute(n int, f func(to []uint8)) {
	to := make([]uint8, n)
	var next func(i int, used uint8)
	next = func(i int, used uint8) {
		if i == n {
			f(to)
			return
		}
		for x := range uint8(n) {
			if used>>x&1 == 0 {
				to[i] = x
				next(i+1, used|1<<x)
			}
		}
	}
	next(0, 0)
}
