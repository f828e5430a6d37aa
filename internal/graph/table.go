package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// edgeRow is an input edge in internal ids, u < v on an undirected graph.
type edgeRow struct {
	u, v uint32
	row  uint32 // place in the input
	back bool   // it was given as v→u
}

// table makes the edge table: rows sorted by source, target, label, time and
// input order, equal rows merged.
func (b *builderState) table(g *Graph, place []uint32) error {
	var total uint64
	for _, r := range b.edges {
		total += uint64(len(r.src))
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
	n := g.NumVertices()
	rows := make([]edgeRow, 0, total)
	at := uint32(0)
	for _, r := range b.edges {
		for i := range r.src {
			u, v := place[r.src[i]], place[r.dst[i]]
			if u != v {
				e := edgeRow{u, v, at, false}
				if !g.Directed && u > v {
					e = edgeRow{v, u, at, true}
				}
				rows = append(rows, e)
			}
			at++
		}
	}
	if label == nil && time == nil && props == nil {
		// A label column without a label: as if it were not there.
		slices.SortFunc(rows, func(x, y edgeRow) int { return cmp.Or(cmp.Compare(x.u, y.u), cmp.Compare(x.v, y.v)) })
		b.keep(g, rows, func(x, y edgeRow) bool { return x.u == y.u && x.v == y.v }, nil)
		return nil
	}
	key := func(x, y edgeRow) int {
		c := cmp.Or(cmp.Compare(x.u, y.u), cmp.Compare(x.v, y.v))
		if c == 0 && label != nil {
			c = cmp.Compare(label[x.row]+1, label[y.row]+1) // no label first
		}
		if c == 0 && time != nil {
			c = cmp.Compare(time[x.row], time[y.row])
		}
		return c
	}
	slices.SortFunc(rows, func(x, y edgeRow) int { return cmp.Or(key(x, y), cmp.Compare(x.row, y.row)) })
	kept := b.keep(g, rows, func(x, y edgeRow) bool { return key(x, y) == 0 }, rowKeys(props))
	t := &EdgeTable{Off: make([]uint64, n+1), Dst: make([]uint32, len(kept)), Src: make([]uint32, len(kept))}
	if label != nil {
		t.Label = make([]uint32, len(kept))
	}
	if time != nil {
		t.Time = make([]int64, len(kept))
	}
	take := make([]uint32, len(kept))
	for i, r := range kept {
		t.Src[i], t.Dst[i], take[i] = r.u, r.v, r.row
		t.Off[r.u+1]++
		if label != nil {
			t.Label[i] = label[r.row]
		}
		if time != nil {
			t.Time[i] = time[r.row]
		}
	}
	for v := range n {
		t.Off[v+1] += t.Off[v]
	}
	if t.Props, err = takeRecord(props, take); err != nil {
		return err
	}
	g.Edges = t
	return nil
}

// keep drops rows that repeat one before them in the same group (same says
// which neighbours in the sorted order are of one group, value what else must
// be equal) and counts what it drops. It works in place.
func (b *builderState) keep(g *Graph, rows []edgeRow, same func(x, y edgeRow) bool, value func(row uint32) string) []edgeRow {
	out := rows[:0]
	type seen struct{ fwd, back bool }
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
		for _, r := range group {
			k := ""
			if value != nil {
				k = value(r.row)
			}
			s := m[k]
			if s == nil {
				m[k] = &seen{fwd: !r.back, back: r.back}
				out = append(out, r)
				continue
			}
			if was := s.fwd && !r.back || s.back && r.back; was {
				g.Read.Duplicates++
			} else {
				g.Read.Reciprocal++
			}
			s.fwd, s.back = s.fwd || !r.back, s.back || r.back
		}
	}
	g.Read.Kept += uint64(len(out))
	return out
}
