package order

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/cost"
)

// beginnings is how many beginnings of an order, over different vertices, are kept at a time: all of them up to 12 vertices.
const beginnings = 1 << 10

// From returns a matching order whose first vertices are u and v, which are adjacent, for a search of all embeddings breadth first (cost.Breadth). If
// pairs is true, that search counts the last two vertices together where neither depends on the other. The pattern must be
// connected.
//
// The order is pattern.OrderFrom's, unless another is clearly better by random walks, of those that
// the model of the graph expects to be cheapest.
func (b *Rules) From(u, v int, pairs bool, o plan.Options) []int {
	usual := pattern.OrderFrom(b.Near[:b.N], u, v)
	orders := append(b.cheapestFrom([]int{u, v}, pairs), usual)
	if b.Empty != nil || len(orders) == 1 {
		return usual
	}
	work := func(n int, orders ...[]int) []estimated {
		return b.walked(orders, o, n, func(i int, pl *plan.Plan, seed uint64, n int) float64 {
			return cost.Breadth(pl, &o, seed, n, pairs && b.ends(orders[i]))
		})
	}
	all := work(testWalks, orders...)
	best := 0
	for i, x := range all {
		if x.mean < all[best].mean {
			best = i
		}
	}
	if slices.Equal(orders[best], usual) || all[len(all)-1].mean < worthTesting {
		return usual
	}
	o.Seed++ // the least of many estimates is more often too low than too high
	two := work(moreWalks, orders[best], usual)
	if two[0].mean < clearlyFewer*two[1].mean && two[1].mean-two[0].mean > 2*math.Hypot(two[0].err, two[1].err) {
		return orders[best]
	}
	return usual
}

// ends reports whether neither of the last two vertices of an order depends on the other.
func (b *Rules) ends(order []int) bool {
	n := len(order)
	u, v := order[n-2], order[n-1]
	return n > 3 && (b.Near[u]|b.Far[u])>>v&1 == 0
}

// begun is the beginning of an order, with its cost.
type begun struct {
	order  []int
	placed uint32
	cost   float64
}

// compare puts the cheaper one first.
func (s begun) compare(t begun) int {
	return cmp.Or(cmp.Compare(s.cost, t.cost), slices.Compare(s.order, t.order))
}

// cheapestFrom returns the orders from the first vertices that the model expects to be cheapest, at most finalists.
func (b *Rules) cheapestFrom(first []int, pairs bool) (orders [][]int) {
	c := &costSearch{b: b, s: b.statistics()}
	level := []begun{{order: first, placed: pattern.SetOf(first)}}
	for n := len(first); n < b.N; n++ {
		next := map[uint32]begun{} // by the vertices; all orders at the end
		var last []begun
		for _, s := range level {
			rows := c.s.Card(s.placed)
			for _, v := range pattern.Members(b.all() &^ s.placed) {
				if b.Near[v]&s.placed == 0 {
					continue
				}
				q := begun{extended(s.order, v), s.placed | 1<<v, s.cost + rows*(c.s.Visit+c.shortest(s.placed, v))}
				if n == b.N-1 {
					if pairs && b.ends(q.order) { // counted from the rows before
						before := s.placed &^ (1 << s.order[n-1])
						q.cost = s.cost + c.s.Card(before)*c.shortest(before, v)
					}
					last = append(last, q)
				} else if old, ok := next[q.placed]; !ok || q.compare(old) < 0 {
					next[q.placed] = q
				}
			}
		}
		level = slices.AppendSeq(last, maps.Values(next))
		slices.SortFunc(level, begun.compare)
		level = level[:min(len(level), beginnings)]
	}
	for _, s := range level[:min(len(level), finalists)] {
		orders = append(orders, s.order)
	}
	return orders
}
