package gen

import (
	"math/bits"
)

// ws is the small world of Watts and Strogatz (1998). It begins with a ring in which each
// vertex is joined to its K nearest. Then every edge's far end moves to a random vertex with
// probability P. A new end that is the vertex itself or one of its ring neighbours is drawn
// again, up to 8 times; after that the edge stays. Two edges that move to the same place merge.
var ws = model{
	uses: "N K P",
	check: func(s *Spec) error {
		if s.K == 0 || s.K%2 != 0 || s.K >= s.N {
			return bad("ws: %d neighbours: want an even number below the %d vertices", s.K, s.N)
		}
		if s.K/2 > maxN/s.N*64 {
			return bad("ws: too many edges")
		}
		return nil
	},
	size:  func(s *Spec) (uint64, uint64) { return s.N, s.N },
	edges: func(s *Spec) uint64 { return s.N * (s.K / 2) },
	grain: 1 << 12,
	make: func(s *Spec, lo, hi uint64, emit func(u, v uint64)) {
		for u := lo; u < hi; u++ {
			r := stream(s.Seed, u)
			for k := uint64(1); k <= s.K/2; k++ {
				v := (u + k) % s.N
				if r.float() <= s.P {
					for range 8 {
						w, _ := bits.Mul64(r.next(), s.N)
						if d := (w + s.N - u) % s.N; d > s.K/2 && s.N-d > s.K/2 {
							v = w // neither itself nor a ring neighbour
							break
						}
					}
				}
				emit(u, v)
			}
		}
	},
}

// ba is preferential attachment (Barabási and Albert, 1999) in the form of Batagelj and Brandes
// (2005). The end of an edge is copied from a random place in the list of all earlier ends. A
// place is resolved by following the copies (Sanders and Schulz, 2016), so parts are made
// independently. Equal edges merge: a vertex adds at most K.
var ba = model{
	uses: "N K",
	check: func(s *Spec) error {
		if s.K == 0 || s.K >= s.N {
			return bad("ba: %d edges per vertex: want 1 … %d", s.K, max(s.N, 1)-1)
		}
		if s.K > 1<<20 {
			return bad("ba: %d edges per vertex: at most 2^20", s.K)
		}
		return nil
	},
	size:  func(s *Spec) (uint64, uint64) { return s.N, s.N },
	edges: func(s *Spec) uint64 { return (s.N - s.K) * s.K },
	grain: 1 << 12,
	make: func(s *Spec, lo, hi uint64, emit func(u, v uint64)) {
		seed := mix(s.Seed ^ 0xba)
		for u := lo; u < hi; u++ {
			if u == 0 {
				continue
			}
			for k := range s.K {
				// Ends 2e and 2e+1 belong to edge e; odd ones are copies.
				p := 2*(u*s.K+k) + 1
				for p&1 == 1 && p >= 2*s.K {
					// Only ends from before u, not among u's own.
					q, _ := bits.Mul64(mix(seed^p), p/2/s.K*s.K*2)
					p = q
				}
				// Vertex 0 has K edges to itself, so that its ends exist; they are not
				// edges of the graph.
				emit(u, p/2/s.K)
			}
		}
	},
}

// grid is the lattice of any number of dimensions.
var grid = model{
	uses: "Dims Torus",
	check: func(s *Spec) error {
		if len(s.Dims) == 0 {
			return bad("grid: no dimensions")
		}
		n := uint64(1)
		for _, d := range s.Dims {
			if d == 0 {
				return bad("grid: a side of length 0")
			}
			if d > maxN/n {
				return bad("grid: too many vertices")
			}
			n *= d
		}
		return nil
	},
	size: func(s *Spec) (uint64, uint64) {
		n := uint64(1)
		for _, d := range s.Dims {
			n *= d
		}
		return n, n
	},
	edges: func(s *Spec) uint64 { return 0 },
	grain: 1 << 14,
	make: func(s *Spec, lo, hi uint64, emit func(u, v uint64)) {
		for u := lo; u < hi; u++ {
			step := uint64(1)
			for _, d := range s.Dims {
				switch at := u / step % d; {
				case at+1 < d:
					emit(u, u+step)
				case s.Torus && d > 2:
					emit(u, u-at*step)
				}
				step *= d
			}
		}
	},
}

// cliques is N complete graphs of K vertices, disjoint or in a ring: the last
// vertex of each joined to the first of the next.
var cliques = model{
	uses: "N K Ring",
	check: func(s *Spec) error {
		if s.N == 0 || s.K == 0 {
			return bad("cliques: %d cliques of %d vertices", s.N, s.K)
		}
		if s.K > maxN/s.N {
			return bad("cliques: too many vertices")
		}
		if s.Ring && s.N < 2 {
			return bad("cliques: a ring wants two or more")
		}
		return nil
	},
	size:  func(s *Spec) (uint64, uint64) { return s.N * s.K, s.N * s.K },
	edges: func(s *Spec) uint64 { return s.N * s.K * (s.K - 1) / 2 },
	grain: 1 << 10,
	make: func(s *Spec, lo, hi uint64, emit func(u, v uint64)) {
		for u := lo; u < hi; u++ {
			end := u/s.K*s.K + s.K
			for v := u + 1; v < end; v++ {
				emit(u, v)
			}
			if s.Ring && u+1 == end {
				emit(u, end%(s.N*s.K))
			}
		}
	},
}

// star is one vertex joined to N leaves.
var star = model{
	uses: "N",
	check: func(s *Spec) error {
		if s.N > maxN-1 {
			return bad("star: too many leaves")
		}
		return nil
	},
	size:  func(s *Spec) (uint64, uint64) { return s.N + 1, s.N },
	edges: func(s *Spec) uint64 { return s.N },
	grain: 1 << 16,
	make: func(s *Spec, lo, hi uint64, emit func(u, v uint64)) {
		for u := lo; u < hi; u++ {
			emit(0, u+1)
		}
	},
}
