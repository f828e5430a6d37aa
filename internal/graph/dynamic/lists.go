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

// head is what a vertex has of one direction: its distinct neighbours. If all its edges have one label, this
// is also the list of the label. Otherwise a directory has the other lists.
//
// The words are a slot, the list's length, and the label of all edges, or several | the directory's number.
type head [4]uint32

// A slot is the first two words of a list: the list itself, if it is short, or the offset of its run. Of a head the
// second word has the number of the vertex's marks + 1, or 0, too. So a head has a list of at most one element in its slot.
const (
	slotBits  = offBits + 1 - 32 // of an offset in the second word
	slotMask  = 1<<slotBits - 1
	maxMarks  = 1 << (32 - slotBits)
	inHead    = 1
	inEntry   = 2
	headLen   = 2
	headLabel = 3
)

func slotRun(w []uint32, n uint32) run { return run{uint64(w[0]) | uint64(w[1]&slotMask)<<32, n} }

func setSlot(w []uint32, off uint64) {
	w[0], w[1] = uint32(off), w[1]&^slotMask|uint32(off>>32)
}

func (h *head) marks() int     { return int(h[1]>>slotBits) - 1 }
func (h *head) setMarks(i int) { h[1] = h[1]&slotMask | uint32(i+1)<<slotBits }

// several reports whether the vertex has a directory.
func (h *head) several() bool { return h[headLabel]&several != 0 }

// side is the lists of a shard's vertices in one direction.
type side struct {
	a     *arena
	shift int                   // of ids, to the shard's pages
	pages table[[pageSize]head] // by id >> shift
	// dirs are directories: lists of entries of entrySize numbers, by ascending labels. They are never empty.
	dirs table[[pageSize]run]
	end  uint32 // the first directory never used
	idle uint32 // the first that is not in use + 1; its run's n is the next one
}

// An entry of a directory is a label, the length of its list, and a slot.
const entrySize = 4

func (s *side) dir(h *head) *run {
	i := h[headLabel] &^ several
	return &s.dirs.page(i >> pageBits)[i&pageMask]
}

// head returns v's head, or nil if v has none yet.
func (s *side) head(v uint32) *head {
	if p := s.pages.page(v >> s.shift); p != nil {
		return &p[v&pageMask]
	}
	return nil
}

// need returns v's head.
func (s *side) need(v uint32) *head { return &s.pages.need(v >> s.shift)[v&pageMask] }

// entries is the directory of h, if it has one.
func (s *side) entries(h *head) []uint32 {
	if !h.several() {
		return nil
	}
	return s.a.list(*s.dir(h))
}

// slotList is the list of n elements of a slot.
func (s *side) slotList(w []uint32, n, in uint32) []uint32 {
	if n <= in {
		return w[:n:n]
	}
	return s.a.list(slotRun(w, n))
}

// neighbours is the list of h.
func (s *side) neighbours(h *head) []uint32 { return s.slotList(h[:2], h[headLen], inHead) }

// flipSlot turns neighbours in the list of n elements of v's slot round, and returns its new length.
func (s *side) flipSlot(v uint32, w []uint32, n, in uint32, flips []uint32) uint32 {
	if n > in {
		r := s.a.flip(v, slotRun(w, n), flips)
		if r.n > in {
			setSlot(w, r.off)
			return r.n
		}
		copy(w[:in], s.a.list(r))
		s.a.release(r)
		return r.n
	}
	l := flipped(s.a.merged[:0], w[:n], flips)
	s.a.merged = l
	s.setList(v, w, in, l)
	return uint32(len(l))
}

// setList makes l the list of a slot that has no run.
func (s *side) setList(v uint32, w []uint32, in uint32, l []uint32) {
	if len(l) <= int(in) {
		copy(w, l)
		return
	}
	if in == inEntry {
		w[1] = 0
	}
	setSlot(w, s.a.store(v, l).off)
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
func (s *side) entryList(e []uint32) []uint32 { return s.slotList(e[2:4], e[1], inEntry) }

// list returns the settled neighbours of v along edges with a label.
func (s *side) list(v uint32, label Label) []uint32 {
	h := s.head(v)
	switch {
	case h == nil || h[headLen] == 0:
		return nil
	case label == AnyLabel || h[headLabel] == label:
		return s.neighbours(h)
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
	if !h.several() {
		if h[headLen] == 0 && len(by) > 0 {
			h[headLabel] = by[0].label
		}
		if len(by) == 1 && h[headLabel] == by[0].label && slices.Equal(by[0].flips, all) {
			h[headLen] = s.flipSlot(v, h[:2], h[headLen], inHead, all)
			return
		}
		s.split(v, h)
	}
	for _, x := range by {
		s.flipEntry(v, h, x.label, x.flips)
	}
	if len(all) > 0 {
		h[headLen] = s.flipSlot(v, h[:2], h[headLen], inHead, all)
	}
	s.join(h)
}

// spot is where an entry is, or belongs, in the list of a vertex whose edges all have one label.
type spot struct {
	h     *head
	at    int
	found bool
}

// spot finds the entry w of v's list, if all of v's edges have the label then, also with one more.
func (s *side) spot(v, w uint32, label Label) (x spot, ok bool) {
	h := s.need(v)
	if h[headLen] == 0 && !h.several() {
		return spot{h: h}, true
	}
	if h[headLabel] != label {
		return spot{}, false
	}
	x.h = h
	x.at, x.found = search(s.neighbours(h), w)
	return x, true
}

// turn turns the entry w of v's lists round, whose spot is x.
func (s *side) turn(x spot, v, w uint32, label Label) {
	h, n := x.h, x.h[headLen]
	r := slotRun(h[:2], n)
	switch {
	case n == 0:
		h[0], h[headLen], h[headLabel] = w, 1, label
		return
	case n == inHead && x.found:
		h[headLen] = 0
		return
	case n == inHead:
		pair := [2]uint32{min(h[0], w), max(h[0], w)}
		r = s.a.store(v, pair[:])
	case n == inHead+1 && x.found:
		h[0], h[headLen] = s.a.list(r)[1-x.at], inHead
		s.a.release(r)
		return
	case x.found:
		r = s.a.delete(v, r, x.at)
	default:
		r = s.a.insert(v, r, x.at, w)
	}
	setSlot(h[:2], r.off)
	h[headLen] = r.n
}

// split gives h a directory, with its list as that of its label.
func (s *side) split(v uint32, h *head) {
	label := h[headLabel]
	s.splitInto(h)
	if h[headLen] > 0 {
		s.insertEntry(v, h, 0, label)
		s.setEntry(v, h, 0, s.neighbours(h))
	}
}

// splitInto gives h an empty directory.
func (s *side) splitInto(h *head) {
	i := s.idle - 1
	if s.idle == 0 {
		i = s.end
		s.end++
		s.dirs.need(i >> pageBits)
	}
	h[headLabel] = several | i
	if r := s.dir(h); s.idle != 0 {
		s.idle = r.n
		*r = run{}
	}
}

// insertEntry adds an entry with an empty list at a place of h's directory.
func (s *side) insertEntry(v uint32, h *head, at int, label Label) {
	r := s.dir(h)
	*r = s.a.resize(v, *r, r.n+entrySize)
	d := s.a.list(*r)
	copy(d[at+entrySize:], d[at:])
	d[at], d[at+1], d[at+2], d[at+3] = label, 0, 0, 0
}

// setEntry makes l the list of an entry that has none.
func (s *side) setEntry(v uint32, h *head, at int, l []uint32) {
	e := s.entries(h)[at : at+entrySize]
	s.setList(v, e[2:], inEntry, l)
	e[1] = uint32(len(l))
}

// flipEntry changes the list of a label in h's directory.
func (s *side) flipEntry(v uint32, h *head, label Label, flips []uint32) {
	at, ok := findEntry(s.entries(h), label)
	if !ok {
		s.insertEntry(v, h, at, label)
	}
	e := s.entries(h)[at : at+entrySize]
	if e[1] = s.flipSlot(v, e[2:], e[1], inEntry, flips); e[1] == 0 {
		r := s.dir(h)
		d := s.a.list(*r)
		copy(d[at:], d[at+entrySize:])
		*r = s.a.resize(v, *r, r.n-entrySize)
	}
}

// join removes h's directory if all edges have one label.
func (s *side) join(h *head) {
	d := s.entries(h)
	if len(d) > entrySize {
		return
	}
	label := NoLabel
	if len(d) > 0 {
		label = d[0]
		if d[1] > inEntry {
			s.a.release(slotRun(d[2:], d[1]))
		}
	}
	r := s.dir(h)
	s.a.release(*r)
	*r = run{n: s.idle}
	s.idle = h[headLabel]&^several + 1
	h[headLabel] = label
}

// labels appends the settled labels of v's edges, ascending.
func (s *side) labels(v uint32, to []Label) []Label {
	h := s.head(v)
	if h == nil || h[headLen] == 0 {
		return to
	}
	if !h.several() {
		return append(to, h[headLabel])
	}
	for d := s.entries(h); len(d) > 0; d = d[entrySize:] {
		to = append(to, d[0])
	}
	return to
}

// relocate moves the list of v, its directory, or a list of it, that has the block at an offset, if it is of this side.
func (s *side) relocate(v uint32, off uint64) (size uint32, ok bool) {
	h := s.head(v)
	if h == nil {
		return 0, false
	}
	slot := func(w []uint32, n, in uint32) bool {
		if n <= in {
			return false
		}
		r := slotRun(w, n)
		if r.off&^wide != off {
			return false
		}
		size = r.size()
		setSlot(w, s.a.move(v, r).off)
		return true
	}
	if slot(h[:2], h[headLen], inHead) {
		return size, true
	}
	if !h.several() {
		return 0, false
	}
	if r := s.dir(h); r.off&^wide == off {
		size = r.size()
		*r = s.a.move(v, *r)
		return size, true
	}
	for d := s.entries(h); len(d) > 0; d = d[entrySize:] {
		s.a.work++
		if slot(d[2:4], d[1], inEntry) {
			return size, true
		}
	}
	return 0, false
}

func (s *side) bytes() uint64 { return s.pages.bytes() + s.dirs.bytes() }
