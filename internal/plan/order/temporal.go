package order

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/bind"
	"github.com/weftgraph/weft/internal/plan/cost"
)

// Bounds of the search for an order of edge extension.
const (
	timeOrders = 48  // orders that are compared
	timeWalks  = 100 // random walks for each
)

// timeOrder is a way to extend: a matching order in which extends[l] is the
// pattern edge that leads to the vertex of level l, -1 where none does. Edges
// between vertices that are known close at once.
type timeOrder struct {
	vertices, extends []int
}

// InTime returns the plan of edge extension that random walks expect to read the
// fewest events.
func InTime(b *bind.Binding, o plan.Options) (*plan.Plan, error) {
	var best *plan.Plan
	orders := ordersInTime(b)
	for _, order := range orders {
		pl := b.AssembleTemporal(order.vertices, order.extends, o)
		if pl == nil {
			continue
		}
		cost.WalkEvents(pl, &o, timeWalks)
		if best == nil || pl.Price < best.Price {
			best = pl
		}
	}
	if best == nil {
		return nil, fmt.Errorf("conditions tie its edges to later ones")
	}
	compared := fmt.Sprintf("%d orders", len(orders))
	if len(orders) == 1 {
		compared = "1 order"
	}
	best.Why = fmt.Sprintf("edges are extended in windows of time; %s compared by random walks", compared)
	return best, nil
}

// ordersInTime lists ways to extend, from each edge in the order, those first that
// take the next in time.
func ordersInTime(b *bind.Binding) (out []timeOrder) {
	timed := b.TimedEdges()
	each := max(1, timeOrders/len(timed))
	for _, start := range timed {
		e := &b.Pattern.Edges[start]
		end := len(out) + each
		var grow func(vertices, extends []int)
		grow = func(vertices, extends []int) {
			if len(out) >= end {
				return
			}
			if len(vertices) == b.N {
				out = append(out, timeOrder{slices.Clone(vertices), slices.Clone(extends)})
				return
			}
			placed := pattern.SetOf(vertices)
			for _, i := range extensions(b, placed) {
				v := b.Pattern.Edges[i].From
				if placed>>v&1 != 0 {
					v = b.Pattern.Edges[i].To
				}
				grow(append(slices.Clip(vertices), v), append(slices.Clip(extends), i))
			}
			if v := neighbourOf(b, placed); v >= 0 {
				grow(append(slices.Clip(vertices), v), append(slices.Clip(extends), -1))
			}
		}
		grow([]int{e.From, e.To}, []int{-1, start})
	}
	return out
}

// extensions are the timed edges with one end in placed, nearest in the order to
// one with both.
func extensions(b *bind.Binding, placed uint32) (out []int) {
	in := func(i int) int {
		e := &b.Pattern.Edges[i]
		return int(placed>>e.From&1 + placed>>e.To&1)
	}
	distance := map[int]int{}
	for at, i := range b.TimedEdges() {
		if in(i) != 1 {
			continue
		}
		distance[i] = len(b.TimedEdges())
		for place, j := range b.TimedEdges() {
			if in(j) == 2 {
				distance[i] = min(distance[i], max(at-place, place-at))
			}
		}
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(i, j int) int { return distance[i] - distance[j] })
	return out
}

// neighbourOf is the vertex with the most neighbours in placed, where no timed
// edge leads out of it; -1 otherwise.
func neighbourOf(b *bind.Binding, placed uint32) int {
	best := -1
	if len(extensions(b, placed)) > 0 {
		return best
	}
	for v := range b.N {
		if n := bits.OnesCount32(b.Near[v] & placed); placed>>v&1 == 0 && n > 0 &&
			(best < 0 || n > bits.OnesCount32(b.Near[best]&placed)) {
			best = v
		}
	}
	return best
}
