package graph

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// CSRInput is adjacency that is already in lists, as binary formats have it.
// The slices are only read and only during FromCSR.
type CSRInput struct {
	Directed bool
	Off      []uint64 // len = vertices+1, ascending from 0
	// Adj holds the lists. On an undirected graph every edge must be in both
	// lists. Unsorted lists, repeated neighbours and self-loops are allowed and
	// are counted in the graph's ReadStats.
	Adj []uint32
	// IDs are the user's ids, distinct; nil: 0 … vertices-1.
	IDs []int64
	// Label is a vertex label name's index by vertex, NoLabel for none; nil: no
	// labels. Names are LabelNames.
	Label      []uint32
	LabelNames []string
	Threads    int // 0: all cores
	Read       ReadStats
}

// FromCSR makes a graph of adjacency that is already in lists, without a Builder, and orders
// its vertices. It returns ErrColumns for lists that are not a graph: ids out of range,
// descending offsets, or an undirected edge in only one of its lists.
func FromCSR(ctx context.Context, in CSRInput) (*Graph, error) {
	threads := threadCount(in.Threads)
	if len(in.Off) == 0 {
		return nil, fmt.Errorf("%w: no offsets", ErrColumns)
	}
	n := len(in.Off) - 1
	if uint64(n) > maxVertices {
		return nil, fmt.Errorf("%w: %d vertices", ErrTooLarge, n)
	}
	if in.IDs != nil && len(in.IDs) != n || in.Label != nil && len(in.Label) != n {
		return nil, fmt.Errorf("%w: ids or labels for %d vertices", ErrColumns, n)
	}
	if in.Off[0] != 0 || in.Off[n] != uint64(len(in.Adj)) {
		return nil, fmt.Errorf("%w: offsets %d … %d for %d neighbours", ErrColumns, in.Off[0], in.Off[n], len(in.Adj))
	}
	for v := range n {
		if in.Off[v] > in.Off[v+1] {
			return nil, fmt.Errorf("%w: offsets descend at vertex %d", ErrColumns, v)
		}
	}
	if in.IDs != nil && !slices.IsSorted(in.IDs) {
		return fromCSRByPairs(ctx, in) // ties go by the user's id: rare, so simple
	}
	c := CSR{Off: in.Off, Adj: in.Adj}
	clean, err := c.inspect(ctx, threads, !in.Directed)
	if err != nil {
		return nil, err
	}
	if in.Directed || !clean {
		return fromCSRByPairs(ctx, in)
	}
	g := &Graph{Read: in.Read}
	b := builderState{}
	b.setLabels(in)
	class := b.classes(g, n)
	deg := makeTemp[uint32](uint64(n))
	for v := range deg {
		deg[v] = uint32(in.Off[v+1] - in.Off[v])
	}
	order, place := degreeOrder(deg, class, g.Classes, nil)
	size := byOrder([2][]uint32{deg}, order)
	g.Out = newCSR(size[0], nil)
	freeBig(&size[0])
	freeBig(&deg)
	tmp := make([][]uint32, threads)
	err = overVertices(ctx, threads, g.Out.Off, func(w int, lo, hi uint32) {
		for v := lo; v < hi; v++ {
			l := g.Out.List(v)
			for i, x := range c.List(order[v]) {
				l[i] = place[x]
			}
			sortList(l, n, &tmp[w])
		}
	})
	g.In = g.Out
	g.IDs.Num = makeBig[int64](uint64(n))
	for v, x := range order {
		g.IDs.Num[v] = int64(x)
		if in.IDs != nil {
			g.IDs.Num[v] = in.IDs[x]
		}
	}
	freeBig(&order)
	freeBig(&place)
	g.Read.Kept += uint64(len(g.Out.Adj)) / 2
	if err != nil {
		_ = g.Close()
		return nil, err
	}
	return g, nil
}

// setLabels makes vertex rows of the labels.
func (b *builderState) setLabels(in CSRInput) {
	if in.Label == nil {
		return
	}
	place := make([][]uint32, len(in.LabelNames))
	for i, s := range in.LabelNames {
		place[i] = []uint32{b.vlabels.put([]byte(s))}
	}
	r := vertexRun{id: make([]uint64, len(in.Label)), labels: make([][]uint32, len(in.Label))}
	for v, l := range in.Label {
		r.id[v] = uint64(v)
		if int(l) < len(place) {
			r.labels[v] = place[l]
		}
	}
	b.verts = []vertexRun{r}
}

// inspect checks that neighbours are in range and, for symmetric lists, that
// each arc has its reverse. It reports whether all lists are strictly ascending
// in themselves, without self-loops.
func (c *CSR) inspect(ctx context.Context, threads int, symmetric bool) (clean bool, err error) {
	n := uint32(c.NumVertices())
	var bad, dirty atomic.Uint64
	// Equal multisets of arcs have equal sums of hashes. With a secret seed different multisets
	// have equal sums only with probability 2^-64.
	var up, down atomic.Uint64
	seed := processSeed()
	err = overVertices(ctx, threads, c.Off, func(_ int, lo, hi uint32) {
		var a, d, loops uint64
		for v := lo; v < hi; v++ {
			last := int64(-1)
			for _, w := range c.List(v) {
				if w >= n {
					bad.Store(uint64(v) + 1)
					return
				}
				if int64(w) <= last || w == v {
					loops++
				}
				last = int64(w)
				switch {
				case !symmetric:
				case v < w:
					a += mix64(seed ^ (uint64(v)<<32 | uint64(w)))
				case w < v:
					d += mix64(seed ^ (uint64(w)<<32 | uint64(v)))
				}
			}
		}
		dirty.Add(loops)
		up.Add(a)
		down.Add(d)
	})
	switch v := bad.Load(); {
	case err != nil:
		return false, err
	case v > 0:
		return false, fmt.Errorf("%w: a neighbour of vertex %d is not below %d", ErrColumns, v-1, n)
	case up.Load() != down.Load() && dirty.Load() == 0:
		return false, fmt.Errorf("%w: not every undirected edge is in both its lists", ErrColumns)
	}
	return dirty.Load() == 0, nil
}

// fromCSRByPairs is for lists that need more than an order.
func fromCSRByPairs(ctx context.Context, in CSRInput) (*Graph, error) {
	b := NewBuilder(BuildOptions{Directed: in.Directed, Threads: in.Threads, Read: in.Read})
	n := uint64(len(in.Off) - 1)
	id := func(v uint32) uint64 {
		if in.IDs == nil {
			return uint64(v)
		}
		return uint64(in.IDs[v])
	}
	if in.IDs == nil {
		if err := b.AddRange(n); err != nil {
			return nil, err
		}
	}
	const part = 1 << 16
	for lo := uint64(0); lo < n; lo += part {
		hi := min(lo+part, n)
		vc := &VertexChunk{Seq: lo}
		ec := &EdgeChunk{}
		for v := uint32(lo); uint64(v) < hi; v++ {
			if in.IDs != nil || in.Label != nil {
				vc.ID = append(vc.ID, id(v))
			}
			if in.Label != nil {
				var l []string
				if int(in.Label[v]) < len(in.LabelNames) {
					l = []string{in.LabelNames[in.Label[v]]}
				}
				vc.Labels = append(vc.Labels, l)
			}
			for _, w := range in.Adj[in.Off[v]:in.Off[v+1]] {
				if uint64(w) >= n {
					b.Discard()
					return nil, fmt.Errorf("%w: a neighbour of vertex %d is not below %d", ErrColumns, v, n)
				}
				ec.Src, ec.Dst = append(ec.Src, id(v)), append(ec.Dst, id(w))
				if len(ec.Src) == part {
					if err := b.AddEdges(ec); err != nil {
						b.Discard()
						return nil, err
					}
					ec.Src, ec.Dst = ec.Src[:0], ec.Dst[:0]
				}
			}
		}
		if err := b.AddEdges(ec); err != nil {
			b.Discard()
			return nil, err
		}
		if err := b.AddVertices(vc); err != nil {
			b.Discard()
			return nil, err
		}
	}
	g, err := b.Build(ctx)
	if err != nil {
		return nil, err
	}
	if !in.Directed {
		// Both lists have each edge, which is not a merge. A self-loop is in one list.
		r := &g.Read
		if r.Reciprocal-in.Read.Reciprocal != r.Kept-in.Read.Kept {
			_ = g.Close()
			return nil, fmt.Errorf("%w: not every undirected edge is in both its lists", ErrColumns)
		}
		r.Reciprocal = in.Read.Reciprocal
		r.Duplicates = in.Read.Duplicates + (r.Duplicates-in.Read.Duplicates+1)/2
	}
	return g, nil
}

// processSeed is a number that input cannot know.
var processSeed = sync.OnceValue(func() uint64 { return new(maphash.Hash).Sum64() })
