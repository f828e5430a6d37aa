package plan

import (
	"math/bits"
	"sort"
)

// orderLocal makes an order for the local method: the root, the one vertex that
// is not its neighbour if there is one, and the others in the cheapest order.
// The order need not be connected at level 1, whose vertex is reached over the
// neighbours that it shares with the root.
func (b *binding) orderLocal(o Options) (choice, error) {
	if o.Order == "given" {
		return b.orderGiven(o)
	}
	c := &costSearch{b: b, s: b.statistics(), o: o}
	elems, small := b.group.Elements(5040)
	for r := range b.n {
		outside := b.all() &^ b.near[r] &^ (1 << r)
		if bits.OnesCount32(outside) > 1 || o.Root >= 0 && o.Root != r {
			continue
		}
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
			continue
		}
		rest := b.greedy(r, nil, func(placed uint32, v int) score {
			return score{float64(bits.OnesCount32(b.near[v] & (placed | outside)))}
		})
		for _, v := range rest {
			if p.placed>>v&1 == 0 {
				p = c.extend(&p, v)
			}
		}
		c.finish(p)
	}
	if len(c.best) == 0 {
		return choice{}, queryErrorf("the local method does not apply: no vertex of the pattern is a neighbour of all others but one")
	}
	sort.SliceStable(c.best, func(i, j int) bool { return c.best[i].cost < c.best[j].cost })
	// A level that arithmetic closes is not walked at all, while the levels that
	// are cost about as much each: the longest tail comes before the model's cost.
	order, tail := c.best[0].order, -1
	for _, p := range c.best {
		if k := b.assemble(p.order, o).Tail.K; k > tail {
			order, tail = p.order, k
		}
	}
	return choice{order: order, name: "cost", why: "the local method, asked for; its root is a neighbour of all others but at most one"}, nil
}
