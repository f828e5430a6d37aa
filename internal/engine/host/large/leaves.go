package large

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/engine"
)

// maxLeaves is the largest number of different sets in a group of coupled
// leaves closed by arithmetic: the work grows as 3^sets at worst.
const maxLeaves = 12

// ieBuffers are the tables of one inclusion–exclusion.
type ieBuffers struct {
	blocks [1 << maxLeaves]block
	start  [maxLeaves + 1]int             // blocks by their lowest leaf
	ways   [1 << maxLeaves]engine.Uint128 // signed sums by leaves not yet in a block
	meet   [maxLeaves][]uint64
	used   int
}

// A block is leaves that share a vertex: n is (|leaves|-1)! times the number of
// vertices common to all their sets, minus says the sign.
type block struct {
	leaves uint32
	minus  bool
	n      uint64
}

// leafCount counts the injective choices of one candidate each for the
// variables of c, none of which is linked to another: the permanent of their
// 0/1 matrix. ok is false if there are too many of them for that.
//
// By inclusion–exclusion over the partitions of c into blocks of equal
// vertices: Σ Π_blocks (-1)^(|B|-1) (|B|-1)! |∩_B sets|, summed block by
// block. Intermediate terms may wrap around: the sum is exact modulo
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
	return w.leafClasses(c)
}

// leafSum is the sum over partitions, taken from the full set down: the lowest
// leaf not yet in a block goes into each block that it can. Only blocks with a
// common vertex, and only sets that are reached, cost anything.
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
	ie.used = 0
	for i := range k {
		ie.start[i] = ie.used
		set := w.set(vs[i])
		ie.blocks[ie.used] = block{1 << i, false, uint64(w.size(vs[i]))}
		ie.used++
		w.meets(vs[:k], i, 1<<i, set, 0)
	}
	ie.start[k] = ie.used
	w.work += uint64(ie.used)
	full := 1<<k - 1
	clear(ie.ways[:full])
	ie.ways[full] = engine.U64(1)
	for s := full; s > 0; s-- {
		n := ie.ways[s]
		if n.IsZero() {
			continue
		}
		low := bits.TrailingZeros(uint(s))
		blocks := ie.blocks[ie.start[low]:ie.start[low+1]]
		w.work += uint64(len(blocks)) >> 3
		for i := range blocks {
			b := &blocks[i]
			if int(b.leaves)&^s != 0 {
				continue
			}
			to := &ie.ways[s&^int(b.leaves)]
			if b.minus {
				*to = to.Sub(n.Mul64(b.n))
			} else {
				*to = to.Add(n.Mul64(b.n))
			}
		}
	}
	return ie.ways[0]
}

// meets adds the blocks that extend leaves, the last of which is i and which
// have set in common.
func (w *worker) meets(vs []int, i, leaves int, set []uint64, depth int) {
	ie := &w.ie
	for j := i + 1; j < len(vs); j++ {
		if len(ie.meet[depth]) < len(set) {
			ie.meet[depth] = make([]uint64, len(set))
		}
		dst := ie.meet[depth][:len(set)]
		if n := and(dst, set, w.set(vs[j])); n != 0 {
			ie.blocks[ie.used] = block{uint32(leaves | 1<<j), depth&1 == 0, uint64(n) * factorial[depth+1]}
			ie.used++
			w.meets(vs, j, leaves|1<<j, dst, depth+1)
		}
	}
}

var factorial = [maxLeaves]uint64{1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800}

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
	n, over := a.MulOver(b)
	w.over = w.over || over && !a.IsZero() && !b.IsZero()
	return n
}

// plus adds and notes when the sum leaves 128 bits.
func (w *worker) plus(a, b engine.Uint128) engine.Uint128 {
	n, over := a.AddOver(b)
	w.over = w.over || over
	return n
}
