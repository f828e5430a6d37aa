package reads

import (
	"context"
	"math"

	"github.com/weftgraph/weft/internal/graph"
)

// place is a list with the key by which it is sorted: lists with less of it come first.
type place struct {
	key  uint32
	list uint32 // of the estimator's lists
	v    uint32
}

// keyOf is the key of a list of whose copy a byte saves that many lines: greater densities have smaller keys.
func keyOf(dense float64) uint32 { return ^math.Float32bits(float32(dense)) }

const (
	digitBits = 11
	digits    = 1 << digitBits
	digitMask = digits - 1
)

// sorted sorts places by their keys. Equal keys keep their order. It may use the memory of both slices, which have the same length, and
// returns one of them.
//
// Why not a sort by comparisons: a graph has millions of lists, and the search waits for this.
func sorted(places, room []place) []place {
	for shift := 0; shift < 32; shift += digitBits {
		var at [digits]int
		for i := range places {
			at[places[i].key>>shift&digitMask]++
		}
		sum := 0
		for d, n := range at {
			at[d] = sum
			sum += n
		}
		for _, p := range places {
			d := p.key >> shift & digitMask
			room[at[d]] = p
			at[d]++
		}
		places, room = room, places
	}
	return places
}

// visited returns the lists that are read, in the order in which they get copies, and how many lines are read of all.
func visited(all []*lists) (out []place, lines float64) {
	for i, l := range all {
		n := max(len(l.whole), len(l.below))
		if n == 0 {
			continue
		}
		at := len(out)
		out = append(out, make([]place, n)...)
		sums := make([]float64, n/stripe+1) // apart, so that the total does not depend on the order of the workers
		overStripes(n, func(lo, hi int) {
			sum := 0.0
			for v := lo; v < hi; v++ {
				sum += l.all(uint32(v))
				p := place{key: math.MaxUint32, list: uint32(i), v: uint32(v)}
				if x := l.read(uint32(v)); x.Reads > 0 {
					p.key = min(keyOf(x.dense), math.MaxUint32-1)
				}
				out[at+v] = p
			}
			sums[lo/stripe] = sum
		})
		for _, x := range sums {
			lines += x
		}
		read := out[at:at] // those that are read, moved together
		for _, p := range out[at:] {
			if p.key != math.MaxUint32 {
				read = append(read, p)
			}
		}
		out = out[:at+len(read)]
	}
	return sorted(out, make([]place, len(out))), lines
}

// stripe is how many vertices a worker takes at a time.
const stripe = 1 << 14

// overStripes calls f for ranges of 0 … n-1 that begin at multiples of stripe and are at most as long, by all cores. It blocks until all have returned.
func overStripes(n int, f func(lo, hi int)) {
	work := make([]uint64, (n+stripe-1)/stripe+1)
	for i := range work {
		work[i] = uint64(i) * stripe
	}
	// Without a deadline it cannot fail.
	_ = graph.Parallel(context.Background(), work, 0, func(lo, hi uint32) {
		for s := lo; s < hi; s++ {
			f(int(s)*stripe, min(n, int(s+1)*stripe))
		}
	})
}
