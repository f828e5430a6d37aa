package gen

import (
	"context"
	"math"
	"math/bits"
)

// er is the random graph of Erdős and Rényi: G(n,m), exactly m distinct edges,
// where M is set, else G(n,p), each pair with probability p.
var er = model{
	uses: "N M P",
	check: func(s *Spec) error {
		if s.N == 0 {
			return bad("er: no vertices")
		}
		if s.M > 0 && s.P > 0 {
			return bad("er: give edges or a probability, not both")
		}
		if most := pairs(s); s.M > most {
			return bad("er: %d edges: %d vertices have at most %d", s.M, s.N, most)
		}
		return nil
	},
	size: func(s *Spec) (uint64, uint64) {
		if s.M > 0 {
			return s.N, s.M
		}
		return s.N, s.N
	},
	edges: func(s *Spec) uint64 {
		if s.M > 0 {
			return s.M
		}
		return uint64(s.P * float64(pairs(s)) * 0.99)
	},
	grain:   1 << 12,
	prepare: prepareER,
}

// pairs is the number of edges of the complete graph.
func pairs(s *Spec) uint64 {
	p := s.N * (s.N - 1)
	if !s.Directed {
		p /= 2
	}
	return p
}

func prepareER(_ context.Context, s *Spec, _ int) (func(*Spec, uint64, uint64, func(u, v uint64)), error) {
	if s.M > 0 {
		return permutedPairs(s), nil
	}
	return func(s *Spec, lo, hi uint64, emit func(u, v uint64)) {
		for u := lo; u < hi; u++ {
			r := stream(s.Seed, u)
			from := u + 1
			if s.Directed {
				from = 0
			}
			// Batagelj and Brandes (2005): jump over the pairs that are not
			// there.
			for v := from; v < s.N; v++ {
				if s.P < 1 {
					if s.P == 0 {
						break
					}
					skip := math.Floor(math.Log(r.float()) / math.Log1p(-s.P))
					if skip >= float64(s.N-v) {
						break
					}
					v += uint64(skip)
				}
				if v != u {
					emit(u, v)
				}
			}
		}
	}, nil
}

// permutedPairs makes edge e from place e of a random permutation of all pairs:
// distinct without looking, so parts can be made independently. The permutation
// is a Feistel network over the next power of four, walked until it falls
// inside.
func permutedPairs(s *Spec) func(*Spec, uint64, uint64, func(u, v uint64)) {
	total := pairs(s)
	half := max(1, (bits.Len64(total-1)+1)/2)
	mask := uint64(1)<<half - 1
	var key [6]uint64
	r := stream(s.Seed, 0)
	for i := range key {
		key[i] = r.next()
	}
	return func(s *Spec, lo, hi uint64, emit func(u, v uint64)) {
		for e := lo; e < hi; e++ {
			x := e
			for {
				a, b := x>>half, x&mask
				for _, k := range key {
					a, b = b, a^mix(b^k)&mask
				}
				if x = a<<half | b; x < total {
					break
				}
			}
			if s.Directed {
				u, v := x/(s.N-1), x%(s.N-1)
				if v >= u {
					v++
				}
				emit(u, v)
				continue
			}
			// Pair x of the lower triangle: row u, column v < u.
			u := uint64((1 + math.Sqrt(float64(1+8*x))) / 2)
			for u*(u-1)/2 > x {
				u--
			}
			for u*(u+1)/2 <= x {
				u++
			}
			emit(u, x-u*(u-1)/2)
		}
	}
}
