package order

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
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

// orderTests chooses an order for a search that makes no sets but tests candidates one by one,
// from the shortest list of a backward neighbour (gMatch, PVLDB 2026, which takes RI's order).
// It compares RI's order with the orders that the model of the graph expects to test the
// fewest. Random walks on the graph itself count the tests. RI's order stays unless another is
// clearly better.
func (b *Rules) orderTests(o plan.Options) Choice {
	ri := b.orderRI(o)
	if o.Root < 0 && b.LargelyLabelled() {
		return ri // a candidate graph has an order of its own
	}
	c := &costSearch{b: b, s: b.statistics(), o: o, tests: true}
	if b.N <= exhaustive {
		elems, _ := b.Group.Elements(5040)
		c.descend(prefix{perms: elems, frac: 1})
	} else {
		c.beam()
	}
	sort.SliceStable(c.best, func(i, j int) bool { return c.best[i].cost < c.best[j].cost })
	out := Choice{Order: ri.Order, Name: "tests", Why: fmt.Sprintf("RI's order: none of %d is expected to test clearly fewer candidates", c.seen)}
	n, more := testWalks, moreWalks
	if o.Quick {
		n, more = n/8, more/8
	}
	least := b.testsOf([][]int{ri.Order}, o, n)[0].mean
	if len(c.best) == 0 || least < worthTesting {
		return out
	}
	var orders [][]int
	for _, f := range c.best {
		orders = append(orders, f.order)
	}
	best := ri.Order
	for i, tests := range b.testsOf(orders, o, n) {
		if tests.mean < least {
			least, best = tests.mean, orders[i]
		}
	}
	// The least of many estimates is more often too low than too high: other walks
	// have to say so too, and by more than they vary.
	o.Seed++
	if !slices.Equal(best, ri.Order) {
		tests := b.testsOf([][]int{best, ri.Order}, o, more)
		if tests[0].mean < clearlyFewer*tests[1].mean && tests[1].mean-tests[0].mean > 2*math.Hypot(tests[0].err, tests[1].err) {
			out = Choice{Order: best, Name: "tests",
				Why: fmt.Sprintf("tests the fewest candidates of %d orders, by the cost model and random walks over the best %d and RI's", c.seen, len(c.best))}
		}
	}
	return out
}

// estimated is a mean of random walks and its standard error, which is 0 where
// all walks were one round.
type estimated struct{ mean, err float64 }

// testsOf estimates, for each order, the number of candidates that a search in it tests. It
// makes n walks, in rounds of about testWalks. Restrictions are in the usual direction, towards
// hubs. Why: the other direction tests far more candidates, but a few thousand walks seldom
// meet the hubs and do not show it.
func (b *Rules) testsOf(orders [][]int, o plan.Options, n int) []estimated {
	return b.walked(orders, o, n, func(_ int, pl *plan.Plan, seed uint64, n int) float64 { return cost.Tests(pl, &o, seed, n) })
}

// walked estimates the plans of orders by n walks each, in rounds of about testWalks. estimate makes n walks by the plan of
// order i.
func (b *Rules) walked(orders [][]int, o plan.Options, n int, estimate func(i int, pl *plan.Plan, seed uint64, n int) float64) []estimated {
	b.Flip = false
	plans := make([]*plan.Plan, len(orders))
	for i, order := range orders {
		plans[i] = b.Assemble(order, o)
	}
	rounds := (n + testWalks - 1) / testWalks
	means := make([]float64, len(orders)*rounds)
	cost.Parallel(&o, len(means), func(i int) {
		means[i] = estimate(i/rounds, plans[i/rounds], o.Seed+uint64(i%rounds), n/rounds)
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

// shortest is the expected length of the shortest list of v's neighbours in placed, by the
// model.
func (c *costSearch) shortest(placed uint32, v int) float64 {
	least := -1.0
	for _, u := range pattern.Members(c.b.Near[v] & placed) {
		if n := c.s.List(placed, u, v); least < 0 || n < least {
			least = n
		}
	}
	if least < 0 {
		return float64(c.b.Vertices[v].Count)
	}
	return least
}

// tailTests is the expected number of tests for the last vertices of p, from tail on, for one
// partial match of the earlier ones.
func (c *costSearch) tailTests(p *prefix, tail int) (sum float64) {
	placed := pattern.SetOf(p.order[:tail])
	for i, v := range p.order[tail:] {
		rest := p.order[tail : tail+i]
		if bits.OnesCount32(c.b.Near[v]) > 1 && !slices.ContainsFunc(rest, func(u int) bool { return c.alike(u, v) }) {
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
