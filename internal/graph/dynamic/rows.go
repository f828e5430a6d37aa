package dynamic

import (
	"cmp"
	"math"
	"slices"
)

// EdgeID is the number of an edge of a version. An edge keeps its number while it exists; afterwards, and after the window, another
// edge may get it.
type EdgeID uint32

// NoEdge is the number of an edge that has neither a time nor properties.
const NoEdge = ^EdgeID(0)

// row is an edge with a time or properties. u < v on an undirected graph.
type row struct {
	time int64
	u, v uint32
	// label has touched too.
	label uint32
	next  uint32 // the reference behind this row in its chain, or the next free row + 1
}

// touched marks a row that was made or removed in the window.
const touched = uint32(1) << 31

func (r *row) edgeLabel() Label { return r.label &^ touched }

// span is when a row exists: at the versions of the window from born on, before died.
type span struct{ born, died uint32 }

var always = span{0, math.MaxUint32}

// group is several rows with equal ends and label: a list of n rows, sorted by time and number.
type group struct {
	slot [2]uint32
	n    uint32
	live uint32 // how many exist in the present version
	next uint32
}

const inGroup = 2 // the most rows of a group that are in its slot

const (
	rowPage   = 128
	groupPage = 32
	// isGroup marks references to groups. A reference is a number + 1.
	isGroup = uint32(1) << 31
	maxRows = uint32(1)<<31 - 2
)

// rows are the edges with times or properties. An index finds those between two vertices with a label: one row, or a group.
type rows struct {
	pages     table[[rowPage]row]
	end, free uint32 // the first number never used; the first free row + 1
	n         uint32 // rows in use
	index     buckets
	groups    table[[groupPage]group]
	groupEnd  uint32
	groupFree uint32 // the first free group + 1
	lists     arena
	tags      map[uint32]span // of touched rows
	dead      []uint32        // rows that go with the window, or with the update
	directed  bool
	calendar  *calendar // nil: nobody asks for edges by time
	nextOfRow func(uint32) (*uint32, uint32)
}

func (x *rows) init(directed bool) {
	x.directed = directed
	x.tags = map[uint32]span{}
	x.lists.init(x.relocate)
	x.nextOfRow = func(ref uint32) (*uint32, uint32) {
		r, next := x.element(ref)
		return next, hashEdge(r.u, r.v, r.edgeLabel())
	}
}

func (x *rows) row(r uint32) *row { return &x.pages.page(r / rowPage)[r%rowPage] }

func (x *rows) group(ref uint32) *group {
	i := ref&^isGroup - 1
	return &x.groups.page(i / groupPage)[i%groupPage]
}

// element returns a row of what ref refers to, and the place of the reference behind it.
func (x *rows) element(ref uint32) (r *row, next *uint32) {
	if ref&isGroup != 0 {
		g := x.group(ref)
		return x.row(x.members(g)[0]), &g.next
	}
	r = x.row(ref - 1)
	return r, &r.next
}

func hashEdge(u, v uint32, label Label) uint32 {
	h := (uint64(u)<<32 | uint64(v)) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h = (h + uint64(label)) * 0xbf58476d1ce4e5b9
	return uint32(h >> 32)
}

// ends are the ends of an edge as its row has them.
func (x *rows) ends(u, v uint32) (uint32, uint32) {
	if !x.directed && u > v {
		return v, u
	}
	return u, v
}

// link returns the place of the reference to the rows between two vertices with a label, which is 0 if there are none.
func (x *rows) link(u, v uint32, label Label) *uint32 {
	if x.index.n == 0 {
		return new(uint32)
	}
	u, v = x.ends(u, v)
	l := x.index.head(hashEdge(u, v, label))
	for *l != 0 {
		r, next := x.element(*l)
		if r.u == u && r.v == v && r.edgeLabel() == label {
			break
		}
		l = next
	}
	return l
}

// span is when row r exists.
func (x *rows) span(r uint32) span {
	if x.row(r).label&touched == 0 {
		return always
	}
	return x.tags[r]
}

// present reports whether row r exists in the present version.
func (x *rows) present(r uint32) bool { return x.span(r).died == math.MaxUint32 }

// between appends to to the rows that *link refers to.
func (x *rows) between(ref uint32, to []uint32) []uint32 {
	switch {
	case ref == 0:
		return to
	case ref&isGroup != 0:
		return append(to, x.members(x.group(ref))...)
	}
	return append(to, ref-1)
}

// find returns the row of the present version with some ends, label and time.
func (x *rows) find(u, v uint32, label Label, time int64) (r uint32, ok bool) {
	ref := *x.link(u, v, label)
	switch {
	case ref == 0:
		return 0, false
	case ref&isGroup == 0:
		return ref - 1, x.row(ref-1).time == time && x.present(ref-1)
	}
	l := x.members(x.group(ref))
	for i := x.place(l, time, 0); i < len(l) && x.row(l[i]).time == time; i++ {
		if x.present(l[i]) {
			return l[i], true
		}
	}
	return 0, false
}

// place is where the row r with a time is, or belongs, in a list sorted by time and number.
func (x *rows) place(l []uint32, time int64, r uint32) int {
	if n := len(l); n > 0 && x.before(l[n-1], time, r) { // most rows are the latest
		return n
	}
	i, _ := slices.BinarySearchFunc(l, r, func(y, r uint32) int {
		return cmp.Or(cmp.Compare(x.row(y).time, time), cmp.Compare(y, r))
	})
	return i
}

func (x *rows) before(y uint32, time int64, r uint32) bool {
	t := x.row(y).time
	return t < time || t == time && y < r
}

// add makes a row. born is its first version in the window; 0 means that there is no window. first reports whether the present version
// had no row with its ends and label before.
func (x *rows) add(u, v uint32, label Label, time int64, born uint32) (r uint32, first bool) {
	u, v = x.ends(u, v)
	r = x.free - 1
	if x.free != 0 {
		x.free = x.row(r).next
	} else {
		r = x.end
		x.end++
	}
	x.n++
	x.pages.need(r / rowPage)[r%rowPage] = row{time: time, u: u, v: v, label: label}
	if born > 0 {
		x.row(r).label |= touched
		x.tags[r] = span{born, math.MaxUint32}
	}
	if x.calendar != nil {
		x.calendar.add(r)
	}
	return r, x.insert(r)
}

// insert adds a row to the index, and returns what add returns.
func (x *rows) insert(r uint32) (first bool) {
	row := x.row(r)
	l := x.link(row.u, row.v, row.edgeLabel())
	switch ref := *l; {
	case ref == 0:
		x.index.grow(x.nextOfRow)
		l = x.index.head(hashEdge(row.u, row.v, row.edgeLabel()))
		row.next, *l = *l, r+1
		return true
	case ref&isGroup == 0:
		i := x.groupFree - 1
		if x.groupFree != 0 {
			x.groupFree = x.group(x.groupFree).next
		} else {
			i = x.groupEnd
			x.groupEnd++
		}
		g := &x.groups.need(i / groupPage)[i%groupPage]
		old := x.row(ref - 1)
		*g = group{slot: [2]uint32{ref - 1}, n: 1, live: 1, next: old.next}
		if !x.present(ref - 1) {
			g.live = 0
		}
		old.next = 0
		*l = i + 1 | isGroup
		x.join(i, g, r)
		return g.live == 1
	default:
		x.join(ref&^isGroup-1, x.group(ref), r)
		return x.group(ref).live == 1
	}
}

// members are the rows of a group.
func (x *rows) members(g *group) []uint32 {
	if g.n <= inGroup {
		return g.slot[:g.n:g.n]
	}
	return x.lists.list(slotRun(g.slot[:], g.n))
}

// join adds a present row to group i.
func (x *rows) join(i uint32, g *group, r uint32) {
	at := x.place(x.members(g), x.row(r).time, r)
	switch {
	case g.n < inGroup:
		copy(g.slot[at+1:], g.slot[at:])
		g.slot[at] = r
	case g.n == inGroup:
		l := slices.Insert(append(x.lists.merged[:0], g.slot[:]...), at, r)
		x.lists.merged = l
		g.slot[1] = 0
		setSlot(g.slot[:], x.lists.store(i, l).off)
	default:
		setSlot(g.slot[:], x.lists.insert(i, slotRun(g.slot[:], g.n), at, r).off)
	}
	g.n++
	g.live++
}

// leave takes row r out of group i.
func (x *rows) leave(i uint32, g *group, r uint32) {
	at := x.place(x.members(g), x.row(r).time, r)
	if g.n <= inGroup {
		copy(g.slot[at:], g.slot[at+1:])
	} else if l := x.lists.delete(i, slotRun(g.slot[:], g.n), at); l.n > inGroup {
		setSlot(g.slot[:], l.off)
	} else {
		copy(g.slot[:], x.lists.list(l))
		x.lists.release(l)
	}
	g.n--
}

// relocate moves the list of group i.
func (x *rows) relocate(i uint32, _ uint64) uint32 {
	g := x.group(i + 1)
	r := slotRun(g.slot[:], g.n)
	setSlot(g.slot[:], x.lists.move(i, r).off)
	return r.size()
}

// remove ends a row. died is the first version of the window without it; 0 means that there is no window. The row's
// number stays in use until sweep. last reports whether the present version has no other row with its ends and label.
func (x *rows) remove(r uint32, died uint32) (last bool) {
	row := x.row(r)
	x.dead = append(x.dead, r)
	l := x.link(row.u, row.v, row.edgeLabel())
	last = true
	if *l&isGroup != 0 {
		g := x.group(*l)
		g.live--
		last = g.live == 0
	}
	if died == 0 {
		x.unlink(l, r)
		return last
	}
	s := x.span(r)
	s.died = died
	row.label |= touched
	x.tags[r] = s
	return last
}

// unlink takes a row out of the index, where l has the reference to it or its group.
func (x *rows) unlink(l *uint32, r uint32) {
	row, ref := x.row(r), *l
	if ref&isGroup == 0 {
		*l = row.next
		x.index.count--
		return
	}
	g := x.group(ref)
	if x.leave(ref&^isGroup-1, g, r); g.n > 1 {
		return
	}
	last := g.slot[0]
	x.row(last).next = g.next
	*l = last + 1
	*g = group{next: x.groupFree}
	x.groupFree = ref &^ isGroup
}

// sweep ends a window, or an update without one: no row is touched, and the numbers of removed rows are free.
func (x *rows) sweep(window bool, clear func(r uint32)) {
	for i := len(x.dead) - 1; i >= 0; i-- { // so that rows leave a group from its end
		r := x.dead[i]
		if window {
			row := x.row(r)
			x.unlink(x.link(row.u, row.v, row.edgeLabel()), r)
		}
		if x.calendar != nil {
			x.calendar.remove(r)
		}
		clear(r)
		*x.row(r) = row{next: x.free}
		x.free = r + 1
		x.n--
	}
	x.dead = x.dead[:0]
	if cap(x.dead) > keptMarks {
		x.dead = nil
	}
	if len(x.tags) == 0 {
		return
	}
	for r := range x.tags {
		x.row(r).label &^= touched
	}
	if len(x.tags) > keptMarks {
		x.tags = map[uint32]span{}
	} else {
		emptyMap(x.tags)
	}
}

func emptyMap[K comparable, V any](m map[K]V) { clear(m) }

func (x *rows) bytes() uint64 {
	return x.pages.bytes() + x.index.heads.bytes() + x.groups.bytes() + x.lists.bytes() + 4*uint64(cap(x.dead)) + 24*uint64(len(x.tags))
}

// inUse reports whether r is the number of a row.
func (x *rows) inUse(r uint32) bool {
	if r >= x.end {
		return false
	}
	row := x.row(r)
	return row.u != row.v // no edge is a loop, and a free row is zero
}
