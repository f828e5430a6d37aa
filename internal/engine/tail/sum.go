// Package tail counts the ways to match a plan's tail from the sizes of candidate sets. The tail is
// the last levels, which a count does not enumerate.
//
// It knows sizes, and must not know how an engine keeps its sets.
package tail

import (
	"math/big"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/plan"
)

// Sum is the formula of one plan's tail, with room for the sizes of one partial match. It is
// Σ Coef × Π |∩ block| over the terms of the tail (inclusion–exclusion, as in GraphPi). Levels with
// the same candidates share one set there, and a block that recurs is measured once. Tails of many
// levels are counted group by group.
type Sum struct {
	// Blocks are the intersections whose sizes the formula needs: bit g is set where the set of
	// Tail.Groups[g] takes part.
	Blocks []uint32
	// Sizes takes the size of each block, without the vertices that are matched already.
	Sizes []uint64

	levels  int // of the tail
	terms   []term
	divisor uint64
	choices *choices // instead of terms, for tails of many levels
}

type term struct {
	coef   int64
	blocks []int // indexes into Blocks
}

// Init sets s to the formula for the tail of p, which has at least two levels.
func (s *Sum) Init(p *plan.Plan) {
	tl := &p.Tail
	*s = Sum{levels: tl.K, divisor: uint64(max(tl.Divisor, 1))}
	groupOf := make([]int, len(p.Levels))
	for g := range tl.Groups {
		for _, l := range tl.Groups[g].Levels {
			groupOf[l] = g
		}
	}
	for _, t := range tl.Terms {
		x := term{coef: t.Coef}
		for _, b := range t.Blocks {
			var mask uint32
			for _, l := range b {
				mask |= 1 << groupOf[l]
			}
			i := slices.Index(s.Blocks, mask)
			if i < 0 {
				i = len(s.Blocks)
				s.Blocks = append(s.Blocks, mask)
			}
			x.blocks = append(x.blocks, i)
		}
		s.terms = append(s.terms, x)
	}
	if tl.Terms == nil {
		s.choices = &choices{}
		s.choices.init(p)
		s.Blocks = p.TailBlocks()
	}
	s.Sizes = tasks.Padded[uint64](len(s.Blocks))
}

// Count returns the number of ways to match the tail with sets of these Sizes. None of them is
// above widest.
func (s *Sum) Count(widest uint64) engine.Tally {
	switch n := bits.Len64(widest) * s.levels; {
	case s.choices != nil:
		for i, mask := range s.Blocks {
			s.choices.size(mask, s.Sizes[i])
		}
		return s.choices.count()
	case n < 56:
		var sum int64
		for i := range s.terms {
			x := s.terms[i].coef
			for _, b := range s.terms[i].blocks {
				x *= int64(s.Sizes[b])
			}
			sum += x
		}
		if s.divisor == 1 {
			return engine.Tally64(uint64(sum))
		}
		return engine.Tally64(uint64(sum) / s.divisor)
	case n >= 120:
		return s.big()
	}
	var sum engine.Uint128
	for i := range s.terms {
		c := s.terms[i].coef
		x := engine.U64(uint64(max(c, -c)))
		for _, b := range s.terms[i].blocks {
			x = x.Mul64(s.Sizes[b])
		}
		if c < 0 {
			sum = sum.Sub(x)
		} else {
			sum = sum.Add(x)
		}
	}
	sum, _ = sum.Div64(s.divisor)
	return engine.Tally{N: sum}
}

// big is Count for sets of which the terms may pass 128 bits.
func (s *Sum) big() engine.Tally {
	sum := new(big.Int)
	for i := range s.terms {
		x := big.NewInt(s.terms[i].coef)
		for _, b := range s.terms[i].blocks {
			x.Mul(x, new(big.Int).SetUint64(s.Sizes[b]))
		}
		sum.Add(sum, x)
	}
	n, err := engine.FromBig(sum.Quo(sum, new(big.Int).SetUint64(s.divisor)))
	return engine.Tally{N: n, Over: err != nil}
}
