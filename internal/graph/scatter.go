package graph

import (
	"context"
	"sync/atomic"
)

// adjacency writes the pairs to the graph's CSR by internal ids and frees the
// blocks as it goes.
func (set *pairSet) adjacency(ctx context.Context, threads int, g *Graph, order, place []uint32) error {
	if g.Directed {
		g.Out = emptyCSR(set.out, order)
		g.In = emptyCSR(set.in, order)
	} else {
		g.Out = emptyCSR(set.deg, order)
	}
	o, in := &g.Out, &g.In
	err := parallel(ctx, threads, uint64(len(set.blocks)), 1, func(_ int, i, _ uint64) {
		b := &set.blocks[i]
		at := 0
		for x, c := range b.size {
			u := place[b.lo+uint32(x)]
			for end := at + int(c); at < end; at++ {
				v := place[b.far[at]]
				if b.dir == nil {
					o.put(u, v)
					o.put(v, u)
					continue
				}
				if b.dir[at]&fwd != 0 {
					o.put(u, v)
					in.put(v, u)
				}
				if b.dir[at]&bwd != 0 {
					o.put(v, u)
					in.put(u, v)
				}
			}
		}
		b.free()
	})
	if err != nil {
		return err
	}
	if err := o.sort(ctx, threads); err != nil {
		return err
	}
	if !g.Directed {
		g.In = g.Out
		return nil
	}
	return in.sort(ctx, threads)
}

// emptyCSR makes room for lists of the sizes given by compact id. Until they
// are filled, Off[v+1] is where the next neighbour of v goes; afterwards it is
// the end of v's list, as it must be.
func emptyCSR(size, order []uint32) CSR {
	c := CSR{Off: makeBig[uint64](uint64(len(order)) + 1)}
	sum := uint64(0)
	for v, x := range order {
		c.Off[v+1] = sum
		sum += uint64(size[x])
	}
	c.Adj = makeBig[uint32](sum)
	return c
}

func (c *CSR) put(u, v uint32) { c.Adj[atomic.AddUint64(&c.Off[u+1], 1)-1] = v }

// sort sorts all lists.
func (c *CSR) sort(ctx context.Context, threads int) error {
	tmp := make([][]uint32, threads)
	return overVertices(ctx, threads, c.Off, func(w int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			sortList(c.Adj[c.Off[v]:c.Off[v+1]], c.NumVertices(), &tmp[w])
		}
	})
}
