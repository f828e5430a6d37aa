package sets

import (
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// tailLevels says how many of the last levels can be counted without being
// enumerated.
func tailLevels(pl *plan.Plan, less *Poset, o plan.Options) int {
	if o.Listing || o.NoTail || pl.Mode == pattern.Trail {
		return 0
	}
	for k := len(pl.Levels) - 1; k > 0; k-- {
		if tailFits(pl, less, len(pl.Levels)-k) {
			return k
		}
	}
	return 0
}

// tailFits reports whether the levels from tail on are pairwise independent. They are if
//
//   - each has a candidate set made of levels before the tail;
//   - no condition or edge choice has to be tested for each vertex;
//   - restrictions among them order groups of interchangeable levels completely.
func tailFits(pl *plan.Plan, less *Poset, tail int) bool {
	for l := tail; l < len(pl.Levels); l++ {
		lv := &pl.Levels[l]
		if len(lv.Checks) > 0 || !slices.ContainsFunc(lv.Back, func(b plan.Back) bool { return !b.Neg }) {
			return false
		}
		for _, b := range lv.Back {
			if b.Level >= tail {
				return false
			}
		}
		for _, e := range pl.Edges {
			if e.At == l {
				return false
			}
		}
	}
	groups := twins(pl, less, tail)
	if len(pl.Levels)-tail > plan.MaxTail && len(groups) > plan.MaxTail {
		return false
	}
	for _, group := range groups {
		if !ordersGroup(less, group) {
			return false
		}
	}
	for l := tail; l < len(pl.Levels); l++ {
		for j := tail; j < l; j++ {
			if less.ordered(j, l) && !alike(pl, less, tail, j, l) {
				return false
			}
		}
	}
	return true
}

// alike reports whether two levels of the tail have the same candidates.
func alike(pl *plan.Plan, less *Poset, tail, i, j int) bool {
	x, y := &pl.Levels[i], &pl.Levels[j]
	prefix := uint32(1)<<tail - 1
	return slices.Equal(x.Back, y.Back) && slices.Equal(x.Ranges, y.Ranges) && (x.Ranges == nil) == (y.Ranges == nil) &&
		plan.SameBits(x.Bits, y.Bits) &&
		x.MinDegree == y.MinDegree && x.MinDegreeAdj == y.MinDegreeAdj &&
		less.below[i]&prefix == less.below[j]&prefix && less.above[i]&prefix == less.above[j]&prefix
}

// twins groups the levels of the tail by their candidates.
func twins(pl *plan.Plan, less *Poset, tail int) (groups [][]int) {
next:
	for l := tail; l < len(pl.Levels); l++ {
		for i, g := range groups {
			if alike(pl, less, tail, g[0], l) {
				groups[i] = append(g, l)
				continue next
			}
		}
		groups = append(groups, []int{l})
	}
	return groups
}

// ordersGroup reports whether restrictions order all of the group, or nothing
// in it.
func ordersGroup(less *Poset, group []int) bool {
	pairs := 0
	for i, x := range group {
		for _, y := range group[:i] {
			if less.ordered(x, y) {
				pairs++
			}
		}
	}
	return pairs == 0 || pairs == len(group)*(len(group)-1)/2
}

// addTail groups the last k levels and, if they are few, writes the formula for them.
//
// The formula counts the choices of distinct vertices, one from each of k sets. It is a sum over the partitions of
// the levels into blocks. A block B contributes the factor (-1)^(|B|-1) (|B|-1)! times the size of the
// intersection of its sets: Möbius inversion on the lattice of partitions. Blocks with two disjoint label ranges
// are empty. Partitions with the same product are one term, because interchangeable levels have one set. If the
// vertices may coincide, only the finest partition counts.
func addTail(pl *plan.Plan, k int, less *Poset) {
	pl.Tail = plan.Tail{K: k, Divisor: 1}
	if k == 0 {
		return
	}
	tail := len(pl.Levels) - k
	class := make([]int, len(pl.Levels))
	for i, g := range twins(pl, less, tail) {
		ordered := len(g) > 1 && less.ordered(g[0], g[1])
		pl.Tail.Groups = append(pl.Tail.Groups, plan.TailGroup{Levels: g, Ordered: ordered})
		for j, l := range g {
			class[l] = i
			if j > 0 && ordered {
				pl.Tail.Divisor *= int64(j + 1)
			}
		}
	}
	if k > plan.MaxTail {
		pl.Tail.Divisor = 0
		markSizes(pl, less, tail)
		return
	}
	var keys []uint64
	partitions(tail, len(pl.Levels), func(blocks [][]int) {
		coef := int64(1)
		for _, block := range blocks {
			for i, l := range block {
				if i > 0 {
					coef *= -int64(i)
				}
				for _, j := range block[:i] {
					if pl.Mode != pattern.Iso || !plan.Overlap(pl.Levels[l].Ranges, pl.Levels[j].Ranges) {
						return
					}
				}
			}
		}
		key := partitionKey(blocks, class)
		i := slices.Index(keys, key)
		if i < 0 {
			i = len(pl.Tail.Terms)
			keys = append(keys, key)
			pl.Tail.Terms = append(pl.Tail.Terms, plan.TailTerm{Blocks: oneOfEach(blocks, class)})
		}
		pl.Tail.Terms[i].Coef += coef
	})
	pl.Tail.Terms = slices.DeleteFunc(pl.Tail.Terms, func(t plan.TailTerm) bool { return t.Coef == 0 })
	markSizes(pl, less, tail)
}

// partitions calls f for each partition of tail … end-1 into blocks.
func partitions(tail, end int, f func(blocks [][]int)) {
	var blocks [][]int
	var rec func(l int)
	rec = func(l int) {
		if l == end {
			f(blocks)
			return
		}
		blocks = append(blocks, []int{l})
		rec(l + 1)
		blocks = blocks[:len(blocks)-1]
		for i := range blocks {
			blocks[i] = append(blocks[i], l)
			rec(l + 1)
			blocks[i] = blocks[i][:len(blocks[i])-1]
		}
	}
	rec(tail)
}

// oneOfEach copies the blocks with one level of each class.
func oneOfEach(blocks [][]int, class []int) [][]int {
	out := make([][]int, len(blocks))
	for i, block := range blocks {
		for _, l := range block {
			if !slices.ContainsFunc(out[i], func(j int) bool { return class[j] == class[l] }) {
				out[i] = append(out[i], l)
			}
		}
	}
	return out
}

// partitionKey names a product of sizes: interchangeable levels have the same
// set, which intersected with itself is itself.
func partitionKey(blocks [][]int, class []int) (key uint64) {
	var sets [plan.MaxTail]uint64
	for i, block := range blocks {
		for _, l := range block {
			sets[i] |= 1 << class[l]
		}
	}
	slices.Sort(sets[:])
	for _, s := range sets {
		key = key<<plan.MaxTail | s
	}
	return key
}

// markSizes marks the nodes of which only the size is needed. Only levels of the tail use such
// a node, its elements are these levels' candidates, and no other node is intersected with it.
func markSizes(pl *plan.Plan, less *Poset, tail int) {
	size := make([]bool, len(pl.Sets))
	for l := tail; l < len(pl.Levels); l++ {
		size[pl.Levels[l].Set] = true
	}
	for l := range pl.Levels {
		if s := pl.Levels[l].Set; s >= 0 && (l < tail || !setOnly(pl, less, l, tail)) {
			size[s] = false
		}
	}
	for _, s := range pl.Sets {
		if s.Base >= 0 {
			size[s.Base] = false
		}
	}
	for i, g := range pl.Tail.Groups {
		for _, h := range pl.Tail.Groups[:i] {
			x, y := &pl.Levels[g.Levels[0]], &pl.Levels[h.Levels[0]]
			if x.Set != y.Set && pl.Mode == pattern.Iso && plan.Overlap(x.Ranges, y.Ranges) {
				size[x.Set], size[y.Set] = false, false
			}
		}
	}
	for i := range pl.Sets {
		pl.Sets[i].SizeOnly = size[i]
	}
}
