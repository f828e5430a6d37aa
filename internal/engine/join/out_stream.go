package join

import (
	"context"
	"errors"
	"math/bits"
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

// stream copies each segment of a relation that has items to the device, and calls use with the segment and its items.
func (t *outside) stream(rel *relation, items []uint32, starts []int, use func(segment int, lists deviceLists, items []uint32) error) error {
	var some []int
	for s := range rel.segments {
		if starts[s] < starts[s+1] {
			some = append(some, s)
		}
	}
	type key struct {
		of      *relation
		segment int
	}
	piece := func(i int) session.Piece {
		return session.Piece{Key: key{rel, some[i]}, Bytes: rel.segments[some[i]].bytes, Fill: func(to []byte) error { return rel.fill(t.ctx(), some[i], to) }}
	}
	err := t.feed.Each(len(some), piece, func(i int, at uint64) error {
		s := some[i]
		t.line.poll = func() error { return errors.Join(t.feed.Poll(), t.tell(i+1, len(some))) }
		return use(s, rel.at(s, at), items[starts[s]:starts[s+1]])
	})
	if err == nil && !t.x.Stopped() {
		err = t.line.drain()
	}
	return err
}

// make generates the candidates of rows lo … hi-1 of a block: the entries in the lists of the vertices in a column. The rows go to
// the device in sub-tables. If counted is given, make calls it with the number of each sub-table's candidates. Otherwise it calls
// take with the candidates, which are valid during the call.
func (t *outside) make(rel *relation, column []uint32, lo, hi int, a segmentArgs, counted func(made uint64) error, take func(f found) error) error {
	vertex := func(k uint32) uint32 {
		if column == nil {
			return 0
		}
		return column[lo+int(k)]
	}
	items, starts, err := order(t.ctx(), hi-lo, len(rel.segments), func(k int) (int, int) { return rel.of(vertex(uint32(k))) })
	if err != nil {
		return err
	}
	kernel, room := segmentMake, uint64(t.line.room())
	if counted != nil {
		kernel, room = segmentSize, 1<<31
	}
	lengths := make([]uint32, len(items))
	return t.stream(rel, items, starts, func(s int, lists deviceLists, items []uint32) error {
		length := lengths[:len(items)]
		err := parallel(t.ctx(), len(items), func(_, lo, hi int) error {
			for k := lo; k < hi; k++ {
				length[k] = rel.length(s, vertex(items[k]))
			}
			return nil
		})
		if err != nil {
			return err
		}
		a := a
		a.Lists = lists
		if a.All != 0 {
			// The candidates are those of the segment.
			a.Lists.Adj, a.Lists.N = lists.Adj+entryBytes*rel.segments[s].begin, rel.length(s, 0)
		}
		from := uint32(0) // in the list of the first item
		for len(items) > 0 && !t.x.Stopped() {
			sub, err := t.line.free()
			if err != nil {
				return err
			}
			// The last item may go on in the next sub-table.
			n, sum, next := 0, uint64(0), uint32(0)
			for n < min(len(items), t.line.rows) && sum < room && next == 0 {
				sub.with[n] = uint32(sum)
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
			sub.with[n] = uint32(sum)
			mine := items[:n]
			if err := parallel(t.ctx(), n, func(_, lo, hi int) error {
				for k := lo; k < hi; k++ {
					sub.at[k] = vertex(mine[k])
				}
				return nil
			}); err != nil {
				return err
			}
			a.Rows, a.From = uint32(n), from
			took := counted
			if counted == nil {
				took = func(made uint64) error {
					f := found{t.scratch.rows[:made], t.scratch.vertices[:made]} // take copies what it keeps
					err := parallel(t.ctx(), int(made), func(_, begin, end int) error {
						for k := begin; k < end; k++ {
							f.rows[k] = uint32(lo) + mine[sub.row[k]]
						}
						copy(f.vertices[begin:end], sub.out[begin:end])
						return nil
					})
					if err != nil || made == 0 {
						return err
					}
					return take(f)
				}
			}
			if err := t.line.launch(kernel, sub, a, n, n+1, sum, took); err != nil {
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

// owned sorts candidates by the segment that says whether the candidate is in the list of a vertex in its row. It leaves out
// candidates whose vertex has no list.
func (t *outside) owned(rel *relation, column []uint32, f found) (items []uint32, starts []int, err error) {
	return order(t.ctx(), len(f.rows), len(rel.segments), func(k int) (int, int) {
		s := rel.owner(column[f.rows[k]], f.vertices[k])
		return max(s, 0), s + 1
	})
}

// checks copies the segments that have the candidates' lists to the device, and runs a kernel over the candidates of each.
func (t *outside) checks(kernel string, rel *relation, column []uint32, f found, neg bool, took func(s *subTable, items []uint32, made uint64) error) error {
	items, starts, err := t.owned(rel, column, f)
	if err != nil {
		return err
	}
	return t.stream(rel, items, starts, func(_ int, lists deviceLists, items []uint32) error {
		a := segmentArgs{Lists: lists, End: ^uint32(0), Neg: number(neg)}
		for len(items) > 0 && !t.x.Stopped() {
			sub, err := t.line.free()
			if err != nil {
				return err
			}
			n := min(len(items), t.line.rows)
			mine := items[:n]
			if err := parallel(t.ctx(), n, func(_, lo, hi int) error {
				for k := lo; k < hi; k++ {
					sub.at[k], sub.with[k] = column[f.rows[mine[k]]], f.vertices[mine[k]]
				}
				return nil
			}); err != nil {
				return err
			}
			a.Rows = uint32(n)
			if err := t.line.launch(kernel, sub, a, n, n, uint64(n), func(made uint64) error { return took(sub, mine, made) }); err != nil {
				return err
			}
			items = items[n:]
		}
		return nil
	})
}

// listless returns the candidates whose vertex in a column has no neighbours: an edge to it is missing.
func (t *outside) listless(rel *relation, column []uint32, f found) (out found) {
	for k, r := range f.rows {
		if v := column[r]; rel.off[v] == rel.off[v+1] {
			out.rows, out.vertices = append(out.rows, r), append(out.vertices, f.vertices[k])
		}
	}
	return out
}

// check returns the candidates that are in the list of a vertex in their row, or with neg are not.
func (t *outside) check(rel *relation, column []uint32, f found, neg bool) (out found, err error) {
	if neg {
		out = t.listless(rel, column, f)
	}
	err = t.checks(segmentCheck, rel, column, f, neg, func(s *subTable, items []uint32, made uint64) error {
		at := len(out.rows)
		out.rows, out.vertices = slices.Grow(out.rows, int(made))[:at+int(made)], slices.Grow(out.vertices, int(made))[:at+int(made)]
		for w, word := range s.out[:(len(items)+31)/32] {
			for ; word != 0; word &= word - 1 {
				k := items[32*w+bits.TrailingZeros32(word)]
				out.rows[at], out.vertices[at] = f.rows[k], f.vertices[k]
				at++
			}
		}
		return nil
	})
	return out, err
}

// hits is how many candidates check would return.
func (t *outside) hits(rel *relation, column []uint32, f found, neg bool) (n uint64, err error) {
	if neg {
		n = uint64(len(t.listless(rel, column, f).rows))
	}
	err = t.checks(segmentHits, rel, column, f, neg, func(_ *subTable, _ []uint32, made uint64) error {
		n += made
		return nil
	})
	return n, err
}
