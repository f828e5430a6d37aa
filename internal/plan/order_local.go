package plan

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// orderLocal makes an order for the local method: the root, the one vertex that
// is not its neighbour if there is one, and the others in the cheapest order.
// The order need not be connected at level 1, whose vertex is reached over the
// neighbours that it shares with the root. The cost model knows little of pairs
// that must not be neighbours: the best orders of an induced pattern are compared
// by random walks where the search is long.
func (b *binding) orderLocal(o Options) (choice, error) {
	if o.Order == "given" {
		return b.orderGiven(o)
	}
	elems, small := b.group.Elements(5040)
	stats := b.statistics()
	var best []prefix
	first := b.group.Orbits()
	for r := range b.n {
		outside := b.all() &^ b.near[r] &^ (1 << r)
		if bits.OnesCount32(outside) > 1 || o.Root >= 0 && o.Root != r || o.Root < 0 && first[r] < r {
			continue // no root, or a symmetry takes it to one before it, whose orders are as good
		}
		c := &costSearch{b: b, s: stats, o: o, keep: localOrders}
		p := c.extend(&prefix{perms: elems, frac: 1}, r)
		for _, x := range members(outside) {
			p = c.extend(&p, x)
			// Pairs with a common neighbour instead of all pairs.
			if shared := b.near[r] & b.near[x]; shared != 0 {
				p.costs[1] = min(p.costs[1], c.s.card(p.placed|shared&-shared)*p.frac)
			}
			p.cost = p.costs[0] + p.costs[1]
		}
		if b.n <= exhaustive && small {
			c.descend(p)
		} else {
			rest := b.greedy(r, nil, func(placed, _ uint32, v int) float64 {
				return float64(bits.OnesCount32(b.near[v] & (placed | outside)))
			})
			for _, v := range rest {
				if p.placed>>v&1 == 0 {
					p = c.extend(&p, v)
				}
			}
			c.finish(p)
		}
		best = append(best, c.best...)
	}
	if len(best) == 0 {
		return choice{}, queryErrorf("the local method does not apply: no vertex of the pattern is a neighbour of all others but one")
	}
	sort.SliceStable(best, func(i, j int) bool { return best[i].cost < best[j].cost })
	return choice{
		order: b.bestLocal(best, o), name: "cost",
		why: "the local method, asked for; its root is a neighbour of all others but at most one",
	}, nil
}

// localOrders is how many orders of a root are looked at, and localFinalists how
// many of all roots' are compared by as many random walks as other orders are.
const (
	localOrders    = 24
	localFinalists = 6
)

// bestLocal is the best of some orders that ascend by the model's cost. A level
// that arithmetic closes is not walked at all, while the levels that are cost
// about as much each: the longest tail comes before the model's cost.
func (b *binding) bestLocal(best []prefix, o Options) []int {
	tail := -1
	var plans []*Plan
	for _, p := range best {
		if o.ended() {
			break
		}
		pl := b.assemble(p.order, o)
		if pl.Tail.K > tail {
			plans, tail = plans[:0], pl.Tail.K
		}
		if pl.Tail.K == tail && LocalOK(pl) == nil {
			plans = append(plans, pl)
		}
	}
	if len(plans) == 0 {
		return best[0].order
	}
	if len(plans) == 1 || !b.p.Induced || best[0].cost < worthWalking || o.Quick || plans[0].Empty != nil {
		return plans[0].Order
	}
	around := surveyOf(plans[0].Adjs[0].Lists)
	rank := func(plans []*Plan, walks int) (least float64) {
		prices := map[*Plan]float64{}
		o.atOnce(len(plans), func(i int) { plans[i].walk(&o, walks) })
		for _, pl := range plans {
			prices[pl] = localPrice(pl, around)
		}
		slices.SortStableFunc(plans, func(x, y *Plan) int { return cmp.Compare(prices[x], prices[y]) })
		return prices[plans[0]]
	}
	first := min(len(plans), localFinalists)
	if rank(plans[:first], 40) < worthwhile {
		return plans[0].Order
	}
	rank(plans, 40)
	rank(plans[:first], 240)
	return plans[0].Order
}
