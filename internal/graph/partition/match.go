package partition

import (
	"context"
	"math"
	"math/bits"
)

const none = ^uint32(0)

// random is a sequence of numbers that a seed gives (SplitMix64), and a rule of matching.
type random struct {
	state uint64
	rule  rule
}

// rule says which neighbour a vertex is matched with.
type rule uint8

const (
	heavy rule = iota // that of the heaviest edge
	even              // that of a heavy edge and a light vertex, which keeps the vertices' weights even
	rules
)

// rate returns how good it is to match a vertex with another of a weight, over an edge. The
// greatest is taken.
func (r rule) rate(edge, vertex float64) float64 {
	if r == even {
		return edge * edge / vertex
	}
	return edge
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// visits returns the vertices in a random order, those of small degree first. They have the fewest
// vertices to choose from.
func (g *weighted) visits(r *random) []uint32 {
	n := g.n()
	shuffled := make([]uint32, n)
	for i := range shuffled {
		k := r.below(i + 1)
		shuffled[i], shuffled[k] = shuffled[k], uint32(i)
	}
	most := int(4 * len(g.adj) / max(n, 1))
	group := func(v uint32) int { return min(int(math.Sqrt(float64(1+g.degree(v)))), most) }
	first := make([]int, most+2)
	for v := range uint32(n) {
		first[group(v)+1]++
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	order := make([]uint32, n)
	for _, v := range shuffled {
		k := group(v)
		order[first[k]] = v
		first[k]++
	}
	return order
}

// match puts vertices together in pairs, over heavy edges first, and returns the number of each
// vertex's pair, or its own if it stays single, and how many numbers there are. No pair weighs more
// than heaviest.
func (g *weighted) match(ctx context.Context, heaviest int64, r *random) (coarse []uint32, n int, err error) {
	mate := make([]uint32, g.n())
	for v := range mate {
		mate[v] = none
	}
	single := 0
	for i, v := range g.visits(r) {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if mate[v] != none {
			continue
		}
		adj, edge := g.list(v)
		best, most := none, 0.0
		for k, u := range adj {
			if mate[u] != none || g.vertex[v]+g.vertex[u] > heaviest {
				continue
			}
			w := float64(weight(edge, k))
			if rate := r.rule.rate(w, float64(g.vertex[u])); rate > most {
				best, most = u, rate
			}
		}
		if best == none {
			single++
			continue
		}
		mate[v], mate[best] = best, v
	}
	if single > g.n()/10 {
		g.matchSiblings(mate, heaviest)
	}
	coarse = make([]uint32, g.n())
	for v := range coarse {
		if m := mate[v]; m < uint32(v) {
			coarse[v] = coarse[m]
			continue
		}
		coarse[v] = uint32(n)
		n++
	}
	return coarse, n, ctx.Err()
}

// matchSiblings puts single vertices together that have a neighbour in common, those of small
// degree first, and then those without any neighbour. In power-law graphs most neighbours of a hub
// stay single otherwise, as the hub can have one mate only.
func (g *weighted) matchSiblings(mate []uint32, heaviest int64) {
	last := none
	meet := func(v uint32) {
		switch {
		case last == none || g.vertex[v] < g.vertex[last] && g.vertex[v]+g.vertex[last] > heaviest:
			last = v
		case g.vertex[v]+g.vertex[last] <= heaviest:
			mate[v], mate[last] = last, v
			last = none
		}
	}
	for _, most := range []int{1, 3, 10, math.MaxInt} {
		for hub := range uint32(g.n()) {
			last = none
			adj, _ := g.list(hub)
			for _, v := range adj {
				if mate[v] == none && g.degree(v) <= most {
					meet(v)
				}
			}
		}
	}
	last = none
	for v := range uint32(g.n()) {
		if mate[v] == none && g.degree(v) == 0 {
			meet(v)
		}
	}
}

// level is a graph, and the number of each of its vertices in the next coarser one.
type level struct {
	*weighted
	coarse []uint32
}

// coarsen returns g and coarser and coarser graphs. The last one, whose coarse is nil, has at most
// small vertices, or cannot be made much smaller.
func coarsen(ctx context.Context, g *weighted, small, threads int, r *random) ([]level, error) {
	levels := []level{{weighted: g}}
	heaviest := max(3*g.total/int64(2*small), 1)
	for g.n() > small {
		coarse, n, err := g.match(ctx, heaviest, r)
		if err != nil {
			return nil, err
		}
		if n > g.n()/20*19 {
			break
		}
		levels[len(levels)-1].coarse = coarse
		if g, err = g.contract(ctx, coarse, n, threads); err != nil {
			return nil, err
		}
		levels = append(levels, level{weighted: g})
	}
	return levels, nil
}
