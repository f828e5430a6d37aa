package large

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/engine"
)

// maxLeaves is the largest group of coupled leaves closed by arithmetic: the
// work grows as 3^leaves.
const maxLeaves = 10

// ieBuffers are the tables of one inclusion–exclusion.
type ieBuffers struct {
	common [1 << maxLeaves]uint64         // |∩ of a subset's sets|
	ways   [1 << maxLeaves]engine.Uint128 // injective choices for a subset
	meet   [maxLeaves][]uint64
}

// leafCount counts the injective choices of one candidate each for the
// variables of c, none of which is linked to another: the permanent of their
// 0/1 matrix. ok is false if there are too many of them for that.
//
// By inclusion–exclusion over the partitions of c into blocks of equal
// vertices: Σ Π_blocks (-1)^(|B|-1) (|B|-1)! |∩_B sets|, summed block by block
// over subsets. Intermediate terms may wrap around: the sum is exact modulo
// 2^128.
func (w *worker) leafCount(c uint64) (n engine.Uint128, ok bool) {
	a := bits.TrailingZeros64(c)
	rest := c & (c - 1)
	na := uint64(w.size(a))
	if rest == 0 {
		return engine.U64(na), true
	}
	b := bits.TrailingZeros64(rest)
	nb := uint64(w.size(b))
	sa, sb := w.set(a), w.set(b)
	rest &= rest - 1
	if rest == 0 {
		return engine.U64(na * nb).Sub(engine.U64(uint64(andCount(sa, sb)))), true
	}
	x := bits.TrailingZeros64(rest)
	nx := uint64(w.size(x))
	if rest&(rest-1) == 0 && na|nb|nx < 1<<20 {
		sx := w.set(x)
		sb, sx = sb[:len(sa)], sx[:len(sa)]
		var ab, ax, bx, abx int
		for i, p := range sa {
			q, r := sb[i], sx[i]
			ab += bits.OnesCount64(p & q)
			ax += bits.OnesCount64(p & r)
			bx += bits.OnesCount64(q & r)
			abx += bits.OnesCount64(p & q & r)
		}
		return engine.U64(na*nb*nx - na*uint64(bx) - nb*uint64(ax) - nx*uint64(ab) + 2*uint64(abx)), true
	}
	if bits.OnesCount64(c) > maxLeaves {
		return w.equalLeaves(c)
	}
	return w.leafSum(c), true
}

// equalLeaves counts leaves that all have the same set.
func (w *worker) equalLeaves(c uint64) (engine.Uint128, bool) {
	a := bits.TrailingZeros64(c)
	n := engine.U64(1)
	size := w.size(a)
	for m := c; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		if w.size(v) != w.size(a) || andCount(w.set(a), w.set(v)) != int(w.size(a)) {
			return engine.Uint128{}, false
		}
		n = w.times(n, engine.U64(uint64(max(size, 0))))
		size--
	}
	return n, true
}

// leafSum is the sum over partitions.
func (w *worker) leafSum(c uint64) engine.Uint128 {
	ie := &w.ie
	var vs [maxLeaves]int
	k := 0
	bound := engine.U64(1)
	for ; c != 0; c &= c - 1 {
		vs[k] = bits.TrailingZeros64(c)
		bound = w.times(bound, engine.U64(uint64(w.size(vs[k]))))
		k++
	}
	clear(ie.common[:1<<k])
	for i := range k {
		ie.common[1<<i] = uint64(w.size(vs[i]))
		w.meets(vs[:k], i, 1<<i, w.set(vs[i]), 0)
	}
	ie.ways[0] = engine.U64(1)
	for s := 1; s < 1<<k; s++ {
		low := s & -s
		others := s &^ low
		var sum engine.Uint128
		for t := others; ; t = (t - 1) & others {
			if n := ie.common[t|low]; n != 0 {
				size := bits.OnesCount(uint(t))
				term := ie.ways[others&^t].Mul64(n).Mul64(factorial[size])
				if size&1 == 0 {
					sum = sum.Add(term)
				} else {
					sum = sum.Sub(term)
				}
			}
			if t == 0 {
				break
			}
		}
		ie.ways[s] = sum
	}
	return ie.ways[1<<k-1]
}

// meets fills in |∩| for the supersets of mask, whose largest leaf is i and
// whose intersection is set.
func (w *worker) meets(vs []int, i, mask int, set []uint64, depth int) {
	ie := &w.ie
	for j := i + 1; j < len(vs); j++ {
		if len(ie.meet[depth]) < len(set) {
			ie.meet[depth] = make([]uint64, len(set))
		}
		dst := ie.meet[depth][:len(set)]
		if n := and(dst, set, w.set(vs[j])); n != 0 {
			ie.common[mask|1<<j] = uint64(n)
			w.meets(vs, j, mask|1<<j, dst, depth+1)
		}
	}
}

var factorial = [maxLeaves]uint64{1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880}

func andCount(a, b []uint64) int {
	n := 0
	b = b[:len(a)]
	for i, x := range a {
		n += bits.OnesCount64(x & b[i])
	}
	return n
}

// times multiplies and notes when the product leaves 128 bits.
func (w *worker) times(a, b engine.Uint128) engine.Uint128 {
	if a.Hi|b.Hi == 0 {
		hi, lo := bits.Mul64(a.Lo, b.Lo)
		return engine.Uint128{Hi: hi, Lo: lo}
	}
	if a.IsZero() || b.IsZero() {
		return engine.Uint128{}
	}
	if a.Hi != 0 && b.Hi != 0 {
		w.over = true
	} else {
		x, y := a, b.Lo
		if b.Hi != 0 {
			x, y = b, a.Lo
		}
		if h, l := bits.Mul64(x.Hi, y); h != 0 {
			w.over = true
		} else if h, _ := bits.Mul64(x.Lo, y); l+h < l {
			w.over = true
		}
	}
	return a.Mul(b)
}

// plus adds and notes when the sum leaves 128 bits.
func (w *worker) plus(a, b engine.Uint128) engine.Uint128 {
	s := a.Add(b)
	if s.Cmp(a) < 0 {
		w.over = true
	}
	return s
}
