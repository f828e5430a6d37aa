package pattern

import "math/bits"

// A search that begins with a changed or cut edge of the data puts it at one pair of vertices of the pattern. Symmetries of the pattern
// turn matches with the edge at one pair into those with it at another pair of its orbit, so one pair of each orbit is enough. The
// symmetries that keep the pair turn its matches into each other. Restrictions on ids break these:
//
//   - If one of them exchanges the ends of the pair, the first end has the greater id.
//   - The others fix both ends. Greater gives their restrictions, along an order that begins with the pair.

// PairOrbits returns, for each of some pairs of vertices, the index of the first pair in its orbit, and whether a permutation
// exchanges the pair's ends. Each pair is ascending, and the orbit of each is among them.
func (g *Group) PairOrbits(all [][2]int) (orbit []int, turns []bool) {
	orbit, turns = make([]int, len(all)), make([]bool, len(all))
	index := make(map[[2]int]int, len(all))
	for i, x := range all {
		orbit[i] = -1
		index[x] = i
	}
	for i, first := range all {
		if orbit[i] >= 0 {
			continue
		}
		seen := map[[2]int]bool{first: true}
		for queue := [][2]int{first}; len(queue) > 0; queue = queue[1:] {
			for _, perm := range g.gens {
				if next := [2]int{perm[queue[0][0]], perm[queue[0][1]]}; !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
		for x := range seen {
			k := index[[2]int{min(x[0], x[1]), max(x[0], x[1])}]
			orbit[k], turns[k] = i, seen[[2]int{x[1], x[0]}]
		}
	}
	return orbit, turns
}

// Greater returns pairs u, v of vertices, where requiring that u has a greater id than v, for all of them, leaves one of the
// matches that permutations of g turn into each other, if these fix the first vertices of the order. A vertex has the greatest id
// of its orbit under the permutations that fix all vertices before it (Grochow and Kellis, RECOMB 2007).
func (g *Group) Greater(order []int, first int) (pairs [][2]int) {
	along := g.OrbitsAlong(order)
	for l := first; l < len(order); l++ {
		for _, w := range Members(along[l] &^ (1 << order[l])) {
			pairs = append(pairs, [2]int{order[l], w})
		}
	}
	return pairs
}

// OrderFrom returns a matching order that begins with some vertices, where near[v] are the neighbours of v. Each next vertex is
// the one with the most neighbours before it, and among equals the one with the most neighbours. Vertices that nothing connects to the
// first ones are left out.
func OrderFrom(near []uint32, first ...int) []int {
	order, had := append([]int(nil), first...), SetOf(first)
	for {
		best, score := -1, 0
		for w := range near {
			if s := bits.OnesCount32(near[w]&had)*32 + bits.OnesCount32(near[w]); had>>w&1 == 0 && near[w]&had != 0 && s > score {
				best, score = w, s
			}
		}
		if best < 0 {
			return order
		}
		order, had = append(order, best), had|1<<best
	}
}
