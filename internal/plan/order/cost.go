package order

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
)

// Bounds of the search for the cheapest order.
const (
	exhaustive = 7  // vertices up to which all connected orders are compared
	beamWidth  = 12 // prefixes kept beyond that
	finalists  = 6  // orders compared by random walks
)

// worthWalking is the expected cost from which comparing orders by random walks
// is quicker than searching in a slightly worse order.
const worthWalking = 1e6

// orderCost chooses the order, with its restrictions, that the cost model expects to read the
// fewest set elements.
//
// For small patterns it looks at all connected orders that symmetry does not make equal, by
// branch and bound; for larger ones it keeps a beam of prefixes. The cost of an order is a sum
// over its levels: the partial matches of the level times the elements that the set nodes
// hoisted to that level read. Levels that the counting tail does not enumerate are left out.
// Random walks on the graph itself then compare the best few, with restrictions in both
// directions.
//
// GraphPi (SC 2020) and Dryadic (2021) choose order and restrictions together; they have no
// walks.
func (b *Rules) orderCost(o plan.Options) Choice {
	c := b.cheapest(o)
	top := c.best[0]
	out := Choice{Order: top.order, Name: "cost", Cost: top.cost}
	if b.Reduction != nil {
		out.Name, out.Levels = "join", c.expected(&top)
		out.Why = fmt.Sprintf("cheapest of %d orders by the degrees of the candidates that %s leave", c.seen, b.Reduction.By())
		return out
	}
	if len(c.best) == 1 || top.cost < worthWalking || o.Quick {
		out.Why = fmt.Sprintf("cheapest of %d orders by the cost model", c.seen)
		if c.seen == 1 && b.N <= exhaustive {
			out.Why = "the only order, up to symmetry"
		}
		return out
	}
	var walked []prefix // by plan
	var flips []bool
	var plans []*plan.Plan
	for _, f := range c.best {
		if f.cost > 50*top.cost || o.Ended() {
			break
		}
		for _, flip := range []bool{false, true} {
			if flip && !b.breaks() {
				continue
			}
			b.Flip = flip
			walked, flips, plans = append(walked, f), append(flips, flip), append(plans, b.Assemble(f.order, o))
		}
	}
	least := -1.0
	for i, w := range cost.Compare(plans, &o) {
		if w == nil {
			continue
		}
		cost := w.Cost
		if flips[i] {
			cost *= 1.1 // the usual direction where both are alike
		}
		if least < 0 || cost < least {
			least, out.Order, out.Flip, out.Walks = cost, walked[i].order, flips[i], w
		}
	}
	out.Why = fmt.Sprintf("cheapest of %d orders by the cost model and random walks over the best %d", c.seen, len(c.best))
	b.Flip = out.Flip
	return out
}

// Expected returns the cost of the order that the model of the graph finds cheapest, in set elements.
func (b *Rules) Expected(o plan.Options) float64 { return b.cheapest(o).best[0].cost }

// cheapest returns the cheapest orders. It searches for them when it is first called.
func (b *Rules) cheapest(o plan.Options) *costSearch {
	if b.search != nil {
		return b.search
	}
	c := b.searchCheapest(o)
	if c.s.Refine(c.best[0].cost) {
		c = b.searchCheapest(o)
	}
	b.search = c
	return c
}

// searchCheapest searches for the cheapest orders, the best first.
func (b *Rules) searchCheapest(o plan.Options) *costSearch {
	c := &costSearch{b: b, s: b.statistics(), o: o, last: b.twinsLast(o)}
	switch {
	case b.N <= exhaustive:
		elems, _ := b.Group.Elements(5040)
		c.descend(prefix{perms: elems, frac: 1})
	case b.N-bits.OnesCount32(c.last) <= exhaustive:
		c.descend(prefix{frac: 1})
	default:
		c.beam()
	}
	sort.SliceStable(c.best, func(i, j int) bool { return c.best[i].cost < c.best[j].cost })
	return c
}

// expected returns, for each level of an order, the partial matches and the cost that the model
// expects. Costs of levels that the tail closes are at the last level before it.
func (c *costSearch) expected(p *prefix) []Expected {
	all := make([]Expected, len(p.order))
	rest := p.cost
	for l := range all {
		all[l].Matches = c.s.Card(pattern.SetOf(p.order[:l+1])) * p.orderFrac(min(l+1, len(p.orbits)))
		if l < len(p.costs) {
			all[l].Cost = min(p.costs[l], rest)
			rest -= all[l].Cost
		}
	}
	all[0].Cost += rest
	return all
}

// breaks reports whether there are restrictions at all.
func (b *Rules) breaks() bool {
	return b.Restrict && len(b.Group.Generators()) > 0
}

// costSearch looks for cheap orders.
type costSearch struct {
	b *Rules
	s *cost.Statistics
	o plan.Options
	// tests: the cost of a level is the candidates that are tested to reach it, not
	// the set elements that are read there.
	tests bool
	last  uint32 // vertices that come after all others, for the tail to close
	seen  int
	best  []prefix // complete orders, at most keep of them
	keep  int      // 0: finalists
}

// prefix is the beginning of an order, with its cost.
type prefix struct {
	order  []int
	placed uint32
	border uint32 // neighbours of those placed
	// costs[l] is the cost of level l; cost is the sum, for a complete order
	// without the levels of the tail.
	costs []float64
	cost  float64
	// perms are the automorphisms that fix all placed; orbits[l] is the orbit of
	// the vertex at level l under those that fix the levels before.
	perms  [][]int
	orbits []uint32
	frac   float64
	// open is the first level that the tail could still begin at.
	open int
}

// next lists the vertices that can follow, one of each orbit.
func (c *costSearch) next(p *prefix) []int {
	from := p.border &^ p.placed &^ c.last
	if len(p.order) == 0 && c.o.Root >= 0 {
		from = 1 << c.o.Root
	} else if from == 0 {
		from = c.b.all() &^ p.placed &^ c.last
	}
	var out []int
next:
	for _, v := range pattern.Members(from) {
		for _, perm := range p.perms {
			if perm[v] < v && from>>perm[v]&1 != 0 {
				continue next
			}
		}
		out = append(out, v)
	}
	return out
}

// extend appends v.
func (c *costSearch) extend(p *prefix, v int) prefix {
	b := c.b
	q := prefix{
		order:  extended(p.order, v),
		placed: p.placed | 1<<v,
		border: p.border | b.Near[v],
		open:   p.open,
	}
	l := len(p.order)
	orbit := uint32(1) << v
	for _, perm := range p.perms {
		orbit |= 1 << perm[v]
		if perm[v] == v {
			q.perms = append(q.perms, perm)
		}
	}
	if !b.Restrict || l == 0 && c.o.Root >= 0 {
		orbit = 1 << v
	}
	q.orbits = extended(p.orbits, orbit)
	q.frac = 1
	for _, o := range q.orbits {
		// The greatest of its orbit: one of popcount(o & placed) orders of those placed.
		q.frac /= float64(bits.OnesCount32(o & q.placed))
	}
	q.open = max(q.open, b.lastLinked(p.order, v)+1)
	matches := c.s.Card(q.placed)
	if l == 0 {
		matches = min(matches, b.roots(v))
	}
	cost := matches * q.frac * (c.s.Visit + c.sets(p.placed, v))
	if c.tests {
		cost = c.s.Card(p.placed) * q.frac * c.shortest(p.placed, v)
	}
	q.costs = extended(p.costs, cost)
	for _, x := range q.costs {
		q.cost += x
	}
	return q
}

// roots is the number of vertices that have a neighbour in each relation of v that is stored sparse, at most. A search
// that begins with v looks at no others.
func (b *Rules) roots(v int) float64 {
	n := math.Inf(1)
	for _, l := range b.Links {
		if l.Neg || l.U != v && l.V != v {
			continue
		}
		adj := l.Adj
		if l.V == v {
			adj = b.Adjs[adj].Rev
		}
		if s := b.Adjs[adj].Lists.Sparse; s != nil {
			n = min(n, float64(s.Len()))
		}
	}
	return n
}

// extended returns a copy of list with x at its end.
func extended[T any](list []T, x T) []T {
	out := make([]T, len(list)+1)
	out[copy(out, list)] = x
	return out
}

// lastLinked is the last place in order of a vertex that v is linked or tied to,
// -1 where there is none.
func (b *Rules) lastLinked(order []int, v int) int {
	linked := b.Near[v] | b.Far[v] | b.Tied(v)
	i := len(order) - 1
	for i >= 0 && linked>>order[i]&1 == 0 {
		i--
	}
	return i
}

// sets is the number of elements read by the set nodes that become computable
// with v, for one partial match.
func (c *costSearch) sets(placed uint32, v int) (read float64) {
	b := c.b
	type node struct {
		near, far uint32
		class     int
	}
	var done [32]node
	n := 0
next:
	for _, u := range pattern.Members((b.Near[v] | b.Far[v]) &^ placed &^ (1 << v)) {
		k := node{b.Near[u] & placed, b.Far[u] & placed, c.s.Class[u]}
		for _, d := range done[:n] {
			if d == k {
				continue next
			}
		}
		done[n] = k
		n++
		if k.near == 0 {
			continue // a neighbour list as it is
		}
		read += cost.MergeCost(c.s.Extension(placed, u), c.s.List(placed|1<<v, v, u))
	}
	return read
}

// bound is a lower bound on the cost of all completions of p: the cost of the levels before the
// earliest tail.
func (p *prefix) bound() (x float64) {
	for _, c := range p.costs[:min(p.open, len(p.costs))] {
		x += c
	}
	return x
}

func (c *costSearch) descend(p prefix) {
	if p.placed|c.last == c.b.all() {
		c.finish(p)
		return
	}
	if most := c.most(); len(c.best) == most && p.bound() >= c.best[most-1].cost || len(c.best) > 0 && c.o.Ended() {
		return
	}
	next := c.next(&p)
	children := make([]prefix, len(next))
	for i, v := range next {
		children[i] = c.extend(&p, v)
	}
	slices.SortStableFunc(children, func(x, y prefix) int { return cmp.Compare(x.cost, y.cost) })
	for _, q := range children {
		c.descend(q)
	}
}

// most is how many complete orders are kept.
func (c *costSearch) most() int {
	if c.keep > 0 {
		return c.keep
	}
	return finalists
}

// finish appends the vertices that come last, subtracts the tail, and keeps p if it is among
// the best.
func (c *costSearch) finish(p prefix) {
	c.seen++
	for _, v := range pattern.Members(c.last) {
		p.open = max(p.open, c.b.lastLinked(p.order, v)+1)
		p.order = append(slices.Clip(p.order), v)
	}
	n := len(p.order)
	if !c.o.Listing && !c.o.NoTail && n > 1 {
		tail := max(p.open, 1)
		for n-tail > plan.MaxTail && c.kinds(p.order[tail:]) > plan.MaxTail {
			tail++
		}
		p.cost = 0
		for _, x := range p.costs[:tail] {
			p.cost += x
		}
		if c.tests {
			p.cost += c.s.Card(pattern.SetOf(p.order[:tail])) * p.orderFrac(tail) * c.tailTests(&p, tail)
		} else if k := n - tail; k > 1 {
			// Intersections of the tail's sets.
			placed := pattern.SetOf(p.order[:tail])
			matches := c.s.Card(placed) * p.orderFrac(tail)
			for i, v := range p.order[tail:] {
				for _, u := range p.order[tail : tail+i] {
					if !c.alike(u, v) {
						p.cost += matches * cost.MergeCost(c.s.Extension(placed, u), c.s.Extension(placed, v))
					}
				}
			}
		}
	}
	i := sort.Search(len(c.best), func(i int) bool { return c.best[i].cost > p.cost })
	c.best = slices.Insert(c.best, i, p)
	c.best = c.best[:min(len(c.best), c.most())]
}

// alike reports whether two vertices that are not linked have the same
// candidates once the others are placed.
func (c *costSearch) alike(u, v int) bool {
	return c.b.Near[u] == c.b.Near[v] && c.b.Far[u] == c.b.Far[v] && c.s.Class[u] == c.s.Class[v]
}

// kinds is the number of vertices in vs no two of which are alike.
func (c *costSearch) kinds(vs []int) (n int) {
	for i, v := range vs {
		if !slices.ContainsFunc(vs[:i], func(u int) bool { return c.alike(u, v) }) {
			n++
		}
	}
	return n
}

// orderFrac is the share of the embeddings of the first levels that the
// restrictions among them leave.
func (p *prefix) orderFrac(levels int) float64 {
	placed := pattern.SetOf(p.order[:levels])
	f := 1.0
	for _, o := range p.orbits[:levels] {
		f /= float64(bits.OnesCount32(o & placed))
	}
	return f
}

// beam extends the cheapest prefixes level by level. Prefixes over the same
// vertices compete with each other.
func (c *costSearch) beam() {
	level := []prefix{{frac: 1}}
	for range c.b.N - bits.OnesCount32(c.last) {
		width := beamWidth
		if c.o.Ended() {
			width = 1
		}
		best := map[uint32]prefix{}
		for i := range level {
			for _, v := range c.next(&level[i]) {
				q := c.extend(&level[i], v)
				if old, ok := best[q.placed]; !ok || q.cost < old.cost {
					best[q.placed] = q
				}
			}
		}
		level = cheapest(best, level, width, func(p *prefix) (float64, []int) { return p.cost, p.order })
	}
	for _, p := range level {
		c.finish(p)
	}
}
