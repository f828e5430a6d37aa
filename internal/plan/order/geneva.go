package order

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// orderGeneva is the order of GENEVA (2024, §5.5 and Algorithm 8). The core of the pattern
// comes first, because only edges of cycles reject embeddings. The core remains when vertices
// of degree one are removed repeatedly. In the core the shortest cycle comes first, and the
// trees that hang on the core come last.
//
// GENEVA extends by several vertices at a time, and prefers the extensions that match the most.
// In this order they are:
//
//   - a fan of vertices on one source (its matching patterns 5, 6 and 7);
//   - two vertices, both on one source with one label (1), both on one source (3), on two
//     sources (4), or one behind the other (2);
//   - a single vertex (0).
//
// A plan writes the vertices of each extension one after another.
func (b *Rules) orderGeneva(o plan.Options) Choice {
	g := &geneva{b: b}
	core := g.core()
	cycle := g.shortestCycle(core, o.Root)
	start := o.Root
	if start < 0 {
		start = g.start(cycle, core)
	}
	g.take(start)
	for i, part := range []uint32{cycle, core, b.all()} {
		for g.extend(part, i < 2) {
		}
	}
	for v := range b.N { // further components
		if g.placed>>v&1 == 0 {
			g.take(v)
			for g.extend(b.all(), false) {
			}
		}
	}
	return Choice{Order: g.order, Name: "geneva", Why: "GENEVA: the core before the forest, the shortest cycle first, several vertices of one source together"}
}

type geneva struct {
	b      *Rules
	order  []int
	placed uint32
}

func (g *geneva) take(v int) {
	g.order = append(g.order, v)
	g.placed |= 1 << v
}

// core is the set of vertices that remain when vertices of degree one are removed repeatedly.
func (g *geneva) core() uint32 {
	core := g.b.all()
	for again := true; again; {
		again = false
		for _, v := range pattern.Members(core) {
			if bits.OnesCount32(g.b.Near[v]&core) < 2 {
				core &^= 1 << v
				again = true
			}
		}
	}
	return core
}

// shortestCycle returns the vertices of a shortest cycle in core, one through
// root if root is in the core and lies on any; 0 for a forest.
func (g *geneva) shortestCycle(core uint32, root int) uint32 {
	from := pattern.Members(core)
	if root >= 0 && core>>root&1 != 0 {
		from = []int{root}
	}
	var best uint32
	for _, s := range from {
		if c := g.cycleThrough(s, core); c != 0 && (best == 0 || bits.OnesCount32(c) < bits.OnesCount32(best)) {
			best = c
		}
	}
	return best
}

// cycleThrough finds a shortest cycle through s: breadth first from s, two
// vertices met from different neighbours of s close a cycle.
func (g *geneva) cycleThrough(s int, core uint32) uint32 {
	path := make([]uint32, g.b.N) // vertices on the way from s
	path[s] = 1 << s
	queue := []int{s}
	var best uint32
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		for _, v := range pattern.Members(g.b.Near[u] & core) {
			switch {
			case path[v] == 0:
				path[v] = path[u] | 1<<v
				queue = append(queue, v)
			case path[u]&path[v] == 1<<s && v != s && path[u]>>v&1 == 0 && path[v]>>u&1 == 0:
				if c := path[u] | path[v]; best == 0 || bits.OnesCount32(c) < bits.OnesCount32(best) {
					best = c
				}
			}
		}
	}
	return best
}

// start is the vertex of the cycle, or else of the pattern, with the most
// neighbours in the core and then at all.
func (g *geneva) start(cycle, core uint32) int {
	from := cycle
	if from == 0 {
		from = g.b.all()
	}
	return slices.MaxFunc(pattern.Members(from), func(u, v int) int {
		if d := bits.OnesCount32(g.b.Near[u]&core) - bits.OnesCount32(g.b.Near[v]&core); d != 0 {
			return d
		}
		if d := g.b.degree(u) - g.b.degree(v); d != 0 {
			return d
		}
		return v - u
	})
}

// extend places the vertices of the best extension inside part; at most two at a
// time in the core. It reports whether there was one.
func (g *geneva) extend(part uint32, core bool) bool {
	free := part &^ g.placed
	var best []int
	rank := -1
	consider := func(r int, vs []int) {
		if r > rank || r == rank && len(vs) > len(best) {
			rank, best = r, vs
		}
	}
	sources := slices.Clone(g.order)
	for _, s := range sources {
		fan := pattern.Members(g.b.Near[s] & free)
		// Vertices closed against the placed ones come first: their edges reject.
		slices.SortStableFunc(fan, func(u, v int) int {
			return bits.OnesCount32(g.b.Near[v]&g.placed) - bits.OnesCount32(g.b.Near[u]&g.placed)
		})
		switch {
		case len(fan) > 2 && !core:
			consider(6, fan)
		case len(fan) >= 2:
			r := 4 // pattern 3: one source, two labels
			if g.sameLabel(fan[0], fan[1]) {
				r = 5 // pattern 1
			}
			consider(r, fan[:2])
		case len(fan) == 1:
			consider(0, fan)
			if next := pattern.Members(g.b.Near[fan[0]] & free &^ (1 << fan[0])); len(next) > 0 {
				consider(2, []int{fan[0], next[0]}) // pattern 2
			}
			for _, t := range sources {
				if other := pattern.Members(g.b.Near[t] & free &^ (1 << fan[0])); t != s && len(other) > 0 {
					consider(3, []int{fan[0], other[0]}) // pattern 4
				}
			}
		}
	}
	for _, v := range best {
		g.take(v)
	}
	return best != nil
}

func (g *geneva) sameLabel(u, v int) bool {
	return slices.Equal(g.b.Vertices[u].Ranges, g.b.Vertices[v].Ranges)
}
