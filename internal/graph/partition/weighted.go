package partition

import (
	"context"
	"math"

	"github.com/weftgraph/weft/internal/graph"
)

// weighted is an undirected graph with weights. Each edge is in the lists of both its ends, and no
// vertex is in its own list.
type weighted struct {
	off    []uint64
	adj    []uint32
	edge   []uint32 // the weight of each entry of adj; nil: all are 1
	vertex []int64
	total  int64 // of vertex
}

func (g *weighted) n() int { return len(g.vertex) }

// degree is the number of neighbours of v.
func (g *weighted) degree(v uint32) int { return int(g.off[v+1] - g.off[v]) }

// list returns the neighbours of v, and the weights of the edges to them, or nil if all are 1.
func (g *weighted) list(v uint32) (adj, edge []uint32) {
	from, to := g.off[v], g.off[v+1]
	if g.edge == nil {
		return g.adj[from:to], nil
	}
	return g.adj[from:to], g.edge[from:to]
}

// weight is that of entry i of a list.
func weight(edge []uint32, i int) int64 {
	if edge == nil {
		return 1
	}
	return int64(edge[i])
}

// sum sums the vertices' weights.
func (g *weighted) sum() {
	g.total = 0
	for _, w := range g.vertex {
		g.total += w
	}
}

// contract returns the graph in which each vertex stands for all vertices of g with that number in
// coarse: at most two, of n numbers. Edge weights that do not fit stay at the greatest one: they
// guide choices, and no result is computed from them.
func (g *weighted) contract(ctx context.Context, coarse []uint32, n, threads int) (*weighted, error) {
	first, second := make([]uint32, n), make([]uint32, n)
	for i := range second {
		second[i] = none
	}
	seen := make([]bool, n)
	c := &weighted{off: make([]uint64, n+1), vertex: make([]int64, n), total: g.total}
	for v, to := range coarse {
		if seen[to] {
			second[to] = uint32(v)
		} else {
			seen[to], first[to] = true, uint32(v)
		}
		c.vertex[to] += g.vertex[v]
		c.off[to+1] += uint64(g.degree(uint32(v)))
	}
	for v := range n {
		c.off[v+1] += c.off[v]
	}
	// A merger finds the entry of a neighbour in the list that is being made. Any number in at is
	// right: an entry counts only if it is that of the neighbour.
	type merger struct{ at []uint32 }
	mergers := make(chan *merger, 1024)
	type made struct{ adj, edge []uint32 }
	lists := make([]made, n) // of the first vertex of each range
	sizes := make([]uint64, n+1)
	err := graph.Parallel(ctx, c.off, threads, func(lo, hi uint32) {
		var m *merger
		select {
		case m = <-mergers:
		default:
			m = &merger{at: make([]uint32, n)}
		}
		most := c.off[hi] - c.off[lo]
		out := made{make([]uint32, 0, most), make([]uint32, 0, most)}
		for v := lo; v < hi; v++ {
			start := len(out.adj)
			for _, part := range [2]uint32{first[v], second[v]} {
				if part == none {
					continue
				}
				adj, edge := g.list(part)
				for i, u := range adj {
					to, w := coarse[u], weight(edge, i)
					if to == v {
						continue
					}
					if p := start + int(m.at[to]); p < len(out.adj) && out.adj[p] == to {
						out.edge[p] = uint32(min(int64(out.edge[p])+w, math.MaxUint32))
						continue
					}
					m.at[to] = uint32(len(out.adj) - start)
					out.adj, out.edge = append(out.adj, to), append(out.edge, uint32(w))
				}
			}
			sizes[v+1] = uint64(len(out.adj) - start)
		}
		lists[lo] = out
		select {
		case mergers <- m:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	for v := range n {
		sizes[v+1] += sizes[v]
	}
	c.off = sizes
	c.adj, c.edge = make([]uint32, sizes[n]), make([]uint32, sizes[n])
	for v := range lists {
		copy(c.adj[sizes[v]:], lists[v].adj)
		copy(c.edge[sizes[v]:], lists[v].edge)
		lists[v] = made{}
	}
	return c, ctx.Err()
}

// part returns the graph of the vertices whose number in of is which, and the number in g of each.
func (g *weighted) part(of []uint32, which uint32) (*weighted, []uint32) {
	var ids []uint32
	number := make([]uint32, g.n())
	for v, p := range of {
		if p == which {
			number[v] = uint32(len(ids))
			ids = append(ids, uint32(v))
		}
	}
	s := &weighted{off: make([]uint64, 1, len(ids)+1), vertex: make([]int64, len(ids))}
	for i, v := range ids {
		s.vertex[i] = g.vertex[v]
		adj, edge := g.list(v)
		for k, u := range adj {
			if of[u] == which {
				s.adj, s.edge = append(s.adj, number[u]), append(s.edge, uint32(weight(edge, k)))
			}
		}
		s.off = append(s.off, uint64(len(s.adj)))
	}
	s.sum()
	return s, ids
}
