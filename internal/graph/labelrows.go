package graph

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync/atomic"
)

// LabelRows has the rows of an edge table by edge label.
type LabelRows struct {
	off []uint64 // of the rows without a label, then of each label's
	row []uint32
}

// Of returns the numbers of the rows with a label, an index into Graph.EdgeLabels, or
// NoLabel for those without one; ascending. The caller must not change them.
func (r *LabelRows) Of(label uint32) []uint32 { return r.row[r.off[label+1]:r.off[label+2]] }

// LabelRows returns the rows of the edge table by label, or nil for a graph whose edges have no
// labels. They are sorted on the first call, on all cores, and kept: 4 bytes for each row. Safe
// for concurrent use.
func (g *Graph) LabelRows() *LabelRows {
	if g.Edges == nil || g.Edges.Label == nil {
		return nil
	}
	// To the end, whichever query asked first: others wait for it, and it is kept.
	return g.byLabel.get(func() *LabelRows { return sortByLabel(g.Edges.Label, len(g.EdgeLabels)) })
}

// sortByLabel is a counting sort in blocks. Each block of rows counts its labels. A sum over
// the blocks of each label gives the places. Each block then puts its rows there.
func sortByLabel(label []uint32, labels int) *LabelRows {
	labels++ // NoLabel, which is number 0 here
	r := &LabelRows{off: make([]uint64, labels+1), row: make([]uint32, len(label))}
	threads := threadCount(0)
	blocks := max(1, min(8*threads, len(label)/(16*labels)))
	each := (len(label) + blocks - 1) / blocks
	rows := func(b uint64) (lo, hi int) { return min(int(b)*each, len(label)), min(int(b+1)*each, len(label)) }
	at := make([][]uint64, blocks)
	_ = parallel(context.Background(), threads, uint64(blocks), 1, func(_ int, b, _ uint64) {
		n := make([]uint64, labels)
		lo, hi := rows(b)
		for _, l := range label[lo:hi] {
			n[l+1]++
		}
		at[b] = n
	})
	sum := uint64(0)
	for l := range labels {
		r.off[l] = sum
		for b := range at {
			at[b][l], sum = sum, sum+at[b][l]
		}
	}
	r.off[labels] = sum
	_ = parallel(context.Background(), threads, uint64(blocks), 1, func(_ int, b, _ uint64) {
		lo, hi := rows(b)
		for i := lo; i < hi; i++ {
			l := label[i] + 1
			r.row[at[b][l]] = uint32(i)
			at[b][l]++
		}
	})
	return r
}

// eachPair calls f with the ends of each of rows[lo:hi], except those that repeat the pair of the row before.
// Rows ascend by source and by target.
func (t *EdgeTable) eachPair(rows []uint32, lo, hi int, f func(u, v uint32)) {
	last, of := NoLabel, NoLabel // no vertex has this id
	if lo > 0 {
		last, of = t.Dst[rows[lo-1]], t.Src[rows[lo-1]]
	}
	for _, i := range rows[lo:hi] {
		if u, v := t.Src[i], t.Dst[i]; u != of || v != last {
			of, last = u, v
			f(u, v)
		}
	}
}

// rowsShare is how many rows are worth another worker.
const rowsShare = 1 << 13

// rowRelation returns adjacency over the edges of some rows, which ascend: EdgeRelation for few
// of them, by as many workers as they are worth, but at most threads.
func (g *Graph) rowRelation(rows []uint32, threads int) *Relation {
	t, n := g.Edges, g.NumVertices()
	threads = max(1, min(threads, len(rows)/rowsShare))
	each := func(f func(u, v uint32)) { // in order by one worker
		_ = parallel(context.Background(), threads, uint64(len(rows)), rowsShare/2, func(_ int, lo, hi uint64) { t.eachPair(rows, int(lo), int(hi), f) })
	}
	size := make([]uint32, n)
	back := size
	if g.Directed {
		back = make([]uint32, n)
	}
	each(func(u, v uint32) {
		atomic.AddUint32(&size[u], 1)
		atomic.AddUint32(&back[v], 1)
	})
	out := heapCSR(size)
	in := out
	if g.Directed {
		in = heapCSR(back)
	}
	each(func(u, v uint32) {
		out.put(u, v)
		in.put(v, u)
	})
	if threads > 1 { // rows ascend by source: one worker fills each list in order
		_ = out.sort(context.Background(), threads)
		if g.Directed {
			_ = in.sort(context.Background(), threads)
		}
	}
	return relation(out, in)
}

// sparseRelation is rowRelation in time and memory that do not grow with the graph.
func (g *Graph) sparseRelation(rows []uint32) *Relation {
	t, n := g.Edges, g.NumVertices()
	// Behind each other, the edges seen from their targets and those from their sources: sorted by
	// the vertex alone, each list comes out sorted, as sources are below targets where both meet.
	room := len(rows)
	if !g.Directed {
		room *= 2
	}
	pairs := make([]uint64, 0, room)
	t.eachPair(rows, 0, len(rows), func(u, v uint32) { pairs = append(pairs, uint64(v)<<32|uint64(u)) })
	tmp := make([]uint64, room)
	if g.Directed {
		in := sparsePairs(n, sortHigh(pairs, tmp, n))
		pairs = pairs[:0]
		t.eachPair(rows, 0, len(rows), func(u, v uint32) { pairs = append(pairs, uint64(u)<<32|uint64(v)) })
		return &Relation{Out: Lists{Sparse: sparsePairs(n, pairs)}, In: Lists{Sparse: in}}
	}
	t.eachPair(rows, 0, len(rows), func(u, v uint32) { pairs = append(pairs, uint64(u)<<32|uint64(v)) })
	both := Lists{Sparse: sparsePairs(n, sortHigh(pairs, tmp, n))}
	return &Relation{Out: both, In: both}
}

// sparsePairs makes lists of sorted pairs: the vertex above bit 32, its neighbour below.
func sparsePairs(n int, pairs []uint64) *Sparse {
	rows := 0
	for i, p := range pairs {
		if i == 0 || p>>32 != pairs[i-1]>>32 {
			rows++
		}
	}
	b := newSparse(n, rows)
	b.s.adj = make([]uint32, len(pairs))
	for i, p := range pairs {
		if i == 0 || p>>32 != pairs[i-1]>>32 {
			b.begin(uint32(p>>32), uint32(i))
		}
		b.s.adj[i] = uint32(p)
	}
	return b.end()
}

// sortHigh sorts pairs by their upper halves, which are below n, and keeps the order of others. The
// result is in the slice that it returns, pairs or tmp, which has at least the same length.
func sortHigh(pairs, tmp []uint64, n int) []uint64 {
	if len(pairs) < radixShort {
		slices.SortStableFunc(pairs, func(a, b uint64) int { return cmp.Compare(a>>32, b>>32) })
		return pairs
	}
	tmp = tmp[:len(pairs)]
	for shift := 32; shift < 32+bits.Len(uint(n)); shift += radixBits {
		var at [1 << radixBits]uint32
		for _, p := range pairs {
			at[p>>shift&(1<<radixBits-1)]++
		}
		sum := uint32(0)
		for i, c := range at {
			at[i], sum = sum, sum+c
		}
		for _, p := range pairs {
			d := &at[p>>shift&(1<<radixBits-1)]
			tmp[*d] = p
			*d++
		}
		pairs, tmp = tmp, pairs
	}
	return pairs
}
