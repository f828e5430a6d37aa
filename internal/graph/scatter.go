package graph

import (
	"context"
	"math/bits"
	"sync/atomic"
)

// From distinct pairs to adjacency: arcs in internal ids go to buckets by
// source, a bucket being a run of the final adjacency that fits the cache;
// sorting a bucket is then sorting its lists, and writing it out is sequential.
// Putting arcs straight into place costs several times as much in cache misses.

// bucketing says where the arcs of a CSR go.
type bucketing struct {
	c     *CSR
	shift int
	of    []uint16 // bucket by source >> shift
	lo    []uint32 // first source of each bucket; one more at the end
	at    []uint64 // where the bucket begins in Adj; one more at the end
}

// direct marks sources that have more arcs than a bucket should: they are put
// in place one by one.
const direct = ^uint16(0)

func newBucketing(c *CSR) *bucketing {
	n := uint32(c.NumVertices())
	k := &bucketing{c: c, shift: max(0, bits.Len32(n)-16), lo: []uint32{0}}
	bins := n>>k.shift + 1
	k.of = make([]uint16, bins)
	end := func(bin uint32) uint32 { return uint32(min(uint64(bin)<<k.shift, uint64(n))) }
	arcs := uint64(len(c.Adj))
	each := max(rangeEdges, arcs/8192)
	from := c.start(0)
	for b := range bins {
		size := c.start(end(b+1)) - c.start(end(b))
		if at := end(b); c.start(end(b+1))-from > each && at > k.lo[len(k.lo)-1] {
			k.lo = append(k.lo, at)
			from = c.start(at)
		}
		k.of[b] = uint16(len(k.lo) - 1)
		if size > 8*each {
			k.of[b] = direct
		}
	}
	k.lo = append(k.lo, n)
	for _, v := range k.lo {
		k.at = append(k.at, c.start(v))
	}
	return k
}

// start is where v's list begins in a CSR that emptyCSR made and nothing has
// filled yet.
func (c *CSR) start(v uint32) uint64 {
	if int(v) == c.NumVertices() {
		return uint64(len(c.Adj))
	}
	return c.Off[v+1]
}

// half cuts the buckets in two runs of about equal numbers of arcs, so that
// only half of them need room at a time.
func (k *bucketing) half() int {
	for i := range k.lo {
		if k.at[i] >= uint64(len(k.c.Adj))/2 {
			return i
		}
	}
	return len(k.lo) - 1
}

// arcRun is what a goroutine has for one bucket before it claims room for it.
type arcRun struct {
	n   int
	arc [56]uint64
}

// fill puts the arcs of buckets first … last-1 in place and sorts them. each
// calls emit with every arc of its part of the blocks.
func (k *bucketing) fill(ctx context.Context, threads, first, last int, blocks uint64, each func(block uint64, emit func(u, v uint32))) error {
	if first >= last {
		return nil
	}
	base := k.at[first]
	starts := make([]uint64, last-first+1)
	for i := range starts {
		starts[i] = k.at[first+i] - base
	}
	arcs := makeTemp[uint64](starts[last-first])
	defer freeBig(&arcs)
	next := make([]atomic.Uint64, last-first)
	for i := range next {
		next[i].Store(starts[i])
	}
	runs := make([][]arcRun, threads)
	flush := func(r *arcRun, i int) {
		at := next[i].Add(uint64(r.n)) - uint64(r.n)
		copy(arcs[at:], r.arc[:r.n])
		r.n = 0
	}
	err := parallel(ctx, threads, blocks, 1, func(w int, b, _ uint64) {
		if runs[w] == nil {
			runs[w] = make([]arcRun, last-first)
		}
		mine := runs[w]
		each(b, func(u, v uint32) {
			i := k.of[u>>k.shift]
			if i == direct {
				if first == 0 {
					k.c.put(u, v)
				}
				return
			}
			j := int(i) - first
			if uint(j) >= uint(len(mine)) {
				return
			}
			r := &mine[j]
			r.arc[r.n] = uint64(u-k.lo[i])<<32 | uint64(v)
			if r.n++; r.n == len(r.arc) {
				flush(r, j)
			}
		})
	})
	if err != nil {
		return err
	}
	for w := range runs {
		for i := range runs[w] {
			flush(&runs[w][i], i)
		}
	}
	tmp := make([][]uint64, threads)
	defer func() {
		for w := range tmp {
			freeBig(&tmp[w])
		}
	}()
	width := bits.Len(uint(k.c.NumVertices()))
	return parallel(ctx, threads, uint64(last-first), 1, func(w int, i, _ uint64) {
		// A bucket with sources in place has fewer arcs than room: those of the
		// others are at its beginning, and go where their lists are.
		from, end := starts[i], next[i].Load()
		l := arcs[from:end]
		if len(tmp[w]) < len(l) {
			freeBig(&tmp[w])
			tmp[w] = makeTemp[uint64](uint64(len(l) + len(l)/4))
		}
		lo, hi := k.lo[first+int(i)], k.lo[first+int(i)+1]
		s := sortArcs(l, tmp[w][:len(l)], bits.Len32(hi-lo), width)
		if end == starts[i+1] {
			out := k.c.Adj[base+from : base+end]
			for j, a := range s {
				out[j] = uint32(a)
			}
			// These lists are complete: their cursors become ends.
			for _, a := range s {
				k.c.Off[lo+uint32(a>>32)+1]++
			}
		} else {
			for _, a := range s {
				k.c.put(lo+uint32(a>>32), uint32(a))
			}
		}
		dropBig(arcs, from, end)
	})
}

// sortArcs sorts (source, target) pairs whose halves have few bits.
func sortArcs(l, tmp []uint64, high, low int) []uint64 {
	if len(l) < radixShort {
		return radixSort(l, tmp, 64)
	}
	for i, a := range l {
		l[i] = a>>32<<low | a&(1<<32-1)
	}
	s := radixSort(l, tmp, high+low)
	mask := uint64(1)<<low - 1
	for i, a := range s {
		s[i] = a>>low<<32 | a&mask
	}
	return s
}

// adjacency writes the pairs to the graph's CSR by internal ids and frees the
// blocks as it goes.
func (set *pairSet) adjacency(ctx context.Context, threads int, g *Graph, order, place []uint32) error {
	blocks := uint64(len(set.blocks))
	if g.Directed {
		g.Out = emptyCSR(set.out, order)
		g.In = emptyCSR(set.in, order)
		k := newBucketing(&g.Out)
		if err := k.fill(ctx, threads, 0, len(k.lo)-1, blocks, set.arcsOf(place, fwd, bwd, false)); err != nil {
			return err
		}
		if err := k.sortDirect(ctx, threads); err != nil {
			return err
		}
		k = newBucketing(&g.In)
		if err := k.fill(ctx, threads, 0, len(k.lo)-1, blocks, set.arcsOf(place, bwd, fwd, true)); err != nil {
			return err
		}
		return k.sortDirect(ctx, threads)
	}
	g.Out = emptyCSR(set.deg, order)
	k := newBucketing(&g.Out)
	half, last := k.half(), len(k.lo)-1
	if len(g.Out.Adj) < 1<<22 || half == 0 {
		half = last
	}
	if err := k.fill(ctx, threads, 0, half, blocks, set.arcsOf(place, fwd, bwd, half == last)); err != nil {
		return err
	}
	if err := k.fill(ctx, threads, half, last, blocks, set.arcsOf(place, fwd, bwd, true)); err != nil {
		return err
	}
	g.In = g.Out
	return k.sortDirect(ctx, threads)
}

// arcsOf emits a block's pairs as arcs: from the smaller end where the pair has
// the direction a, from the larger where it has b; both on an undirected graph.
func (set *pairSet) arcsOf(place []uint32, a, b uint8, free bool) func(uint64, func(u, v uint32)) {
	return func(i uint64, emit func(u, v uint32)) {
		bl := &set.blocks[i]
		at := 0
		for x, c := range bl.size {
			if c == 0 {
				continue
			}
			u := place[bl.lo+uint32(x)]
			for end := at + int(c); at < end; at++ {
				v := place[bl.far[at]]
				if bl.dir == nil || bl.dir[at]&a != 0 {
					emit(u, v)
				}
				if bl.dir == nil || bl.dir[at]&b != 0 {
					emit(v, u)
				}
			}
		}
		if free {
			bl.free()
		}
	}
}

// sortDirect sorts the lists that were put in place one by one.
func (k *bucketing) sortDirect(ctx context.Context, threads int) error {
	var bins []uint32
	for b, i := range k.of {
		if i == direct {
			bins = append(bins, uint32(b))
		}
	}
	n := uint64(k.c.NumVertices())
	return parallel(ctx, threads, uint64(len(bins)), 1, func(_ int, i, _ uint64) {
		var tmp []uint32
		for v := uint64(bins[i]) << k.shift; v < min(uint64(bins[i]+1)<<k.shift, n); v++ {
			sortList(k.c.List(uint32(v)), int(n), &tmp)
		}
	})
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

// sort sorts all lists of a CSR that is filled.
func (c *CSR) sort(ctx context.Context, threads int) error {
	tmp := make([][]uint32, threads)
	return overVertices(ctx, threads, c.Off, func(w int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			sortList(c.Adj[c.Off[v]:c.Off[v+1]], c.NumVertices(), &tmp[w])
		}
	})
}
