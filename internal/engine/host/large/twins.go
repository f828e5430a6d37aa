package large

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
)

// Leaves with the same set, often twins of the pattern, are interchangeable, and a sum over
// partitions need not tell them apart. The state of the sum is then the number of leaves of
// each class that are not yet in a block. A block takes some leaves of each class, in as many
// ways as the binomial coefficients say.

// A leafClasses is the classes of a group of leaves.
type leafClasses struct {
	n      int
	member [maxLeaves]int // a leaf of the class
	count  [maxLeaves]int
	stride [maxLeaves]int     // of the class's digit in the number of a state
	left   [maxLeaves]int     // digits of the current state
	start  [maxLeaves + 1]int // blocks by their lowest class
}

// leafClasses counts the injective choices of leaves by class; ok is false if
// there are too many classes.
func (w *worker) leafClasses(c uint64) (engine.Uint128, bool) {
	lc := &w.classes
	lc.n = 0
	k := 0
	for m := c; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		k++
		i := 0
		for i < lc.n && !(w.size(v) == w.size(lc.member[i]) && slices.Equal(w.set(v), w.set(lc.member[i]))) {
			i++
		}
		if i == lc.n {
			if i == maxLeaves {
				return engine.Uint128{}, false
			}
			lc.member[i], lc.count[i] = v, 0
			lc.n++
		}
		lc.count[i]++
	}
	switch lc.n {
	case 1:
		return w.arrangements(int(w.size(lc.member[0])), k), true
	case k:
		return w.leafSum(c), true
	}
	states := 1
	for i := range lc.n {
		lc.stride[i] = states
		if states *= lc.count[i] + 1; states > 1<<maxLeaves {
			return engine.Uint128{}, false
		}
	}
	return w.classSum(states), true
}

// arrangements is n (n-1) … (n-k+1).
func (w *worker) arrangements(n, k int) engine.Uint128 {
	a := engine.U64(1)
	for i := range k {
		a = w.times(a, engine.U64(uint64(max(n-i, 0))))
	}
	return a
}

// classSum is the sum over partitions of the leaves in w.classes, as leafSum.
func (w *worker) classSum(states int) engine.Uint128 {
	lc, ie := &w.classes, &w.ie
	// The intersections of every set of classes that has one: their blocks are
	// leafSum's for one leaf of each class.
	bound := engine.U64(1)
	ie.used = 0
	for i := range lc.n {
		v := lc.member[i]
		for range lc.count[i] {
			bound = w.times(bound, engine.U64(uint64(w.size(v))))
		}
		lc.start[i] = ie.used
		ie.blocks[ie.used] = block{1 << i, false, uint64(w.size(v))}
		ie.used++
		w.meets(lc.member[:lc.n], i, 1<<i, w.set(v), 0)
	}
	lc.start[lc.n] = ie.used
	w.work += uint64(ie.used)
	for i := range ie.blocks[:ie.used] {
		b := &ie.blocks[i]
		b.n /= factorial[bits.OnesCount32(b.leaves)-1]
	}
	clear(ie.ways[:states-1])
	ie.ways[states-1] = engine.U64(1)
	for s := states - 1; s > 0; s-- {
		n := ie.ways[s]
		if n.IsZero() {
			continue
		}
		low := -1
		var present uint32
		for i := range lc.n {
			lc.left[i] = s / lc.stride[i] % (lc.count[i] + 1)
			if lc.left[i] > 0 {
				present |= 1 << i
				if low < 0 {
					low = i
				}
			}
		}
		w.work++
		for _, b := range ie.blocks[lc.start[low]:lc.start[low+1]] {
			if b.leaves&^present == 0 {
				w.spread(s, n.Mul64(b.n), b.leaves, 0, true)
			}
		}
	}
	return ie.ways[0]
}

// spread takes some of each class of a block from state s, where n ways lead,
// and adds to the states that it reaches. size leaves are in the block so far;
// first says that the lowest class is next, one leaf of which is given.
func (w *worker) spread(s int, n engine.Uint128, classes uint32, size int, first bool) {
	if classes == 0 {
		term := n.Mul(factorials[size-1])
		to := &w.ie.ways[s]
		if size&1 == 0 {
			*to = to.Sub(term)
		} else {
			*to = to.Add(term)
		}
		return
	}
	lc := &w.classes
	i := bits.TrailingZeros32(classes)
	for take := 1; take <= lc.left[i]; take++ {
		ways := binomials[lc.left[i]][take]
		if first {
			ways = binomials[lc.left[i]-1][take-1]
		}
		w.spread(s-take*lc.stride[i], n.Mul64(ways), classes&(classes-1), size+take, false)
	}
}

// binomials are exact; factorials are modulo 2^128, as the sums are.
var (
	binomials  [maxVars + 1][maxVars + 1]uint64
	factorials [maxVars + 1]engine.Uint128
)

func init() {
	factorials[0] = engine.U64(1)
	for n := range maxVars + 1 {
		binomials[n][0] = 1
		for k := 1; k <= n; k++ {
			binomials[n][k] = binomials[n-1][k-1] + binomials[n-1][k]
		}
		if n > 0 {
			factorials[n] = factorials[n-1].Mul64(uint64(n))
		}
	}
}
