package join

import (
	"context"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/kir"
)

// relation is one of a plan's relations as out-of-core joins see it: its edges in the order of their first vertex and
// of their second, cut into segments with about the same number of bytes (SGSI, section 6.1). A long list lies in
// several segments, one behind the other.
type relation struct {
	off      []uint64 // list v is entries off[v] … off[v+1]-1
	adj      []uint32 // the entries; nil: list gives them
	list     func(v uint32) []uint32
	kind     uint32 // layout of a segment
	size     int64  // see bytes; 0: not worked out yet
	of       kir.Identity
	segments []segment
}

// segment is a run of entries.
type segment struct {
	begin, end     uint64 // entries
	pair           uint64 // the vertex of the first entry and the entry, as pairOf does; 0 of the first segment
	first, last    uint32 // the vertices of the first entry and of the last
	vertices, runs int    // that have entries, and runs of consecutive ids of them
	bytes          int64  // on a device
}

// Bytes of a segment on a device: of each entry, and of what finds a vertex's list. A hashed PCSR has as many groups as
// vertices.
const (
	entryBytes    = 4
	csrBytes      = 8
	hashedBytes   = 8 * layout.GroupPairs
	intervalBytes = 3 * 4
	// indexSlack is for offsets and alignment, once a segment.
	indexSlack = 512
)

// newRelation returns a relation of a plan's lists, not cut yet.
func newRelation(h *graph.Handle, part layout.Partition) *relation {
	r := &relation{kind: layoutCSR}
	n := h.NumVertices()
	switch part.(type) {
	case nil:
		run := h.Flat()
		r.off, r.adj = run.Off, run.Adj
		r.list = func(v uint32) []uint32 { return r.adj[r.off[v]:r.off[v+1]] }
		with := 0
		for v := range n {
			if r.off[v] < r.off[v+1] {
				with++
			}
		}
		if 4*intervalBytes*with < 3*csrBytes*n { // offsets of all vertices would take longer to copy
			r.kind = layoutInterval
		}
		return r
	case *layout.Interval:
		r.kind = layoutInterval
	default:
		r.kind = layoutHashed
	}
	r.list, r.off = part.List, make([]uint64, n+1)
	for v := range uint32(n) {
		r.off[v+1] = r.off[v] + uint64(len(part.List(v)))
	}
	return r
}

// index is the bytes that a vertex with n entries takes in the index of a segment.
func (r *relation) index(n uint64) int64 {
	switch {
	case r.kind == layoutCSR:
		return csrBytes
	case n == 0:
		return 0
	case r.kind == layoutHashed:
		return hashedBytes
	}
	return intervalBytes
}

// bytes is what the relation takes on a device as one segment.
func (r *relation) bytes() int64 {
	if r.size > 0 {
		return r.size
	}
	sum := int64(entryBytes*r.off[len(r.off)-1]) + indexSlack
	if r.kind == layoutCSR {
		sum += csrBytes * int64(len(r.off)-1)
	} else {
		for v := range len(r.off) - 1 {
			sum += r.index(r.off[v+1] - r.off[v])
		}
	}
	r.size = sum
	return sum
}

// pieces is about how many segments of at most room bytes the relation has.
func (r *relation) pieces(room int64) int {
	room -= indexSlack
	return int(max((r.bytes()-indexSlack+room-1)/room, 1))
}

// leastSegment is the fewest bytes that segments may be asked to have.
const leastSegment = indexSlack + 1024

// cut cuts the relation into segments of at most room bytes each, and of about the same size: as few as possible, but at least so many.
func (r *relation) cut(room int64, least int) { r.segments = r.pieced(room, least) }

// pieced returns the segments that cut makes.
func (r *relation) pieced(room int64, least int) (all []segment) {
	pieces := max(int64(r.pieces(room)), int64(least))
	room -= indexSlack
	total := r.bytes() - indexSlack
	// A segment ends with the entry that reaches its share. So it may be longer by a vertex's index and an entry.
	share := min((total+pieces-1)/pieces, room-2*(entryBytes+max(csrBytes, r.index(1))))
	s := segment{}
	used, before := int64(0), uint32(0)
	flush := func(end uint64, last uint32) {
		if end > s.begin {
			s.end, s.last = end, last
			if s.begin > 0 {
				s.pair = pairOf(s.first, r.list(s.first)[s.begin-r.off[s.first]])
			}
			s.bytes = entryBytes * int64(end-s.begin)
			switch r.kind {
			case layoutCSR:
				s.bytes += csrBytes * int64(last-s.first+2)
			case layoutHashed:
				s.bytes += hashedBytes * int64(s.vertices)
			case layoutInterval:
				s.bytes += 4 * int64(2*s.runs+1+s.vertices+1)
			}
			all = append(all, s)
			s, used = segment{begin: end}, 0
		}
	}
	n := uint32(len(r.off) - 1)
	for v := range n {
		at, end := r.off[v], r.off[v+1]
		if at == end && s.begin < at { // inside a segment
			if used += r.index(0); used >= share {
				flush(at, v)
			}
		}
		for at < end {
			if at == s.begin {
				s.first = v
			}
			if s.vertices == 0 || v != before+1 {
				s.runs++
			}
			s.vertices++
			before = v
			used += r.index(end - at)
			take := min(end-at, uint64(max(share-used+entryBytes-1, entryBytes))/entryBytes)
			at += take
			if used += entryBytes * int64(take); used >= share {
				flush(at, v)
			}
		}
	}
	if n > 0 {
		flush(r.off[n], n-1)
	}
	return all
}

// holding returns the segments that have entries of v's list: from … to-1.
func (r *relation) holding(v uint32) (from, to int) {
	return r.between(r.off[v], r.off[v+1])
}

// between returns the segments that have any of entries at … end-1.
func (r *relation) between(at, end uint64) (from, to int) {
	if at == end {
		return 0, 0
	}
	if len(r.segments) == 1 {
		return 0, 1
	}
	for n := len(r.segments); n > 1; { // the last one that does not begin behind at
		half := n / 2
		if r.segments[from+half].begin <= at {
			from += half
		}
		n -= half
	}
	to = from + 1
	for to < len(r.segments) && r.segments[to].begin < end {
		to++
	}
	return from, to
}

// pairOf is a vertex and a neighbour as one number, by which the entries of a relation ascend.
func pairOf(v, x uint32) uint64 { return uint64(v)<<32 | uint64(x) }

// owner returns the segment that says whether x is in v's list: the last one that does not begin behind the pair. Device twin:
// segment_passes.
func (r *relation) owner(v, x uint32) int {
	pair, from := pairOf(v, x), 0
	for n := len(r.segments); n > 1; {
		half := n / 2
		if r.segments[from+half].pair <= pair {
			from += half
		}
		n -= half
	}
	return from
}

// empty reports whether v has no list.
func (r *relation) empty(v uint32) bool { return r.off[v] == r.off[v+1] }

// length is how many entries of v's list segment i has.
func (r *relation) length(i int, v uint32) uint32 {
	s := &r.segments[i]
	return uint32(min(r.off[v+1], s.end) - max(r.off[v], s.begin))
}

// piece is what segment i has of v's list.
func (r *relation) piece(i int, v uint32) []uint32 {
	s := &r.segments[i]
	at, end := max(r.off[v], s.begin), min(r.off[v+1], s.end)
	if at >= end {
		return nil
	}
	return r.list(v)[at-r.off[v] : end-r.off[v]]
}

// fill writes segment i as it will lie on a device; at says where its arrays are.
func (r *relation) fill(ctx context.Context, i int, to []byte) error {
	s := &r.segments[i]
	switch r.kind {
	case layoutCSR:
		index := r.off[s.first : int(s.last)+2]
		copy(to, raw(index))
		// The segment's first list and its last may have a part elsewhere.
		words := view[uint64](to, len(index))
		words[0], words[len(words)-1] = s.begin, s.end
		to = to[csrBytes*len(index):]
		if r.adj == nil {
			break
		}
	case layoutHashed:
		h, err := layout.NewHashed(ctx, r.lists(i), 1, 1)
		if err != nil {
			return err
		}
		copy(to[copy(to, raw(h.Groups)):], raw(h.Adj))
		return nil
	case layoutInterval:
		words := view[uint32](to, 2*s.runs+1+s.vertices+1)
		first, row, place := words[:s.runs], words[s.runs:2*s.runs+1], words[2*s.runs+1:]
		run, vertex := -1, 0
		for v := s.first; ; v++ {
			if at, end := max(r.off[v], s.begin), min(r.off[v+1], s.end); at < end {
				if vertex == 0 || v != first[run]+uint32(vertex)-row[run] {
					run++
					first[run], row[run] = v, uint32(vertex)
				}
				place[vertex] = uint32(at - s.begin)
				vertex++
			}
			if v == s.last {
				break
			}
		}
		row[s.runs], place[s.vertices] = uint32(s.vertices), uint32(s.end-s.begin)
		to = to[4*len(words):]
	}
	if r.adj != nil {
		return parallel(ctx, int(s.end-s.begin), func(_, lo, hi int) error {
			copy(to[entryBytes*lo:], raw(r.adj[s.begin+uint64(lo):s.begin+uint64(hi)]))
			return nil
		})
	}
	for v := s.first; ; v++ {
		to = to[copy(to, raw(r.piece(i, v))):]
		if v == s.last {
			return nil
		}
	}
}

// at says where the arrays of segment i are, which begins at an address.
func (r *relation) at(i int, address uint64) deviceLists {
	s := &r.segments[i]
	switch r.kind {
	case layoutCSR:
		index := uint64(csrBytes * (int64(s.last) - int64(s.first) + 2))
		return deviceLists{Kind: layoutCSR, N: uint32(len(r.off) - 1), Off: address - csrBytes*uint64(s.first), Adj: address + index - entryBytes*s.begin}
	case layoutHashed:
		return deviceLists{Kind: layoutHashed, N: uint32(s.vertices), Groups: address, Adj: address + uint64(hashedBytes*s.vertices)}
	}
	row := address + 4*uint64(s.runs)
	place := row + 4*uint64(s.runs+1)
	return deviceLists{Kind: layoutInterval, N: uint32(s.runs), First: address, Row: row, Place: place, Adj: place + 4*uint64(s.vertices+1)}
}

// lists are the vertices of segment i with their entries there.
func (r *relation) lists(i int) *layout.Lists {
	s := &r.segments[i]
	l := &layout.Lists{Off: []uint32{0}}
	for v := s.first; ; v++ {
		if list := r.piece(i, v); len(list) > 0 {
			l.Vertices = append(l.Vertices, v)
			l.Adj = append(l.Adj, list...)
			l.Off = append(l.Off, uint32(len(l.Adj)))
		}
		if v == s.last {
			return l
		}
	}
}
