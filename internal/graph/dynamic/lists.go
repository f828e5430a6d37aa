package dynamic

import "slices"

// Label is an edge label, numbered by EdgeLabel.
type Label = uint32

// Labels of edges that have no name.
const (
	NoLabel  Label = 0         // edges without a label
	AnyLabel       = ^Label(0) // all edges; each neighbour once
	// exists is the label of the mark that a vertex's existence changes.
	exists = AnyLabel - 1
	// several marks, in a head, a directory instead of a label.
	several = uint32(1) << 31
)

// head is what a vertex has of one direction. The list at off has its distinct neighbours. If all its edges have one label, this
// is also the list of the label. Otherwise a directory has the other lists.
type head struct {
	at    uint64 // the offset of the list, and over it the number of the vertex's marks + 1, or 0
	n     uint32
	label uint32 // the label of all edges, or several | the directory's number
}

const maxMarks = 1 << (64 - offBits)

func (h *head) run() run       { return run{h.at & offMask, h.n} }
func (h *head) setRun(r run)   { h.at, h.n = h.at&^offMask|r.off, r.n }
func (h *head) marks() int     { return int(h.at>>offBits) - 1 }
func (h *head) setMarks(i int) { h.at = h.at&offMask | uint64(i+1)<<offBits }

// side is the lists of all vertices in one direction.
type side struct {
	a     *arena
	pages []*[pageSize]head
	made  int
	// dirs are directories: lists of entries of entrySize numbers, by ascending labels. They are never empty.
	dirs []run
	idle []uint32
}

// An entry of a directory is a label, the length of its list, and the list itself, if it has at most two elements, or its offset.
const entrySize = 4

func entryRun(e []uint32) run { return run{uint64(e[2]) | uint64(e[3])<<32, e[1]} }

// head returns v's head, or nil if v has none yet.
func (s *side) head(v uint32) *head {
	if p := int(v >> pageBits); p < len(s.pages) && s.pages[p] != nil {
		return &s.pages[p][v&pageMask]
	}
	return nil
}

// need returns v's head.
func (s *side) need(v uint32) *head {
	p := int(v >> pageBits)
	if p >= len(s.pages) {
		s.pages = append(s.pages, make([]*[pageSize]head, p+1-len(s.pages))...)
	}
	if s.pages[p] == nil {
		s.pages[p] = new([pageSize]head)
		s.made++
	}
	return &s.pages[p][v&pageMask]
}

// entries is the directory of h, if it has one.
func (s *side) entries(h *head) []uint32 {
	if h.label&several == 0 {
		return nil
	}
	return s.a.list(s.dirs[h.label&^several])
}

// findEntry returns the place of a label in a directory, and whether it is there.
func findEntry(d []uint32, label Label) (int, bool) {
	lo, hi := 0, len(d)/entrySize
	for lo < hi {
		mid := (lo + hi) / 2
		if d[mid*entrySize] < label {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo * entrySize, lo*entrySize < len(d) && d[lo*entrySize] == label
}

// entryList is the list of an entry.
func (s *side) entryList(e []uint32) []uint32 {
	if n := e[1]; n <= 2 {
		return e[2 : 2+n : 2+n]
	}
	return s.a.list(entryRun(e))
}

// list returns the settled neighbours of v along edges with a label.
func (s *side) list(v uint32, label Label) []uint32 {
	h := s.head(v)
	switch {
	case h == nil || h.n == 0:
		return nil
	case label == AnyLabel || h.label == label:
		return s.a.list(h.run())
	}
	d := s.entries(h)
	if i, ok := findEntry(d, label); ok {
		return s.entryList(d[i : i+entrySize])
	}
	return nil
}

// labelFlips are the neighbours that the list of a label gains or loses, ascending.
type labelFlips struct {
	label Label
	flips []uint32
}

// flip changes v's lists: by are the changes by label, and all those of the list of all labels.
func (s *side) flip(v uint32, by []labelFlips, all []uint32) {
	h := s.need(v)
	if h.label&several == 0 {
		if h.n == 0 && len(by) > 0 {
			h.label = by[0].label
		}
		if len(by) == 1 && h.label == by[0].label && slices.Equal(by[0].flips, all) {
			h.setRun(s.a.flip(h.run(), all))
			return
		}
		s.split(h)
	}
	for _, x := range by {
		s.flipEntry(h, x.label, x.flips)
	}
	if len(all) > 0 {
		h.setRun(s.a.flip(h.run(), all))
	}
	s.join(h)
}

// split gives h a directory, with its list as that of its label.
func (s *side) split(h *head) {
	label := h.label
	s.splitInto(h)
	if h.n > 0 {
		s.insertEntry(h, 0, label)
		s.setEntry(h, 0, s.a.list(h.run()))
	}
}

// splitInto gives h an empty directory.
func (s *side) splitInto(h *head) {
	var i uint32
	if k := len(s.idle); k > 0 {
		i = s.idle[k-1]
		s.idle = s.idle[:k-1]
	} else {
		i = uint32(len(s.dirs))
		s.dirs = append(s.dirs, run{})
	}
	h.label = several | i
}

// insertEntry adds an entry with an empty list at a place of h's directory.
func (s *side) insertEntry(h *head, at int, label Label) {
	r := &s.dirs[h.label&^several]
	*r = s.a.resize(*r, r.n+entrySize)
	d := s.a.list(*r)
	copy(d[at+entrySize:], d[at:])
	d[at], d[at+1], d[at+2], d[at+3] = label, 0, 0, 0
}

// setEntry makes l the list of an entry that has none.
func (s *side) setEntry(h *head, at int, l []uint32) {
	if len(l) > 2 {
		r := s.a.store(l)
		e := s.entries(h)[at:]
		e[1], e[2], e[3] = r.n, uint32(r.off), uint32(r.off>>32)
		return
	}
	e := s.entries(h)[at:]
	e[1] = uint32(len(l))
	copy(e[2:4], l)
}

// flipEntry changes the list of a label in h's directory.
func (s *side) flipEntry(h *head, label Label, flips []uint32) {
	at, ok := findEntry(s.entries(h), label)
	if !ok {
		s.insertEntry(h, at, label)
	}
	e := s.entries(h)[at : at+entrySize]
	if e[1] > 2 {
		r := s.a.flip(entryRun(e), flips)
		if e[1], e[2], e[3] = r.n, uint32(r.off), uint32(r.off>>32); r.n <= 2 {
			var two [2]uint32
			copy(two[:], s.a.list(r))
			s.a.release(r)
			e[2], e[3] = two[0], two[1]
		}
	} else {
		l := append(s.a.merged[:0], e[2:2+e[1]]...)
		for _, x := range flips {
			if i, found := slices.BinarySearch(l, x); found {
				l = slices.Delete(l, i, i+1)
			} else {
				l = slices.Insert(l, i, x)
			}
		}
		s.a.merged = l
		s.setEntry(h, at, l)
	}
	if e = s.entries(h)[at : at+entrySize]; e[1] == 0 {
		r := &s.dirs[h.label&^several]
		d := s.a.list(*r)
		copy(d[at:], d[at+entrySize:])
		*r = s.a.resize(*r, r.n-entrySize)
	}
}

// join removes h's directory if all edges have one label.
func (s *side) join(h *head) {
	i := h.label &^ several
	d := s.entries(h)
	if len(d) > entrySize {
		return
	}
	h.label = NoLabel
	if len(d) > 0 {
		h.label = d[0]
		if d[1] > 2 {
			s.a.release(entryRun(d))
		}
	}
	s.a.release(s.dirs[i])
	s.dirs[i] = run{}
	s.idle = append(s.idle, i)
}

// labels appends the settled labels of v's edges, ascending.
func (s *side) labels(v uint32, to []Label) []Label {
	h := s.head(v)
	if h == nil || h.n == 0 {
		return to
	}
	if h.label&several == 0 {
		return append(to, h.label)
	}
	for d := s.entries(h); len(d) > 0; d = d[entrySize:] {
		to = append(to, d[0])
	}
	return to
}

// moveOut moves all blocks out of some chunks.
func (s *side) moveOut(from []bool) {
	for _, p := range s.pages {
		if p == nil {
			continue
		}
		for i := range p {
			h := &p[i]
			if h.n == 0 {
				continue
			}
			h.setRun(s.a.move(h.run(), from))
			if h.label&several == 0 {
				continue
			}
			r := &s.dirs[h.label&^several]
			*r = s.a.move(*r, from)
			for d := s.a.list(*r); len(d) > 0; d = d[entrySize:] {
				if d[1] > 2 {
					to := s.a.move(entryRun(d), from)
					d[2], d[3] = uint32(to.off), uint32(to.off>>32)
				}
			}
		}
	}
}

func (s *side) bytes() uint64 {
	return 8*uint64(cap(s.pages)) + uint64(s.made)*pageSize*16 + 16*uint64(cap(s.dirs)) + 4*uint64(cap(s.idle))
}
