package fine

import (
	"context"
	"math"
	"math/bits"
	"slices"
)

// Limits of a tail: vertices that share candidates, and the blocks that are
// measured for it.
const (
	maxGroup  = 4
	maxBlocks = 24
)

// survey has the device's figures about the candidates: struct Survey without its arcs.
type survey struct {
	Changed                    [8]uint32
	First, End, Count, Overlap [maxQuery]uint32
}

// order is how the candidate graph is searched.
type order struct {
	walk   []int   // pattern vertices, by level
	groups [][]int // of the tail: those that share candidates
	cost   float64 // estimated candidates tested
}

// orders estimates and chooses orders.
type orders struct {
	*query
	s    *survey
	arcs []uint64 // of each arc of the query: pairs of candidates
}

// choose returns the cheapest of several greedy orders. They start from each vertex, with more
// or less weight on vertices that later ones depend on. The tail begins when no two of the
// remaining vertices are related. It returns the context's error early, because dense patterns
// take some time.
func (o orders) choose(ctx context.Context) (order, error) {
	best := order{cost: math.Inf(1)}
	for start := range o.n {
		if err := context.Cause(ctx); err != nil {
			return best, err
		}
		for weight := range 3 {
			if got := o.from(start, weight); best.walk == nil || got.cost < best.cost {
				best = got
			}
		}
	}
	return best, nil
}

func (o orders) from(start, weight int) order {
	got := order{walk: []int{start}, cost: float64(o.s.Count[start])}
	partial := got.cost
	for done := uint32(1) << start; ; {
		rest := (1<<o.n - 1) &^ done
		if rest == 0 {
			return got
		}
		if got.groups = o.closed(rest); got.groups != nil {
			for _, g := range got.groups {
				for s := uint32(1); s < 1<<len(g); s++ {
					list, _ := o.fan(g[bits.TrailingZeros32(s)], done)
					got.cost += partial * list
				}
			}
			return got
		}
		next, score := -1, 0.0
		for m := rest; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			if o.linked[v]&done == 0 {
				continue
			}
			_, fan := o.fan(v, done)
			open := 0.5 + float64(bits.OnesCount32(o.linked[v]&rest))
			if x := fan / math.Pow(open, float64(weight)); next < 0 || x < score {
				next, score = v, x
			}
		}
		list, fan := o.fan(next, done)
		got.cost += partial * list
		partial *= fan
		got.walk = append(got.walk, next)
		done |= 1 << next
	}
}

// fan estimates the number of candidates of v that a partial match of done has to test, and the
// number that remain. The first is the length of the shortest row, and the second the part of
// it that is in the others. Rows of one partial match have far more in common than random rows,
// so the second shortest counts by its fourth root, and the third by its eighth.
func (o orders) fan(v int, done uint32) (list, left float64) {
	size := max(float64(o.s.Count[v]), 1)
	var parts []float64
	for i, a := range o.query.arcs {
		if a.to == v && !a.neg && done>>a.from&1 != 0 {
			parts = append(parts, float64(o.arcs[i])/max(float64(o.s.Count[a.from]), 1)/size)
		}
	}
	slices.Sort(parts)
	list, left = size, size
	for i, part := range parts {
		list = min(list, size*part)
		if i > 0 {
			part = math.Pow(part, 0.5/float64(int(1)<<i))
		}
		left *= part
	}
	return list, left
}

// closed returns the groups of vertices that share candidates, directly or
// through others, if rest can be a tail; else nil.
func (o orders) closed(rest uint32) (groups [][]int) {
	if !o.tail {
		return nil
	}
	blocks := 0
	for left := rest; left != 0; {
		group := left & -left
		for frontier := group; frontier != 0; {
			v := bits.TrailingZeros32(frontier)
			frontier &= frontier - 1
			if o.tied[v]&rest != 0 {
				return nil
			}
			if o.distinct {
				more := o.s.Overlap[v] & left &^ group
				group |= more
				frontier |= more
			}
		}
		left &^= group
		if bits.OnesCount32(group) > maxGroup {
			return nil
		}
		blocks += 1<<bits.OnesCount32(group) - 1
		groups = append(groups, vertices(group))
	}
	if blocks > maxBlocks {
		return nil
	}
	return groups
}

// vertices are the members of a set.
func vertices(set uint32) (out []int) {
	for ; set != 0; set &= set - 1 {
		out = append(out, bits.TrailingZeros32(set))
	}
	return out
}
