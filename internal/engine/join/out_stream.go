package join

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/weftgraph/weft/internal/cuda/session"
)

// order sorts n items by the segments that concern them. of gives the segments of an item: from … to-1. Segment s
// has items order[starts[s]] … order[starts[s+1]-1].
func order(ctx context.Context, n, segments int, of func(k int) (from, to int)) (order []uint32, starts []int, err error) {
	parts := partsOf(n)
	counts := make([][]int, parts)
	type span struct{ from, to uint32 }
	spans := make([]span, n)
	err = parallel(ctx, n, func(p, lo, hi int) error {
		c := make([]int, segments)
		for k := lo; k < hi; k++ {
			from, to := of(k)
			spans[k] = span{uint32(from), uint32(to)}
			for ; from < to; from++ {
				c[from]++
			}
		}
		counts[p] = c
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	sum := 0
	for s := range segments {
		starts = append(starts, sum)
		for p := range parts {
			sum, counts[p][s] = sum+counts[p][s], sum
		}
	}
	starts = append(starts, sum)
	order = make([]uint32, sum)
	err = parallel(ctx, n, func(p, lo, hi int) error {
		c := counts[p]
		for k := lo; k < hi; k++ {
			for s := spans[k]; s.from < s.to; s.from++ {
				order[c[s.from]] = uint32(k)
				c[s.from]++
			}
		}
		return nil
	})
	return order, starts, err
}

// segmentKey names a segment to the feed.
type segmentKey struct {
	of      *relation
	segment int
}

// stream copies each segment of a relation that has items to the device, and calls use with the segment and its items. Those that
// are there already come first. The first segment of the relation that is read next is brought meanwhile, nil: it is not known.
func (t *outside) stream(rel, next *relation, items []uint32, starts []int, use func(segment int, lists deviceLists, items []uint32) error) error {
	var some []int
	for _, there := range []bool{true, false} {
		for s := range rel.segments {
			if starts[s] < starts[s+1] && t.feed.Has(segmentKey{rel, s}) == there {
				some = append(some, s)
			}
		}
	}
	piece := func(i int) session.Piece {
		return session.Piece{Key: segmentKey{rel, some[i]}, Bytes: rel.segments[some[i]].bytes, Fill: func(to []byte) error { return rel.fill(t.ctx(), some[i], to) }}
	}
	err := t.feed.Each(len(some), piece, func(i int, at uint64) error {
		s := some[i]
		t.line.poll = func() error { return errors.Join(t.feed.Poll(), t.tell(i+1, len(some))) }
		return use(s, rel.at(s, at), items[starts[s]:starts[s+1]])
	})
	if err == nil && !t.x.Stopped() {
		if next != nil && 2*len(some) >= len(rel.segments) { // where a pass reads few segments, the next may read others
			t.ahead(next)
		}
		err = t.line.drain()
	}
	if settled := t.line.settle(); err == nil { // the consumer uses what the caller has
		err = settled
	}
	return err
}

// ahead begins to bring the first segment of a relation that is not on the device, in the place of one of another relation.
func (t *outside) ahead(rel *relation) {
	for s := range rel.segments {
		if key := (segmentKey{rel, s}); !t.feed.Has(key) {
			t.feed.Ahead(session.Piece{Key: key, Bytes: rel.segments[s].bytes, Fill: func(to []byte) error { return rel.fill(t.ctx(), s, to) }},
				func(key any) bool { return key.(segmentKey).of == rel })
			return
		}
	}
}

// after is the relation whose segments are expected to be read after those of which edge e of a probe is looked for; -1: after
// candidates were made.
func (p *probe) after(e int) *relation {
	if e++; e < len(p.edges) {
		return p.edges[e].rel
	}
	return p.rel
}

// holds returns the segments that are on the device and have edges that kernels look for, and puts the edges, with columns as in
// the probe, into a kernel's argument. whole reports whether all segments that may decide are there.
func (t *outside) holds(edges []probeEdge, a *segmentArgs) (held []segmentHeld, whole bool) {
	held, whole = t.held[:0], true
	for i, e := range edges {
		at := segmentEdge{Column: uint32(e.column), Neg: number(e.neg)}
		if k := slices.IndexFunc(edges[:i], func(o probeEdge) bool { return o.rel == e.rel }); k >= 0 {
			at.Begin, at.End = a.Edge[k].Begin, a.Edge[k].End
		} else {
			begin := len(held)
			t.feed.Held(func(key any, address uint64) bool {
				if k := key.(segmentKey); k.of == e.rel {
					held = append(held, e.rel.heldAt(k.segment, address))
				}
				return true
			})
			slices.SortFunc(held[begin:], func(a, b segmentHeld) int { return cmp.Compare(a.From, b.From) })
			at.Begin, at.End = uint32(begin), uint32(len(held))
		}
		n := int(at.End - at.Begin)
		whole = whole && n > 0 && n == len(e.rel.segments)
		a.Edge[i] = at
	}
	a.Edges = uint32(len(edges))
	t.held = held
	return held, whole
}

// fusedSegments is for how many segments of a probe's edges one must be on the device for kernels to look for all edges at once. Rows
// with more columns are sent then, and fewer candidates come back.
const fusedSegments = 8

// fused is how many of a probe's edges kernels look for at once.
func (t *outside) fused(p *probe) int {
	total := 0
	for i, e := range p.edges {
		if !slices.ContainsFunc(p.edges[:i], func(o probeEdge) bool { return o.rel == e.rel }) {
			total += len(e.rel.segments)
		}
	}
	if total > fusedSegments*t.room.held {
		return 0
	}
	return min(len(p.edges), fusedEdges)
}

// send fills a sub-table with the columns of some rows of a block: row(k) is the k-th of n.
func (t *outside) send(s *subTable, held []segmentHeld, columns []int, b *rowBlock, n int, row func(k int) uint32) error {
	s.fill(held, len(columns), n)
	return parallel(t.ctx(), n, func(_, lo, hi int) error {
		t.columns(s, columns, b, n, lo, hi, row)
		return nil
	})
}

// columns fills the columns of rows lo … hi-1 of n of a sub-table.
func (t *outside) columns(s *subTable, columns []int, b *rowBlock, n, lo, hi int, row func(k int) uint32) {
	for c, level := range columns {
		from, to := b.cols[level], s.columns[c*n:][:n]
		for k := lo; k < hi; k++ {
			to[k] = from[row(k)]
		}
	}
}

// byList sorts rows of a block by the segments that have their lists.
func (t *outside) byList(p *probe, b *rowBlock, rows rowSet) (items []uint32, starts []int, err error) {
	column := p.first(b)
	return order(t.ctx(), rows.n, len(p.rel.segments), func(k int) (int, int) { return p.rel.holding(of(column, int(rows.at(k)))) })
}

// in gives the lists of a segment to a kernel.
func (p *probe) in(a segmentArgs, s int, lists deviceLists) segmentArgs {
	if a.Lists = lists; a.All != 0 {
		// The candidates are those of the segment.
		a.Lists.Adj, a.Lists.N = lists.Adj+entryBytes*p.rel.segments[s].begin, p.rel.length(s, 0)
	}
	return a
}

// size counts the candidates of a block's rows by the ends of their lists.
func (t *outside) size(p *probe, b *rowBlock, a segmentArgs, w *wanted) error {
	items, starts, err := t.byList(p, b, rowSet{n: b.rows})
	if err != nil {
		return err
	}
	return t.stream(p.rel, nil, items, starts, func(s int, lists deviceLists, items []uint32) error {
		a := p.in(a, s, lists)
		for len(items) > 0 && !t.x.Stopped() {
			sub, err := t.line.free()
			if err != nil {
				return err
			}
			n := min(len(items), t.room.subRows)
			mine := items[:n]
			if err := t.send(sub, nil, p.columns, b, n, func(k int) uint32 { return mine[k] }); err != nil {
				return err
			}
			a.Rows = uint32(n)
			err = t.line.launch(segmentSize, sub, a, uint64(n), func(h segmentHead) error {
				if w.n += h.Counted; w.how == countedEach {
					for k, size := range sub.out[:n] {
						w.each[mine[k]] += size
					}
					t.line.back += 4 * int64(n)
				}
				return nil
			})
			if err != nil {
				return err
			}
			items = items[n:]
		}
		return nil
	})
}

// making makes candidates: the entries in the lists of the vertices in a column that pass. The rows go to the device in sub-tables. Candidates
// that only count, and are known, are added to w.n. take gets the others, which are valid during the call. By rows, it gets the numbers of
// those that are known in place of vertices.
type making struct {
	*outside
	p      *probe
	b      *rowBlock
	rows   rowSet
	edges  []probeEdge // that kernels look for
	others uint32      // edges that they do not
	known  bool        // all edges are known of candidates that pass
	w      *wanted
	take   func(f found) error
	begins []uint32
	ends   func() bool // whether to end before the next sub-table; nil: never
}

// newMaking returns one for rows of a block, of which kernels look for a number of edges.
func (t *outside) newMaking(p *probe, b *rowBlock, rows rowSet, edges int, w *wanted, take func(f found) error) *making {
	m := &making{outside: t, p: p, b: b, rows: rows, edges: p.edges[:edges], w: w, take: take, begins: make([]uint32, t.room.subRows+1)}
	m.others = p.all() &^ (1<<edges - 1)
	return m
}

// make makes the candidates of the rows, segment by segment of their lists. long has the lengths of these by the row.
func (m *making) make(long []uint32) error {
	if err := m.feed.Poll(); err != nil {
		return err
	}
	items, starts, err := m.byList(m.p, m.b, m.rows)
	if err != nil {
		return err
	}
	column, rel := m.p.first(m.b), m.p.rel
	lengths := make([]uint32, len(items))
	return m.stream(rel, m.p.after(-1), items, starts, func(s int, lists deviceLists, items []uint32) error {
		length := lengths[:len(items)]
		err := parallel(m.ctx(), len(items), func(_, begin, end int) error {
			for k := begin; k < end; k++ {
				if len(rel.segments) == 1 {
					length[k] = long[m.rows.at(int(items[k]))]
					continue
				}
				length[k] = rel.length(s, of(column, int(m.rows.at(int(items[k])))))
			}
			return nil
		})
		if err != nil {
			return err
		}
		_, _, err = m.launch(items, length, 0, m.p.in(m.args(m.p, m.w.how), s, lists), nil)
		return err
	})
}

// launch makes the candidates of items, which are numbers of rows of the set, and of `length` elements each. The first item's candidates begin at
// `from`. outer says where among the segments that are held an item's list is; nil: the argument has the lists. It returns how many items are
// done, and where the next one's candidates begin.
func (m *making) launch(items, length []uint32, from uint32, a segmentArgs, outer func(held []segmentHeld, a *segmentArgs) ([]segmentHeld, func(k int) uint32)) (done int, next uint32, err error) {
	if m.others != 0 { // none is known to be a match
		a.How = listed
	}
	for done < len(items) && !m.x.Stopped() && (m.ends == nil || !m.ends()) {
		sub, err := m.line.free()
		if err != nil {
			return done, from, err
		}
		held, whole := m.holds(m.edges, &a)
		columns, place := len(m.p.columns), func(int) uint32 { return 0 }
		if outer != nil {
			held, place = outer(held, &a)
			columns++
			a.Outer = uint32(columns)
		}
		room := uint64(m.room.made)
		if m.w.how == counted && m.others == 0 && (whole || m.known) {
			room = 1 << 31
		}
		// The last item may go on in the next sub-table.
		n, sum, next := 0, uint64(0), uint32(0)
		for n < min(len(items)-done, m.room.subRows) && sum < room && next == 0 {
			m.begins[n] = uint32(sum)
			left := uint64(length[done+n])
			if n == 0 {
				left -= uint64(from)
			}
			if sum+left > room {
				next = length[done+n] - uint32(left-(room-sum))
				left = room - sum
			}
			sum += left
			n++
		}
		m.begins[n] = uint32(sum)
		mine := items[done : done+n]
		sub.fill(held, columns, n)
		err = parallel(m.ctx(), n, func(_, lo, hi int) error {
			m.columns(sub, m.p.columns, m.b, n, lo, hi, func(k int) uint32 { return m.rows.at(int(mine[k])) })
			for k := lo; k < hi && outer != nil; k++ {
				sub.columns[(columns-1)*n+k] = place(done + k)
			}
			return nil
		})
		if err != nil {
			return done, from, err
		}
		copy(sub.with, m.begins)
		a.Rows, a.From = uint32(n), from
		err = m.line.launch(segmentMake, sub, a, sum, func(h segmentHead) error {
			m.w.n += h.Counted
			made := int(h.Made)
			m.line.back += 8 * int64(made)
			f := m.scratch.first(made)
			err := parallel(m.ctx(), made, func(_, begin, end int) error {
				for k := begin; k < end; k++ {
					f.rows[k] = m.rows.at(int(mine[sub.row[k]&(1<<segmentRowBits-1)]))
					f.left[k] = sub.row[k]>>segmentRowBits | m.others
				}
				copy(f.vertices[begin:end], sub.out[begin:end])
				return nil
			})
			if err != nil || made == 0 {
				return err
			}
			return m.take(f)
		})
		if err != nil {
			return done, from, err
		}
		if from = next; next > 0 {
			n--
		}
		done += n
	}
	return done, from, nil
}

// dropped is the mask of a candidate that has failed.
const dropped = 1 << 31

// check looks for edge number e of the candidates of which it is not known, and for others whose segments are on the device. It
// hands over the candidates of which nothing is left to be looked for, and returns those of which something is.
func (t *outside) check(p *probe, b *rowBlock, f found, e int, w *wanted) (found, error) {
	if err := t.feed.Poll(); err != nil {
		return f, err
	}
	edge, bit := p.edges[e], uint32(1)<<e
	column := b.cols[p.columns[edge.column]]
	items, starts, err := order(t.ctx(), len(f.rows), len(edge.rel.segments), func(k int) (int, int) {
		v := column[f.rows[k]]
		if f.left[k]&bit == 0 || edge.rel.empty(v) {
			return 0, 0
		}
		s := edge.rel.owner(v, f.vertices[k])
		return s, s + 1
	})
	if err != nil {
		return f, err
	}
	// The edges that kernels look for, and the levels that these read.
	numbers, edges, columns := []int{e}, []probeEdge(nil), []int(nil)
	for k := e + 1; k < len(p.edges) && len(numbers) < t.fused(p); k++ {
		numbers = append(numbers, k)
	}
	for _, k := range numbers {
		o, level := p.edges[k], p.columns[p.edges[k].column]
		if o.column = slices.Index(columns, level); o.column < 0 {
			o.column = len(columns)
			columns = append(columns, level)
		}
		edges = append(edges, o)
	}
	err = t.stream(edge.rel, p.after(e), items, starts, func(_ int, _ deviceLists, items []uint32) error {
		a := segmentArgs{End: ^uint32(0)}
		for len(items) > 0 && !t.x.Stopped() {
			sub, err := t.line.free()
			if err != nil {
				return err
			}
			held, _ := t.holds(edges, &a)
			words := 1 + len(edges)
			n := min(len(items), t.room.subRows, t.room.made/words*32)
			mine := items[:n]
			if err := t.send(sub, held, columns, b, n, func(k int) uint32 { return f.rows[mine[k]] }); err != nil {
				return err
			}
			for k, item := range mine {
				sub.with[k] = f.vertices[item]
			}
			a.Rows = uint32(n)
			err = t.line.launch(segmentCheck, sub, a, uint64(n), func(segmentHead) error {
				t.line.back += 4 * int64((n+31)/32*words)
				return parallel(t.ctx(), n, func(_, begin, end int) error {
					for k := begin; k < end; k++ {
						item, out := mine[k], sub.out[k/32*words:][:words]
						at := uint32(1) << (k % 32)
						if out[0]&at == 0 {
							f.left[item] = dropped
							continue
						}
						for i, number := range numbers {
							if out[1+i]&at == 0 {
								f.left[item] &^= 1 << number
							}
						}
					}
					return nil
				})
			})
			if err != nil {
				return err
			}
			items = items[n:]
		}
		return nil
	})
	if err != nil || t.x.Stopped() {
		return f, err
	}
	return t.sieve(f, bit, edge.neg, w)
}
