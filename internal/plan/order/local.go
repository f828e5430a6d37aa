package order

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
)

// Local makes an order for the local method: the root, the one vertex that
// is not its neighbour if there is one, and the others in the cheapest order.
// The order need not be connected at level 1, whose vertex is reached over the
// neighbours that it shares with the root. The cost model knows little of pairs
// that must not be neighbours: the best orders of an induced pattern are compared
// by random walks where the search is long.
func (b *Rules) Local(o plan.Options) (Choice, error) {
	if o.Order == "given" {
		return b.orderGiven(o)
	}
	elems, small := b.Group.Elements(5040)
	stats := b.statistics()
	var best []prefix
	first := b.Group.Orbits()
	for r := range b.N {
		outside := b.all() &^ b.Near[r] &^ (1 << r)
		if bits.OnesCount32(outside) > 1 || o.Root >= 0 && o.Root != r || o.Root < 0 && first[r] < r {
			continue // no root, or a symmetry takes it to one before it, whose orders are as good
		}
		c := &costSearch{b: b, s: stats, o: o, keep: localOrders}
		p := c.extend(&prefix{perms: elems, frac: 1}, r)
		for _, x := range pattern.Members(outside) {
			p = c.extend(&p, x)
			// Pairs with a common neighbour instead of all pairs.
			if shared := b.Near[r] & b.Near[x]; shared != 0 {
				p.costs[1] = min(p.costs[1], c.s.Card(p.placed|shared&-shared)*p.frac)
			}
			p.cost = p.costs[0] + p.costs[1]
		}
		if b.N <= exhaustive && small {
			c.descend(p)
		} else {
			rest := b.greedy(r, nil, func(placed, _ uint32, v int) float64 {
				return float64(bits.OnesCount32(b.Near[v] & (placed | outside)))
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
		return Choice{}, plan.Errorf("the local method does not apply: no vertex of the pattern is a neighbour of all others but one")
	}
	sort.SliceStable(best, func(i, j int) bool { return best[i].cost < best[j].cost })
	return Choice{
		Order: b.bestLocal(best, o), Name: "cost",
		Why: "the local method, asked for; its root is a neighbour of all others but at most one",
	}, nil
}

// localOrders is the number of orders that are tried for each root. localFinalists is the
// number of orders of all roots that random walks then compare; each gets as many walks as
// other orders do.
const (
	localOrders    = 24
	localFinalists = 6
)

// bestLocal is the best of some orders that ascend by the model's cost. A level
// that arithmetic closes is not walked at all, while the levels that are cost
// about as much each: the longest tail comes before the model's cost.
func (b *Rules) bestLocal(best []prefix, o plan.Options) []int {
	tail := -1
	var plans []*plan.Plan
	for _, p := range best {
		if o.Ended() {
			break
		}
		pl := b.Assemble(p.order, o)
		if pl.Tail.K > tail {
			plans, tail = plans[:0], pl.Tail.K
		}
		if pl.Tail.K == tail && plan.LocalOK(pl) == nil {
			plans = append(plans, pl)
		}
	}
	if len(plans) == 0 {
		return best[0].order
	}
	if len(plans) == 1 || !b.Pattern.Induced || best[0].cost < worthWalking || o.Quick || plans[0].Empty != nil {
		return plans[0].Order
	}
	around := cost.NewSurvey(b.Graph, plans[0].Adjs[0].Lists, &o)
	rank := func(plans []*plan.Plan, walks int) (least float64) {
		prices := map[*plan.Plan]float64{}
		cost.Parallel(&o, len(plans), func(i int) { cost.Walk(plans[i], &o, walks) })
		for _, pl := range plans {
			prices[pl] = cost.LocalPrice(pl, around)
		}
		slices.SortStableFunc(plans, func(x, y *plan.Plan) int { return cmp.Compare(prices[x], prices[y]) })
		return prices[plans[0]]
	}
	first := min(len(plans), localFinalists)
	if rank(plans[:first], 40) < cost.Worthwhile {
		return plans[0].Order
	}
	rank(plans, 40)
	rank(plans[:first], 240)
	return plans[0].Order
}
