package graph

import "context"

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

// rowRelation returns adjacency over the edges of some rows, which ascend: EdgeRelation for few
// of them. Rows ascend by source, so that each list comes out sorted.
func (g *Graph) rowRelation(rows []uint32) *Relation {
	t, n := g.Edges, g.NumVertices()
	// each calls f with the ends of each row that does not repeat the pair of the one before.
	each := func(f func(u, v uint32)) {
		last, of := NoLabel, NoLabel // no vertex has this id
		for _, i := range rows {
			if u, v := t.Src[i], t.Dst[i]; u != of || v != last {
				of, last = u, v
				f(u, v)
			}
		}
	}
	size := make([]uint32, n)
	back := size
	if g.Directed {
		back = make([]uint32, n)
	}
	each(func(u, v uint32) {
		size[u]++
		back[v]++
	})
	r := &Relation{Out: heapCSR(size)}
	in := &r.Out
	if g.Directed {
		r.In = heapCSR(back)
		in = &r.In
	}
	each(func(u, v uint32) {
		r.Out.put(u, v)
		in.put(v, u)
	})
	if !g.Directed {
		r.In = r.Out
	}
	return r
}
