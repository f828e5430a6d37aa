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
	err = parallel(ctx, n, func(p, lo, hi int) error {
		c := make([]int, segments)
		for k := lo; k < hi; k++ {
			for from, to := of(k); from < to; from++ {
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
			for from, to := of(k); from < to; from++ {
				order[c[from]] = uint32(k)
				c[from]++
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
					s := &e.rel.segments[k.segment]
					h := segmentHeld{From: s.pair, To: ^uint64(0), Lists: e.rel.at(k.segment, address), First: s.first, Last: s.last}
					if next := k.segment + 1; next < len(e.rel.segments) {
						h.To = e.rel.segments[next].pair
					}
					held = append(held, h)
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
		for c, level := range columns {
			from, to := b.cols[level], s.columns[c*n:][:n]
			for k := lo; k < hi; k++ {
				to[k] = from[row(k)]
			}
		}
		return nil
	})
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

// size counts the candidates of rows lo … hi-1 of a block by the ends of their lists.
func (t *outside) size(p *probe, b *rowBlock, lo, hi int, a segmentArgs, w *wanted) error {
	items, starts, err := t.byList(p, b, rowSet{lo: lo, n: hi - lo})
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
			if err := t.send(sub, nil, p.columns, b, n, func(k int) uint32 { return uint32(lo) + mine[k] }); err != nil {
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

// make generates the candidates of rows of a block: the entries in the lists of the vertices in a column that pass. The rows go to
// the device in sub-tables. Candidates that only count, and are known, are added to w.n. take gets the others, which are
// valid during the call. By rows, it gets the numbers of those that are known in place of vertices.
func (t *outside) make(p *probe, b *rowBlock, rows rowSet, a segmentArgs, w *wanted, take func(f found) error) error {
	if err := t.feed.Poll(); err != nil {
		return err
	}
	items, starts, err := t.byList(p, b, rows)
	if err != nil {
		return err
	}
	column := p.first(b)
	edges := p.edges[:t.fused(p)]
	others := p.all() &^ (1<<len(edges) - 1)
	if others != 0 { // none is known to be a match
		a.How = listed
	}
	lengths, begins := make([]uint32, len(items)), make([]uint32, t.room.subRows+1)
	return t.stream(p.rel, p.after(-1), items, starts, func(s int, lists deviceLists, items []uint32) error {
		length := lengths[:len(items)]
		err := parallel(t.ctx(), len(items), func(_, begin, end int) error {
			for k := begin; k < end; k++ {
				length[k] = p.rel.length(s, of(column, int(rows.at(int(items[k])))))
			}
			return nil
		})
		if err != nil {
			return err
		}
		a := p.in(a, s, lists)
		from := uint32(0) // in the list of the first item
		for len(items) > 0 && !t.x.Stopped() {
			sub, err := t.line.free()
			if err != nil {
				return err
			}
			held, whole := t.holds(edges, &a)
			room := uint64(t.room.made)
			if w.how == counted && whole && others == 0 {
				room = 1 << 31
			}
			// The last item may go on in the next sub-table.
			n, sum, next := 0, uint64(0), uint32(0)
			for n < min(len(items), t.room.subRows) && sum < room && next == 0 {
				begins[n] = uint32(sum)
				left := uint64(length[n])
				if n == 0 {
					left -= uint64(from)
				}
				if sum+left > room {
					next = length[n] - uint32(left-(room-sum))
					left = room - sum
				}
				sum += left
				n++
			}
			begins[n] = uint32(sum)
			mine := items[:n]
			if err := t.send(sub, held, p.columns, b, n, func(k int) uint32 { return rows.at(int(mine[k])) }); err != nil {
				return err
			}
			copy(sub.with, begins)
			a.Rows, a.From = uint32(n), from
			err = t.line.launch(segmentMake, sub, a, sum, func(h segmentHead) error {
				w.n += h.Counted
				made := int(h.Made)
				t.line.back += 8 * int64(made)
				f := t.scratch.first(made)
				err := parallel(t.ctx(), made, func(_, begin, end int) error {
					for k := begin; k < end; k++ {
						f.rows[k] = rows.at(int(mine[sub.row[k]&(1<<segmentRowBits-1)]))
						f.left[k] = sub.row[k]>>segmentRowBits | others
					}
					copy(f.vertices[begin:end], sub.out[begin:end])
					return nil
				})
				if err != nil || made == 0 {
					return err
				}
				return take(f)
			})
			if err != nil {
				return err
			}
			if from = next; next > 0 {
				n--
			}
			items, length = items[n:], length[n:]
		}
		return nil
	})
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
				for k, item := range mine {
					out := sub.out[k/32*words:][:words]
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
				t.line.back += 4 * int64((n+31)/32*words)
				return nil
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
	n, known := 0, found{}
	for k, left := range f.left {
		if left&bit != 0 && left != dropped { // its vertex has no list
			if left &^= bit; !edge.neg {
				left = dropped
			}
			f.left[k] = left
		}
		switch left {
		case dropped:
		case 0:
			known.add(f.rows[k], f.vertices[k], 0)
		default:
			f.move(n, k)
			n++
		}
	}
	return f.first(n), w.take(known)
}
