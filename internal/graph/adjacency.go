package graph

import (
	"context"
	"sync/atomic"
)

// From distinct pairs to adjacency without sorting. Going over the vertices in
// the order of their internal ids and appending each to the lists of its
// neighbours leaves every list in order. Pairs lie at their smaller ends (by
// compact ids), so that one round fills, for each vertex, the part of its list
// that came from smaller ends; a second round, over what the first made, fills
// the other part; merging the two is sequential. Appending is in two steps that
// both stay in cache (streams.go).

// adjacency writes the pairs to the graph's CSR by internal ids and frees them.
func (set *pairSet) adjacency(ctx context.Context, threads int, g *Graph, order, place []uint32) error {
	if err := set.renumber(ctx, threads, place); err != nil {
		return err
	}
	if !g.Directed {
		t, err := set.fromSmaller(ctx, threads, order, set.later, set.all, set.freePairs)
		defer t.freeTemp()
		if err != nil {
			return err
		}
		g.Out, err = combine(ctx, threads, t, t, set.deg, order, true)
		g.In = g.Out
		return err
	}
	along, err := set.fromSmaller(ctx, threads, order, set.laterFwd, set.along, func() {})
	defer along.freeTemp()
	if err != nil {
		return err
	}
	against, err := set.fromSmaller(ctx, threads, order, set.laterBwd, set.against, set.freePairs)
	defer against.freeTemp()
	if err != nil {
		return err
	}
	if g.Out, err = combine(ctx, threads, against, along, set.out, order, false); err != nil {
		return err
	}
	g.In, err = combine(ctx, threads, along, against, set.in, order, true)
	return err
}

// renumber replaces the larger ends of all pairs by internal ids.
func (set *pairSet) renumber(ctx context.Context, threads int, place []uint32) error {
	return parallel(ctx, threads, uint64(len(set.blocks)), 1, func(_ int, i, _ uint64) {
		b := set.blocks[i]
		far := set.far[b.from:b.to]
		for j, y := range far {
			far[j] = place[y]
		}
	})
}

// fromSmaller returns, by internal ids, for each vertex the smaller ends of the
// pairs whose larger end it is, in order. ends gives the larger ends of the pairs
// that count, by compact id of the smaller ones, and size is how many have a
// vertex as the larger end. put is called when the pairs are not needed any more.
// The caller frees the lists.
func (set *pairSet) fromSmaller(ctx context.Context, threads int, order, size []uint32, ends func(x uint32) []uint32, put func()) (*CSR, error) {
	t := &CSR{Off: makeTemp[uint64](uint64(len(order)) + 1)}
	t.Adj = makeTemp[uint32](cursors(t.Off, size, order))
	return t, t.appendAll(ctx, threads, t.start, func(first uint32, to [][]uint32) {
		for i, x := range order[first:][:len(to)] {
			to[i] = ends(x)
		}
		touch(to)
	}, put, func(uint32, uint32) {})
}

// touch brings the ends of lists to the cache, all at the same time. (Inlined,
// its loads would be of no use to the compiler.)
//
//go:noinline
func touch(to [][]uint32) (sum uint32) {
	for _, l := range to {
		if len(l) > 0 {
			sum += l[0] + l[len(l)-1]
		}
	}
	return sum
}

// combine returns the lists that have what t has and, for each v in whose list
// in s a vertex u is, v in the list of u. Both t and s are sorted; sizes are by
// compact id. If it is the last use of t, its memory is given back.
func combine(ctx context.Context, threads int, t, s *CSR, size, order []uint32, last bool) (CSR, error) {
	c := emptyCSR(size, order)
	for v := range order {
		c.Off[v+1] += uint64(len(t.List(uint32(v))))
	}
	return c, c.appendAll(ctx, threads, func(v uint32) uint64 { return c.start(v) - t.end(v) }, func(first uint32, to [][]uint32) {
		for i := range to {
			to[i] = s.List(first + uint32(i))
		}
	}, func() {}, func(lo, hi uint32) {
		if lo == hi {
			return
		}
		from := c.Off[lo+1] - uint64(size[order[lo]]) // Off[lo] may not be final yet
		for v := lo; v < hi; v++ {
			mergeFront(c.Adj[from:c.Off[v+1]], t.List(v))
			from = c.Off[v+1]
		}
		if last {
			dropBig(t.Adj, t.Off[lo], t.Off[hi])
		}
	})
}

// start is where v's list begins in a CSR that cursors made and nothing has
// filled yet.
func (c *CSR) start(v uint32) uint64 {
	if int(v) == c.NumVertices() {
		return uint64(len(c.Adj))
	}
	return c.Off[v+1]
}

// end is where v's list ends in a CSR that is filled; of no vertex, the end of all.
func (c *CSR) end(v uint32) uint64 { return c.Off[min(int(v)+1, c.NumVertices())] }

// mergeFront merges t into l, whose elements from len(t) on are sorted as t is;
// those before are room. No element is in both.
func mergeFront(l, t []uint32) {
	k, j := 0, len(t)
	for i := 0; i < len(t); k++ {
		if j == len(l) {
			copy(l[k:], t[i:])
			return
		}
		least, fromL := t[i], 0
		if l[j] < least { // conditional moves: neither side is likely
			least, fromL = l[j], 1
		}
		l[k] = least
		j += fromL
		i += 1 - fromL
	}
}

// cursors sets off for lists of the sizes given by compact id: off[v+1] is where
// the list of v begins. It returns the sum of the sizes.
func cursors(off []uint64, size, order []uint32) (sum uint64) {
	for v, x := range order {
		off[v+1] = sum
		sum += uint64(size[x])
	}
	return sum
}

// emptyCSR makes room for lists of the sizes given by compact id. Until they
// are filled, Off[v+1] is where the next neighbour of v goes; afterwards it is
// the end of v's list, as it must be.
func emptyCSR(size, order []uint32) CSR {
	c := CSR{Off: makeBig[uint64](uint64(len(order)) + 1)}
	c.Adj = makeBig[uint32](cursors(c.Off, size, order))
	return c
}

// freeTemp frees lists that makeTemp made.
func (c *CSR) freeTemp() {
	freeBig(&c.Off)
	freeBig(&c.Adj)
}

func (c *CSR) put(u, v uint32) { c.Adj[atomic.AddUint64(&c.Off[u+1], 1)-1] = v }

// sort sorts all lists of a CSR that is filled.
func (c *CSR) sort(ctx context.Context, threads int) error {
	tmp := make([][]uint32, threads)
	return overVertices(ctx, threads, c.Off, func(w int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			sortList(c.Adj[c.Off[v]:c.Off[v+1]], c.NumVertices(), &tmp[w])
		}
	})
}
