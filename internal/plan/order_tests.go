package plan

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// Comparing orders by the candidates that they test.
const (
	testWalks = 400  // random walks an order
	moreWalks = 4000 // for the best of them and RI's
	// worthTesting is the expected number of tests from which comparing orders is
	// quicker than searching in RI's.
	worthTesting = 1e5
	// clearlyFewer is the share of RI's tests that another order must stay below:
	// walks tell orders that are nearly alike apart by chance.
	clearlyFewer = 0.8
)

// orderTests chooses an order for a search that makes no sets but tests
// candidates one by one: those in the shortest list of a backward neighbour
// (gMatch, PVLDB 2026, which takes RI's order). RI's order is compared with those
// that the model of the graph expects to test the fewest, by random walks on the
// graph itself that count the tests; RI's stays where no other is clearly better.
func (b *binding) orderTests(o Options) choice {
	ri := b.orderRI(o)
	if o.Root < 0 && b.largelyLabelled() {
		return ri // a candidate graph has an order of its own
	}
	c := &costSearch{b: b, s: b.statistics(), o: o, tests: true}
	if b.n <= exhaustive {
		elems, _ := b.group.Elements(5040)
		c.descend(prefix{perms: elems, frac: 1})
	} else {
		c.beam()
	}
	sort.SliceStable(c.best, func(i, j int) bool { return c.best[i].cost < c.best[j].cost })
	out := choice{order: ri.order, name: "tests", why: fmt.Sprintf("RI's order: none of %d is expected to test clearly fewer candidates", c.seen)}
	n, more := testWalks, moreWalks
	if o.Quick {
		n, more = n/8, more/8
	}
	least := b.testsOf([][]int{ri.order}, o, n)[0].mean
	if len(c.best) == 0 || least < worthTesting {
		return out
	}
	var orders [][]int
	for _, f := range c.best {
		orders = append(orders, f.order)
	}
	best := ri.order
	for i, tests := range b.testsOf(orders, o, n) {
		if tests.mean < least {
			least, best = tests.mean, orders[i]
		}
	}
	// The least of many estimates is more often too low than too high: other walks
	// have to say so too, and by more than they vary.
	o.Seed++
	if !slices.Equal(best, ri.order) {
		tests := b.testsOf([][]int{best, ri.order}, o, more)
		if tests[0].mean < clearlyFewer*tests[1].mean && tests[1].mean-tests[0].mean > 2*math.Hypot(tests[0].err, tests[1].err) {
			out = choice{order: best, name: "tests",
				why: fmt.Sprintf("tests the fewest candidates of %d orders, by the cost model and random walks over the best %d and RI's", c.seen, len(c.best))}
		}
	}
	return out
}

// estimated is a mean of random walks and its standard error, which is 0 where
// all walks were one round.
type estimated struct{ mean, err float64 }

// testsOf estimates for each order the candidates that a search in it tests, by n
// walks in rounds of about testWalks. Restrictions are in the usual direction,
// towards hubs: the other one tests more by far where it is walked long enough,
// which a few thousand walks, that seldom meet the hubs, do not show.
func (b *binding) testsOf(orders [][]int, o Options, n int) []estimated {
	b.flip = false
	plans := make([]*Plan, len(orders))
	for i, order := range orders {
		plans[i] = b.assemble(order, o)
	}
	rounds := (n + testWalks - 1) / testWalks
	means := make([]float64, len(orders)*rounds)
	o.atOnce(len(means), func(i int) {
		w := newWalker(plans[i/rounds], o.Seed+uint64(i%rounds))
		for range n / rounds {
			if o.ended() {
				break
			}
			means[i] += w.tested() / float64(n/rounds)
		}
	})
	tests := make([]estimated, len(orders))
	for i := range tests {
		var sum, squares float64
		for _, x := range means[i*rounds : (i+1)*rounds] {
			sum += x
			squares += x * x
		}
		k := float64(rounds)
		tests[i].mean = sum / k
		if rounds > 1 {
			tests[i].err = math.Sqrt(max(squares-sum*sum/k, 0) / (k * (k - 1)))
		}
	}
	return tests
}

// tested makes one walk and returns the tests that it stands for.
func (w *walker) tested() (sum float64) {
	if w.rootTotal == 0 {
		return 0
	}
	v, weight := w.root()
	if !w.pl.valid(0, v, w.m, w.e) {
		return 0
	}
	tail := len(w.pl.Levels) - w.pl.Tail.K
	for l := 0; ; l++ {
		w.m[l] = v
		n := w.pickEdges(l)
		if weight *= n; weight == 0 {
			return sum
		}
		if l == tail-1 {
			break
		}
		sum += weight * w.tests([]int{l + 1}, tail)
		if v, n = w.pick(l + 1); n == 0 {
			return sum
		}
		weight *= n
	}
	for _, mask := range w.blocks {
		var levels []int
		for _, g := range members(mask) {
			levels = append(levels, w.pl.Tail.Groups[g].Levels[0])
		}
		sum += weight * w.tests(levels, tail)
	}
	return sum
}

// tests is the length of the shortest list of a backward neighbour, within the
// restrictions, where it must be tested who is in all of some levels. end: the
// levels that are bound come before it.
func (w *walker) tests(levels []int, end int) float64 {
	first, limit := uint32(0), ^uint32(0)
	var lists []Back
	conditions := 0
	for _, l := range levels {
		lv := &w.pl.Levels[l]
		for _, j := range lv.Below {
			if j < min(l, end) {
				limit = min(limit, w.m[j])
			}
		}
		for _, j := range lv.Above {
			if j < min(l, end) {
				first = max(first, w.m[j]+1)
			}
		}
		if k := len(lv.Ranges); k > 0 {
			first, limit = max(first, lv.Ranges[0].First), min(limit, lv.Ranges[k-1].End)
		}
		conditions += len(lv.Distinct) + len(lv.Checks)
		if lv.Bits != nil {
			conditions++
		}
		for _, b := range lv.Back {
			if b.Neg {
				conditions++
			} else if !slices.Contains(lists, b) {
				lists = append(lists, b)
			}
		}
	}
	if levels[0] >= end && len(lists) == 1 && conditions == 0 {
		return 0 // a block of the tail: its size is the length of a list
	}
	least := -1
	for _, b := range lists {
		if n := len(within(w.pl.Adjs[b.Adj].Lists.List(w.m[b.Level], &w.list), first, max(first, limit))); least < 0 || n < least {
			least = n
		}
	}
	if least < 0 {
		return float64(w.pl.Graph.NumVertices())
	}
	return float64(least)
}

// shortest is what the model expects of the length of the shortest list of v's
// neighbours in placed.
func (c *costSearch) shortest(placed uint32, v int) float64 {
	least := -1.0
	for _, u := range members(c.b.near[v] & placed) {
		if n := c.s.list(placed, u, v); least < 0 || n < least {
			least = n
		}
	}
	if least < 0 {
		return float64(c.b.vertices[v].count)
	}
	return least
}

// tailTests is what the model expects to be tested for the last vertices of p, from
// tail on, by one partial match of those before.
func (c *costSearch) tailTests(p *prefix, tail int) (sum float64) {
	placed := set(p.order[:tail])
	for i, v := range p.order[tail:] {
		rest := p.order[tail : tail+i]
		if bits.OnesCount32(c.b.near[v]) > 1 && !slices.ContainsFunc(rest, func(u int) bool { return c.alike(u, v) }) {
			sum += c.shortest(placed, v)
		}
		for _, u := range rest {
			if !c.alike(u, v) {
				sum += min(c.shortest(placed, u), c.shortest(placed, v))
			}
		}
	}
	return sum
}
