package join

import (
	"errors"
	"slices"
	"sort"

	"github.com/weftgraph/weft/internal/cuda/session"
)

// candidateBytes is what a candidate takes on its way to the host and back, if its next edge is looked for in another pass: its row, its vertex
// and a column.
const candidateBytes = 20

// paysNested reports whether rows are searched by nested. Without it, each segment is copied once, but each candidate goes to the host and back to
// the device. auto takes the one that moves fewer bytes.
func (t *outside) paysNested(p *probe, rows rowSet, lengths []uint32) (bool, error) {
	if t.nest == "off" || p.Free() || len(p.edges) == 0 || t.room.held < 3 {
		return false, nil
	}
	edge := p.edges[p.inner()].rel
	if len(p.rel.segments) == 0 || len(edge.segments) == 0 {
		return false, nil
	}
	if t.nest == "on" {
		return true, nil
	}
	relations, segments := []*relation{p.rel}, len(p.rel.segments)
	for _, e := range p.edges {
		if !slices.Contains(relations, e.rel) {
			relations = append(relations, e.rel)
			segments += len(e.rel.segments)
		}
	}
	if segments <= t.room.held { // all are on the device
		return false, nil
	}
	sums := make([]uint64, partsOf(rows.n))
	err := parallel(t.ctx(), rows.n, func(k, lo, hi int) error {
		for i := lo; i < hi; i++ {
			sums[k] += uint64(lengths[rows.at(i)])
		}
		return nil
	})
	candidates := uint64(0)
	for _, n := range sums {
		candidates += n
	}
	groups := (len(p.rel.segments) + t.outer() - 1) / t.outer()
	return uint64(groups-1)*uint64(edge.bytes()) < candidateBytes*candidates, err
}

// outer is how many segments stay on the device while others pass by. Of these one is read, and one is on the bus.
func (t *outside) outer() int { return t.room.held - 2 }

// inner is the edge whose segments pass by: the first that must be there, among those that kernels look for.
func (p *probe) inner() int {
	return max(0, slices.IndexFunc(p.edges[:min(len(p.edges), fusedEdges)], func(e probeEdge) bool { return !e.neg }))
}

// nested makes the candidates of rows as a nested loop over segments does: some segments of their lists stay on the device while all segments
// of an edge pass by, and so on. A row goes with each segment that may have the edge; kernels drop the candidates whose pair another segment
// owns. So no candidate goes to the host before this edge is known, and counts of candidates without further edges stay on the device.
func (s *finding) nested(p *probe, rows rowSet, take func(f found) error) error {
	items, starts, err := s.byList(p, s.b, rows)
	if err != nil {
		return err
	}
	e := p.inner()
	m := s.newMaking(p, s.b, rowSet{n: s.b.rows}, max(s.fused(p), e+1), s.w, take)
	m.known = len(p.edges) == 1
	m.ends = func() bool { return s.wait.Load() >= int64(s.list) }
	for first := 0; first < len(p.rel.segments) && !s.x.Stopped(); first += s.outer() {
		n := &nest{finding: s, m: m, e: e, first: first, last: min(first+s.outer(), len(p.rel.segments))}
		n.starts = starts[n.first : n.last+1]
		mine := items[n.starts[0]:n.starts[len(n.starts)-1]]
		if len(mine) == 0 {
			continue
		}
		if err := n.sort(rows, mine); err != nil {
			return err
		}
		if err := n.pass(); err != nil {
			return err
		}
		s.passes++
	}
	return nil
}

// nest is one pass of the segments of an edge by segments that stay.
type nest struct {
	*finding
	m           *making
	e           int   // the edge
	first, last int   // segments first … last-1 of the lists stay
	starts      []int // items of each of these, and the end

	// By segments of the edge: rows, the segments of their lists, and the lengths of these there. A row that several segments concern is there
	// as often. Those of segment i are from begins[i] on.
	row, segment, length []uint32
	begins               []int
}

// sort sorts the pass's items by the segments of the edge.
func (n *nest) sort(rows rowSet, items []uint32) error {
	edge, lists := n.m.edges[n.e], n.m.p.rel
	column, from := n.m.p.first(n.b), n.b.cols[n.m.p.columns[edge.column]]
	order, begins, err := order(n.ctx(), len(items), len(edge.rel.segments), func(k int) (int, int) {
		u := from[rows.at(int(items[k]))]
		if !edge.neg {
			return edge.rel.holding(u)
		}
		return edge.rel.owner(u, 0), edge.rel.owner(u, ^uint32(0)) + 1
	})
	if err != nil {
		return err
	}
	n.row, n.segment, n.length, n.begins = order, make([]uint32, len(order)), make([]uint32, len(order)), begins
	return parallel(n.ctx(), len(order), func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			k := int(order[i])
			at := n.starts[0] + k
			s := n.first + sort.Search(n.last-n.first-1, func(s int) bool { return n.starts[s+1] > at })
			r := rows.at(int(items[k]))
			n.row[i], n.segment[i], n.length[i] = r, uint32(s), lists.length(s, column[r])
		}
		return nil
	})
}

// pass brings the segments that stay and then those of the edge. If too many candidates wait whose further edges are not known, it looks for
// these, and goes on where it was.
func (n *nest) pass() error {
	lists, edge := n.m.p.rel, n.m.edges[n.e].rel
	var stay, by []segmentKey
	for k := range n.last - n.first {
		if n.starts[k] < n.starts[k+1] {
			stay = append(stay, segmentKey{lists, n.first + k})
		}
	}
	for _, there := range []bool{true, false} {
		for s := range edge.segments {
			key := segmentKey{edge, s}
			if n.begins[s] < n.begins[s+1] && (n.feed.Has(key) || slices.Contains(stay, key)) == there {
				by = append(by, key)
			}
		}
	}
	at, done, from := 0, 0, uint32(0) // in `by`, and in the items of that segment
	for at < len(by) && !n.x.Stopped() {
		// Those that stay are wanted again at the end, so that no other takes their place.
		keys := slices.Concat(stay, by[at:], stay)
		piece := func(i int) session.Piece {
			key := keys[i]
			return session.Piece{Key: key, Bytes: key.of.segments[key.segment].bytes, Fill: func(to []byte) error { return key.of.fill(n.ctx(), key.segment, to) }}
		}
		err := n.feed.Each(len(keys), piece, func(i int, _ uint64) error {
			if i < len(stay) || at == len(by) {
				return nil
			}
			n.line.poll = func() error { return errors.Join(n.feed.Poll(), n.tell(at+1, len(by))) }
			s := by[at].segment
			begin, end := n.begins[s]+done, n.begins[s+1]
			a := n.args(n.m.p, n.w.how)
			a.Own, a.OwnFrom, a.OwnTo = uint32(n.e+1), edge.segments[s].pair, edge.until(s)
			k, next, err := n.m.launch(n.row[begin:end], n.length[begin:end], from, a, func(held []segmentHeld, a *segmentArgs) ([]segmentHeld, func(k int) uint32) {
				held, place := n.stays(held, a)
				return held, func(k int) uint32 { return place[n.segment[begin+k]-uint32(n.first)] }
			})
			if err != nil {
				return err
			}
			if done, from = done+k, next; begin+k < end {
				return session.ErrEnough
			}
			at, done = at+1, 0
			return nil
		})
		if err == nil && !n.x.Stopped() {
			err = n.line.drain()
		}
		if settled := n.line.settle(); err == nil {
			err = settled
		}
		if err == nil && at < len(by) && !n.x.Stopped() {
			n.breaks++
			err = n.checks()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stays adds the segments that stay to those that are held, and returns where each of them is.
func (n *nest) stays(held []segmentHeld, a *segmentArgs) ([]segmentHeld, []uint32) {
	lists, place := n.m.p.rel, make([]uint32, n.last-n.first)
	if k := slices.IndexFunc(n.m.edges, func(e probeEdge) bool { return e.rel == lists }); k >= 0 { // they are there
		for i := a.Edge[k].Begin; i < a.Edge[k].End; i++ {
			if s := lists.beginning(held[i].From); s >= n.first && s < n.last {
				place[s-n.first] = i
			}
		}
		return held, place
	}
	n.feed.Held(func(key any, address uint64) bool {
		if k := key.(segmentKey); k.of == lists && k.segment >= n.first && k.segment < n.last {
			place[k.segment-n.first] = uint32(len(held))
			held = append(held, lists.heldAt(k.segment, address))
		}
		return true
	})
	n.held = held
	return held, place
}

// until is the pair before which segment i decides.
func (r *relation) until(i int) uint64 {
	if i+1 < len(r.segments) {
		return r.segments[i+1].pair
	}
	return ^uint64(0)
}

// beginning is the segment that begins with a pair.
func (r *relation) beginning(pair uint64) int {
	return sort.Search(len(r.segments), func(i int) bool { return r.segments[i].pair >= pair })
}

// heldAt is segment i for kernels, at an address.
func (r *relation) heldAt(i int, address uint64) segmentHeld {
	s := &r.segments[i]
	return segmentHeld{From: s.pair, To: r.until(i), Lists: r.at(i, address), First: s.first, Last: s.last}
}
