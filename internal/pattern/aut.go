package pattern

import "math/big"

// Group is a permutation group on the vertices of a pattern, held as a stabiliser chain. Level
// i is the orbit of vertex i under the permutations that fix 0 … i-1, with one permutation for
// each member of the orbit (Sims; see Seress, Permutation Group Algorithms, 2003). A group of
// order 32! thus takes at most 32·31/2 permutations.
type Group struct {
	n      int
	s      *structure // this and the rest are nil where refinement tells all vertices apart
	colour []int      // refined; vertices fixed by definition have own colours
	chain  [][][]int  // chain[i][j]: fixes 0 … i-1 and moves i; the identity first
	gens   [][]int
}

// Automorphisms returns the automorphism group of p: the permutations of its vertices that keep
// labels, directions, edge labels, NOT edges, predicates, edge predicates and ORDERED. Names do
// not matter. An edge of which each choice counts is alike only to another such edge. Alike
// parallel edges are not exchanged if a predicate or ORDERED names them.
//
// The method is backtracking with colour refinement, level by level from the last vertex to the
// first, so that symmetry found deeper prunes the search above (McKay, Practical graph
// isomorphism, 1981).
func (p *Pattern) Automorphisms() *Group {
	var room [2 * MaxVertices]plainPair
	x, ok := plainOf(p, room[:0])
	if ok && x.discrete() {
		return &Group{n: x.n}
	}
	var s *structure
	if ok {
		s = x.structure()
	} else {
		s = newStructure(p, nil)
	}
	return newGroup(s, s.vertex)
}

func newGroup(s *structure, colour []int) *Group {
	g := &Group{n: s.n, s: s}
	g.colour, _ = s.refine(colour)
	if fixed := single(g.colour); s.n > 0 && fixed == ^uint32(0)>>(32-min(s.n, 32)) {
		return &Group{n: s.n}
	}
	identity := make([]int, s.n)
	for i := range identity {
		identity[i] = i
	}
	still := [][]int{identity}
	g.chain = make([][][]int, s.n)
	level := make([][]int, s.n) // level[i]: 0 … i-1 have colours of their own
	alone := make([]uint32, s.n)
	for i, now, fixed := 0, g.colour, single(g.colour); i < s.n; i++ {
		level[i], alone[i] = now, fixed
		if fixed>>i&1 == 0 {
			now, _ = s.refine(individualise(now, i))
			fixed = single(now)
		}
	}
	for i := s.n - 1; i >= 0; i-- {
		g.chain[i] = still
		if alone[i]>>i&1 != 0 {
			continue // nothing that keeps the colours moves i
		}
		to := transversal(i, identity, g.gens)
		for w := i + 1; w < s.n; w++ {
			if level[i][w] != level[i][i] || to[w] != nil {
				continue
			}
			perm := s.exchange(i, w)
			if perm == nil {
				perm = s.search(individualise(level[i], i), individualise(level[i], w))
			}
			if perm != nil {
				g.gens = append(g.gens, perm)
				to = transversal(i, identity, g.gens)
			}
		}
		g.chain[i] = nil
		for _, perm := range to {
			if perm != nil {
				g.chain[i] = append(g.chain[i], perm)
			}
		}
	}
	return g
}

// transversal returns, for each vertex in the orbit of v under gens, a product
// of generators that takes v there.
func transversal(v int, identity []int, gens [][]int) [][]int {
	to := make([][]int, len(identity))
	to[v] = identity
	for queue := []int{v}; len(queue) > 0; queue = queue[1:] {
		u := queue[0]
		for _, g := range gens {
			if w := g[u]; to[w] == nil {
				to[w] = compose(g, to[u])
				queue = append(queue, w)
			}
		}
	}
	return to
}

// compose returns the permutation that applies first and then second.
func compose(second, first []int) []int {
	out := make([]int, len(first))
	for i, x := range first {
		out[i] = second[x]
	}
	return out
}

// exchange returns the permutation that exchanges v and w alone, where that keeps
// s: so it is for each pair in a clique, and for the leaves of a star.
func (s *structure) exchange(v, w int) []int {
	perm := make([]int, s.n)
	for i := range perm {
		perm[i] = i
	}
	perm[v], perm[w] = w, v
	if !s.preserves(perm) {
		return nil
	}
	return perm
}

// search returns an isomorphism of s that takes the colouring left to right, or
// nil where there is none.
func (s *structure) search(left, right []int) []int {
	left, lt := s.refine(left)
	right, rt := s.refine(right)
	if lt != rt {
		return nil
	}
	count := make([]int, s.n)
	at := make([]int, s.n)
	for v, c := range right {
		count[c]++
		at[c] = v
	}
	for _, c := range left {
		count[c]--
	}
	for _, c := range count {
		if c != 0 {
			return nil
		}
	}
	for _, c := range right {
		count[c]++
	}
	perm := make([]int, s.n)
	for v, c := range left {
		perm[v] = -1
		if count[c] == 1 {
			perm[v] = at[c]
		}
	}
	if !s.preservesWide(perm) {
		return nil
	}
	cell := smallestCell(left)
	if cell == nil {
		if !s.preserves(perm) {
			return nil
		}
		return perm
	}
	split := individualise(left, cell[0])
	for w, c := range right {
		if c == left[cell[0]] {
			if perm := s.search(split, individualise(right, w)); perm != nil {
				return perm
			}
		}
	}
	return nil
}

// Order is the number of elements of g, |Aut|.
func (g *Group) Order() *big.Int {
	n := big.NewInt(1)
	for _, level := range g.chain {
		if len(level) > 1 {
			n.Mul(n, big.NewInt(int64(len(level))))
		}
	}
	return n
}

// Trivial reports whether g has no element but the identity.
func (g *Group) Trivial() bool { return len(g.gens) == 0 }

// Generators returns permutations that generate g; none for the trivial group.
func (g *Group) Generators() [][]int { return g.gens }

// Orbits returns for each vertex the smallest vertex of its orbit.
func (g *Group) Orbits() []int {
	orbit := make([]int, g.n)
	for v := range orbit {
		orbit[v] = v
	}
	find := func(v int) int {
		for orbit[v] != v {
			v = orbit[v]
		}
		return v
	}
	for _, perm := range g.gens {
		for v, w := range perm {
			if a, b := find(v), find(w); a < b {
				orbit[b] = a
			} else {
				orbit[a] = b
			}
		}
	}
	for v := range orbit {
		orbit[v] = find(v)
	}
	return orbit
}

// Stabilizer returns the subgroup of g that fixes each of the given vertices.
func (g *Group) Stabilizer(fixed []int) *Group {
	if g.s == nil {
		return g
	}
	colour := g.colour
	for _, v := range fixed {
		colour, _ = g.s.refine(individualise(colour, v))
	}
	return newGroup(g.s, colour)
}

// OrbitUnder returns, ascending, the orbit of v under the permutations of g
// that fix each of the given vertices.
func (g *Group) OrbitUnder(fixed []int, v int) []int {
	orbits := g.Stabilizer(fixed).Orbits()
	var out []int
	for w, r := range orbits {
		if r == orbits[v] {
			out = append(out, w)
		}
	}
	return out
}

// OrbitsAlong returns, for each place of an order of all vertices, the orbit of the vertex
// there as a set of vertices. The orbit is under the permutations of g that fix the vertices
// before it in the order.
func (g *Group) OrbitsAlong(order []int) []uint32 {
	out := make([]uint32, len(order))
	for l, v := range order {
		out[l] = 1 << v
	}
	if g.Trivial() {
		return out
	}
	if perm := g.gens[0]; len(g.gens) == 1 && fixes(compose(perm, perm), len(perm)) {
		// One exchange: whichever vertex that it moves comes first.
		for l, v := range order {
			if perm[v] != v {
				out[l] |= 1 << perm[v]
				return out
			}
		}
	}
	// The generators of a stabiliser chain along the order: those that fix the
	// first vertices generate the stabiliser of these.
	h := newGroup(g.s.permute(order), permuted(g.colour, order))
	for l := range order {
		for again := true; again; {
			again = false
			for _, perm := range h.gens {
				if !fixes(perm, l) {
					continue
				}
				for x, v := range order {
					if out[l]>>v&1 != 0 && out[l]>>order[perm[x]]&1 == 0 {
						out[l] |= 1 << order[perm[x]]
						again = true
					}
				}
			}
		}
	}
	return out
}

// fixes reports whether perm fixes 0 … n-1.
func fixes(perm []int, n int) bool {
	for i, x := range perm[:n] {
		if x != i {
			return false
		}
	}
	return true
}

// Contains reports whether perm is an element of g.
func (g *Group) Contains(perm []int) bool {
	if len(perm) != g.n {
		return false
	}
	seen := make([]bool, g.n)
	for v, w := range perm {
		if w < 0 || w >= g.n || seen[w] || g.s == nil && w != v || g.s != nil && g.colour[v] != g.colour[w] {
			return false
		}
		seen[w] = true
	}
	return g.s == nil || g.s.preserves(perm)
}

// Least makes of m, which maps the vertices of a pattern to distinct values, the least of its images under g: the one whose values
// come first in the order of compare, m[0] before m[1], and so on. All images of m give the same result. room is as long as m, for
// intermediate values.
//
// perm may be nil. Otherwise it is as long as m too, and gets the permutation: m[v] was at perm[v].
func Least[T any](g *Group, m, room []T, perm []int, compare func(a, b T) int) {
	for v := range perm {
		perm[v] = v
	}
	for i, level := range g.chain {
		if len(level) < 2 {
			continue
		}
		best := level[0]
		for _, p := range level[1:] {
			if compare(m[p[i]], m[best[i]]) < 0 {
				best = p
			}
		}
		if best[i] == i {
			continue
		}
		copy(room, m)
		for v, w := range best {
			m[v] = room[w]
		}
		if perm != nil {
			copy(perm, compose(perm, best))
		}
	}
}

// Elements returns all permutations of g, the identity first, where there are
// at most max; ok is false, and elems nil, where there are more.
func (g *Group) Elements(max int) (elems [][]int, ok bool) {
	if g.Order().Cmp(big.NewInt(int64(max))) > 0 {
		return nil, false
	}
	identity := make([]int, g.n)
	for i := range identity {
		identity[i] = i
	}
	elems = [][]int{identity}
	for i := len(g.chain) - 1; i >= 0; i-- {
		// Each element of the stabiliser of 0 … i-1 is, uniquely, a coset
		// representative after an element of the stabiliser of 0 … i.
		var next [][]int
		for _, t := range g.chain[i] {
			for _, e := range elems {
				next = append(next, compose(t, e))
			}
		}
		elems = next
	}
	return elems, true
}
