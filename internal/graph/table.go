package graph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
)

// edgeRow is an input edge of a source in internal ids; on an undirected graph
// the source is the smaller end.
type edgeRow struct {
	v    uint32
	row  uint32 // place in the input
	back uint32 // 1: it was given as v→u
}

// table makes the edge table: rows sorted by source, target, label, time and
// input order, equal rows merged.
func (b *builderState) table(ctx context.Context, threads int, g *Graph, place []uint32) error {
	var total uint64
	for _, r := range b.edges {
		total += uint64(len(r.ends.p))
	}
	if total > math.MaxUint32-1 {
		return fmt.Errorf("%w: %d edge rows", ErrTooLarge, total)
	}
	var label []uint32
	var time []int64
	names, lplace := labelOrder(&b.labels)
	if len(names) > 0 {
		g.EdgeLabels = names
		label = make([]uint32, 0, total)
		for _, r := range b.edges {
			for _, x := range r.label {
				if x != NoLabel {
					x = lplace[x]
				}
				label = append(label, x)
			}
		}
	}
	if b.shape.time {
		for _, r := range b.edges {
			time = append(time, r.time...)
		}
	}
	props, err := concatRecords(edgeProps(b.edges))
	if err != nil {
		return err
	}
	rows, off, err := b.rowsBySource(ctx, threads, g, place)
	defer freeBig(&rows)
	if err != nil {
		return err
	}
	key := func(x, y edgeRow) int {
		c := cmp.Compare(x.v, y.v)
		if c == 0 && label != nil {
			c = cmp.Compare(label[x.row]+1, label[y.row]+1) // no label first
		}
		if c == 0 && time != nil {
			c = cmp.Compare(time[x.row], time[y.row])
		}
		return c
	}
	order := func(x, y edgeRow) int { return cmp.Or(key(x, y), cmp.Compare(x.row, y.row)) }
	size := makeBig[uint64](uint64(len(off)))
	counts := make([]rowCounts, threads)
	value := make([]func(uint32) string, threads)
	for w := range value {
		value[w] = rowKeys(props)
	}
	err = overVertices(ctx, threads, off, func(w int, lo, hi uint32) {
		for u := lo; u < hi; u++ {
			l := rows[off[u]:off[u+1]]
			slices.SortFunc(l, order)
			size[u+1] = uint64(keepRows(l, func(x, y edgeRow) bool { return key(x, y) == 0 }, value[w], b.o.KeepDuplicates, &counts[w]))
		}
	})
	if err != nil {
		return err
	}
	for _, c := range counts {
		g.Read.Duplicates += c.duplicates
		g.Read.Reciprocal += c.reciprocal
	}
	for u := 1; u < len(size); u++ {
		size[u] += size[u-1]
	}
	kept := size[len(size)-1]
	g.Read.Kept += kept
	pairs := uint64(len(g.Out.Adj))
	if !g.Directed {
		pairs /= 2
	}
	if label == nil && time == nil && props == nil && kept == pairs {
		// A label column without a label: as if it were not there.
		freeBig(&size)
		return nil
	}
	t := &EdgeTable{Off: size, Dst: makeBig[uint32](kept), Src: makeBig[uint32](kept)}
	if label != nil {
		t.Label = makeBig[uint32](kept)
	}
	if time != nil {
		t.Time = makeBig[int64](kept)
	}
	take := makeTemp[uint32](kept)
	defer freeBig(&take)
	err = overVertices(ctx, threads, t.Off, func(_ int, lo, hi uint32) {
		for u := lo; u < hi; u++ {
			for i, at := off[u], t.Off[u]; at < t.Off[u+1]; i, at = i+1, at+1 {
				r := rows[i]
				t.Src[at], t.Dst[at], take[at] = u, r.v, r.row
				if label != nil {
					t.Label[at] = label[r.row]
				}
				if time != nil {
					t.Time[at] = time[r.row]
				}
			}
		}
	})
	g.Edges = t // so that Close frees it
	if err != nil {
		return err
	}
	t.Props, err = takeRecord(props, take)
	return err
}

// rowsBySource returns all input edges except self-loops, grouped by source, or by the smaller
// end in an undirected graph. The edges of u are off[u] … off[u+1].
func (b *builderState) rowsBySource(ctx context.Context, threads int, g *Graph, place []uint32) ([]edgeRow, []uint64, error) {
	off := make([]uint64, g.NumVertices()+1)
	first := make([]uint32, len(b.edges))
	at := uint32(0)
	for i, r := range b.edges {
		first[i] = at
		at += uint32(len(r.ends.p))
	}
	each := func(f func(e edgeRow, u uint32)) error {
		return parallel(ctx, threads, uint64(len(b.edges)), 1, func(_ int, i, _ uint64) {
			for j, p := range b.edges[i].ends.p {
				u, v := place[p>>32], place[uint32(p)]
				if u == v {
					continue
				}
				e := edgeRow{v: v, row: first[i] + uint32(j)}
				if !g.Directed && u > v {
					u, e.v, e.back = v, u, 1
				}
				f(e, u)
			}
		})
	}
	if err := each(func(_ edgeRow, u uint32) { atomic.AddUint64(&off[u+1], 1) }); err != nil {
		return nil, nil, err
	}
	sum := uint64(0)
	for u := 1; u < len(off); u++ {
		off[u], sum = sum, sum+off[u]
	}
	rows := makeTemp[edgeRow](sum)
	err := each(func(e edgeRow, u uint32) { rows[atomic.AddUint64(&off[u+1], 1)-1] = e })
	return rows, off, err
}

type rowCounts struct{ duplicates, reciprocal uint64 }

// keepRows drops rows that repeat an earlier row of the same group, and counts the dropped
// rows. same says which neighbouring rows in the sorted order form a group, and value which
// other parts must be equal. With all, it keeps a repetition that is given in the same
// direction. It works in place and returns the number of kept rows.
func keepRows(rows []edgeRow, same func(x, y edgeRow) bool, value func(row uint32) string, all bool, n *rowCounts) int {
	out := rows[:0]
	type seen struct{ fwd, back uint64 }
	for i := 0; i < len(rows); {
		j := i + 1
		for j < len(rows) && same(rows[i], rows[j]) {
			j++
		}
		group := rows[i:j]
		i = j
		if len(group) == 1 {
			out = append(out, group[0])
			continue
		}
		m := map[string]*seen{}
		valueOf := func(r edgeRow) string {
			if value == nil {
				return ""
			}
			return value(r.row)
		}
		for _, r := range group {
			k := valueOf(r)
			s := m[k]
			if s == nil {
				s = &seen{}
				m[k] = s
				if !all {
					out = append(out, r)
				}
			}
			if r.back == 1 {
				s.back++
			} else {
				s.fwd++
			}
		}
		for _, s := range m {
			if all {
				n.reciprocal += min(s.fwd, s.back)
				continue
			}
			ways := min(s.fwd, 1) + min(s.back, 1)
			n.duplicates += s.fwd + s.back - ways
			n.reciprocal += ways - 1
		}
		if all {
			for _, r := range group {
				if s := m[valueOf(r)]; (r.back == 1) == (s.back > s.fwd) {
					out = append(out, r)
				}
			}
		}
	}
	return len(out)
}
