package plan

import (
	"fmt"
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
	own := trial{order: ri.order}
	least := b.testsOf([]trial{own}, o, n)[0]
	if len(c.best) == 0 || least < worthTesting {
		return out
	}
	var others []trial
	for _, f := range c.best {
		others = append(others, trial{f.order, false})
		if b.breaks() {
			others = append(others, trial{f.order, true})
		}
	}
	best := own
	for i, tests := range b.testsOf(others, o, n) {
		if tests < least {
			least, best = tests, others[i]
		}
	}
	// The least of many estimates is more often too low than too high: other walks
	// have to say so too.
	o.Seed++
	if !slices.Equal(best.order, own.order) || best.flip {
		if tests := b.testsOf([]trial{best, own}, o, more); tests[0] < clearlyFewer*tests[1] {
			out = choice{order: best.order, flip: best.flip, name: "tests",
				why: fmt.Sprintf("tests the fewest candidates of %d orders, by the cost model and random walks over the best %d and RI's", c.seen, len(c.best))}
		}
	}
	b.flip = out.flip
	return out
}

// trial is an order and the direction of its restrictions.
type trial struct {
	order []int
	flip  bool
}

// testsOf estimates for each trial the candidates that a search in this order
// tests, by n walks, as many of which share a seed as there are testWalks.
func (b *binding) testsOf(trials []trial, o Options, n int) []float64 {
	plans := make([]*Plan, len(trials))
	for i, t := range trials {
		b.flip = t.flip
		plans[i] = b.assemble(t.order, o)
	}
	rounds := (n + testWalks - 1) / testWalks
	sums := make([]float64, len(trials)*rounds)
	o.atOnce(len(sums), func(i int) {
		w := newWalker(plans[i/rounds], o.Seed+uint64(i%rounds))
		for range n / rounds {
			if o.ended() {
				break
			}
			sums[i] += w.tested()
		}
	})
	tests := make([]float64, len(trials))
	for i, sum := range sums {
		tests[i/rounds] += sum / float64(n/rounds*rounds)
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
		if n := len(within(w.pl.Adjs[b.Adj].CSR.List(w.m[b.Level]), first, max(first, limit))); least < 0 || n < least {
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
