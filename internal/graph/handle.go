package graph

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Handle is one relation seen from one side: a list of neighbours for each vertex.
// Everything that reads a plan's lists reads them through a handle, and none of it
// depends on how the lists are stored. A handle does not change once it is made; a
// relation that changes gets a handle of a later version.
type Handle struct {
	// ID is the number of the relation. All of its versions have the same number, and no other
	// relation of the process has it. An array on a device is found by ID, Version and the
	// part's number.
	ID, Version uint64
	// Kept: the relation lasts as long as its graph. Others last as long as a query.
	Kept bool
	// Parts make up each list together. There are none where Sparse is set.
	Parts []Part
	// Sparse, if not nil, has all lists.
	Sparse *Sparse
	Caps

	run    *CSR      // the lists of a graph's handle that are one run with an offset for each vertex
	flat   lazy[CSR] // of others
	filled lazy[filled]
}

// Part is one sorted run a vertex, perhaps with entries that are deleted. An entry
// that is left in one part is left in no other part of the relation.
type Part struct {
	Run *CSR
	// Gone are the deleted entries: each list is a part of Run's. nil: none is.
	Gone *CSR
}

// Caps are the capabilities of a relation besides its lists. Plans and engines are faster with
// them; no answer depends on them.
type Caps struct {
	// DegreeOrdered: inside a class of labels, ids ascend by falling degree.
	DegreeOrdered bool
	// LabelRanges: the vertices of a label are ranges of ids, so that a list's
	// vertices of one label are a slice of it.
	LabelRanges bool
}

// Scratch is memory for one list, which List fills where it has to.
type Scratch []uint32

var lastHandle atomic.Uint64

// NewHandle returns a handle, under an ID of its own, of a relation that is not in parts.
func NewHandle(lists Lists) *Handle {
	h := &Handle{ID: NewRelationID(), Sparse: lists.Sparse, Caps: Caps{LabelRanges: true}}
	if lists.Dense != nil {
		h.Parts = []Part{{Run: lists.Dense}}
	}
	return h
}

// NewRelationID returns a number that no relation of the process has yet.
func NewRelationID() uint64 { return lastHandle.Add(1) }

// OneRun returns the lists as one run with an offset for each vertex, which every entry is left
// in; ok is false where they are stored in another way. The fast paths of engines begin here.
func (h *Handle) OneRun() (run *CSR, ok bool) {
	if len(h.Parts) == 1 && h.Parts[0].Gone == nil {
		return h.Parts[0].Run, true
	}
	return nil, false
}

// Lists returns the lists where each is stored as one run; ok is false where they are in parts.
func (h *Handle) Lists() (l Lists, ok bool) {
	if h.Sparse != nil {
		return Lists{Sparse: h.Sparse}, true
	}
	run, ok := h.OneRun()
	return Lists{Dense: run}, ok
}

// InParts reports whether lists are made of several runs, or without entries that are deleted.
func (h *Handle) InParts() bool {
	_, whole := h.Lists()
	return !whole
}

// Whole returns lists that are each one run. Those in parts are put together by the first call, as
// Flat does. Safe for concurrent use.
func (h *Handle) Whole() Lists {
	l, ok := h.Lists()
	if !ok {
		l.Dense = h.Flat()
	}
	return l
}

// NumVertices returns the number of vertices.
func (h *Handle) NumVertices() int {
	if h.Sparse != nil {
		return h.Sparse.n
	}
	return h.Parts[0].Run.NumVertices()
}

// Pairs returns the number of pairs of the relation.
func (h *Handle) Pairs() (n int) {
	if h.Sparse != nil {
		return len(h.Sparse.adj)
	}
	for i := range h.Parts {
		p := &h.Parts[i]
		n += len(p.Run.Adj)
		if p.Gone != nil {
			n -= len(p.Gone.Adj)
		}
	}
	return n
}

// Degree returns the length of v's list.
func (h *Handle) Degree(v uint32) int {
	if h.run != nil {
		return h.run.Degree(v)
	}
	return h.sumDegree(v)
}

// sumDegree is Degree of lists that are stored in another way.
func (h *Handle) sumDegree(v uint32) (n int) {
	if h.Sparse != nil {
		return h.Sparse.Degree(v)
	}
	for i := range h.Parts {
		p := &h.Parts[i]
		n += p.Run.Degree(v)
		if p.Gone != nil {
			n -= p.Gone.Degree(v)
		}
	}
	return n
}

// filled has a bit for each vertex with a list that is not empty, and the number of these vertices.
type filled struct {
	bits  []uint64
	count int
}

// notEmpty returns the vertices of lists that are one run with an offset for each. The first call reads all offsets.
func (h *Handle) notEmpty(run *CSR) *filled {
	return h.filled.get(func() *filled {
		f := &filled{bits: make([]uint64, (run.NumVertices()+63)/64)}
		for v := range run.NumVertices() {
			if run.Off[v] != run.Off[v+1] {
				f.bits[v/64] |= 1 << (v % 64)
				f.count++
			}
		}
		return f
	})
}

// Filled returns the number of vertices whose list is not empty, or that of all vertices if lists are in parts. See ClearEmpty
// for what the first call takes. Safe for concurrent use.
func (h *Handle) Filled() int {
	if h.Sparse != nil {
		return h.Sparse.Len()
	}
	if run, ok := h.OneRun(); ok {
		return h.notEmpty(run).count
	}
	return h.NumVertices()
}

// AddFilled sets the bits of vertices whose list is not empty, in a bitmap of all vertices, of lists that are not in parts. It
// returns false, and sets none, if they are. See ClearEmpty for what the first call takes. Safe for concurrent use.
func (h *Handle) AddFilled(words []uint64) bool {
	if h.Sparse != nil {
		h.Sparse.addFilled(words)
		return true
	}
	run, ok := h.OneRun()
	if ok {
		for i, w := range h.notEmpty(run).bits {
			words[i] |= w
		}
	}
	return ok
}

// ClearEmpty clears the bits of vertices whose list is empty, in a bitmap of all vertices. If the lists are in parts it
// changes nothing. The first call for lists with an offset for each vertex reads all offsets, and the handle keeps a bit for each
// vertex. Safe for concurrent use.
func (h *Handle) ClearEmpty(words []uint64) {
	if h.Sparse != nil {
		h.Sparse.clearEmpty(words)
	} else if run, ok := h.OneRun(); ok {
		for i, w := range h.notEmpty(run).bits {
			words[i] &= w
		}
	}
}

// MaxDegree returns the length of the longest list.
func (h *Handle) MaxDegree() (n int) {
	if h.Sparse != nil {
		return h.Sparse.maxDegree()
	}
	if c, ok := h.OneRun(); ok { // it is asked for each plan
		for i := 1; i < len(c.Off); i++ {
			n = max(n, int(c.Off[i]-c.Off[i-1]))
		}
		return n
	}
	for v := range h.NumVertices() {
		n = max(n, h.Degree(uint32(v)))
	}
	return n
}

// Before returns the number of entries, deleted ones too, in the lists of vertices
// below v: the lists' sizes as prefix sums.
func (h *Handle) Before(v uint32) (n uint64) {
	if h.Sparse != nil {
		return h.Sparse.Before(v)
	}
	for i := range h.Parts {
		n += h.Parts[i].Run.Off[v]
	}
	return n
}

// Entries returns the number of all entries, deleted ones too.
func (h *Handle) Entries() uint64 { return h.Before(uint32(h.NumVertices())) }

// Entry returns entry i of all parts, with the vertex whose list it is in. It may be
// a deleted one: estimates take samples so.
func (h *Handle) Entry(i uint64) (v, u uint32) {
	if h.Sparse != nil {
		return h.Sparse.Entry(i)
	}
	for k := range h.Parts {
		run := h.Parts[k].Run
		if n := uint64(len(run.Adj)); i >= n {
			i -= n
			continue
		}
		end, _ := slices.BinarySearch(run.Off, i+1) // the first list that ends behind it
		return uint32(end - 1), run.Adj[i]
	}
	panic("graph: no such entry")
}

// List returns the neighbours of v, ascending. The caller must not change them.
// Where they are not one run they are in s, until s is used again.
func (h *Handle) List(v uint32, s *Scratch) []uint32 {
	if h.run != nil {
		return h.run.List(v)
	}
	return h.ListIn(v, 0, ^uint32(0), s)
}

// ListIn returns the neighbours x of v with lo ≤ x < hi, as List does.
func (h *Handle) ListIn(v, lo, hi uint32, s *Scratch) []uint32 {
	if l, ok := h.Lists(); ok {
		return cutList(l.List(v), lo, hi)
	}
	out := (*s)[:0]
	for i := range h.Parts {
		p := &h.Parts[i]
		var gone []uint32
		if p.Gone != nil {
			gone = cutList(p.Gone.List(v), lo, hi)
		}
		out = mergeLeft(out, cutList(p.Run.List(v), lo, hi), gone)
	}
	*s = out
	return out
}

// mergeLeft adds to out, which ascends, the elements of run that are not in gone.
func mergeLeft(out, run, gone []uint32) []uint32 {
	had := len(out)
	for _, x := range run {
		for len(gone) > 0 && gone[0] < x {
			gone = gone[1:]
		}
		if len(gone) == 0 || gone[0] != x {
			out = append(out, x)
		}
	}
	added := len(out) - had
	if had == 0 || added == 0 || out[had-1] < out[had] {
		return out
	}
	// The loop goes from the end, because the added elements have room after the list.
	out = slices.Grow(out, added)
	more := out[len(out) : len(out)+added]
	copy(more, out[had:])
	for i, j, k := had-1, added-1, len(out)-1; j >= 0; k-- {
		if i >= 0 && out[i] > more[j] {
			out[k] = out[i]
			i--
		} else {
			out[k] = more[j]
			j--
		}
	}
	return out
}

// cutList is the part of a list with lo ≤ x < hi.
func cutList(list []uint32, lo, hi uint32) []uint32 {
	if hi != ^uint32(0) {
		end, _ := slices.BinarySearch(list, hi)
		list = list[:end]
	}
	if lo > 0 {
		begin, _ := slices.BinarySearch(list, lo)
		list = list[begin:]
	}
	return list
}

// Has reports whether v is in u's list.
func (h *Handle) Has(u, v uint32) bool {
	if l, ok := h.Lists(); ok {
		return l.Has(u, v)
	}
	for i := range h.Parts {
		if p := &h.Parts[i]; p.Run.Has(u, v) && (p.Gone == nil || !p.Gone.Has(u, v)) {
			return true
		}
	}
	return false
}

// Flat returns the lists as one run with an offset for each vertex, for generated code and for
// methods that read all lists repeatedly. If the lists are stored in another way, the first call
// makes the run in the Go heap, and the handle keeps it; of sparse lists it makes the offsets
// alone. Safe for concurrent use.
func (h *Handle) Flat() *CSR {
	if c, ok := h.OneRun(); ok {
		return c
	}
	return h.flat.get(func() *CSR {
		if h.Sparse != nil {
			return h.Sparse.Dense()
		}
		n := h.NumVertices()
		c := &CSR{Off: make([]uint64, n+1), Adj: make([]uint32, 0, h.Pairs())}
		var s Scratch
		for v := range uint32(n) {
			c.Adj = append(c.Adj, h.List(v, &s)...)
			c.Off[v+1] = uint64(len(c.Adj))
		}
		return c
	})
}

// Flat returns lists that the graph keeps, Out, In or Any, as the run of their handle. Code
// that goes over all lists, or names a data edge by its place in them, reads these. It fills the
// Go heap where Stored says that they are not one run. Safe for concurrent use.
func (g *Graph) Flat(lists *CSR) *CSR { return g.Handle(lists.Lists()).Flat() }

// handles are the handles of the lists that a graph keeps.
type handles struct {
	mu  sync.Mutex
	by  map[unsafe.Pointer]*Handle
	ids map[unsafe.Pointer]uint64
}

// ArrayID returns the number of an array that the graph keeps, found by its address. No
// relation has the same number. Neighbour lists have the number of their handle if Stored is
// nil. Safe for concurrent use.
func (g *Graph) ArrayID(at unsafe.Pointer) uint64 {
	g.handles.mu.Lock()
	defer g.handles.mu.Unlock()
	return g.arrayID(at)
}

func (g *Graph) arrayID(at unsafe.Pointer) uint64 {
	id := g.handles.ids[at]
	if id == 0 {
		if g.handles.ids == nil {
			g.handles.ids = map[unsafe.Pointer]uint64{}
		}
		id = NewRelationID()
		g.handles.ids[at] = id
	}
	return id
}

// Handle returns the handle of lists. For lists that the
// graph keeps (Holds) each call returns the same handle, and for others a new one. If Stored is
// set, Handle returns Stored's handle in its place. Safe for concurrent use.
func (g *Graph) Handle(lists Lists) *Handle {
	if !g.Holds(lists) {
		return g.stored(NewHandle(lists))
	}
	g.handles.mu.Lock()
	defer g.handles.mu.Unlock()
	at := lists.at()
	if h := g.handles.by[at]; h != nil {
		return h
	}
	h := NewHandle(lists)
	h.ID, h.Kept = g.arrayID(at), true
	if g.unordered {
		h.DegreeOrdered = false
	} else if !g.Directed {
		h.DegreeOrdered = lists.is(g.Out.Lists())
	} else { // Degree is of both directions
		h.DegreeOrdered = lists.is(g.any.made.Load().Lists())
	}
	h = g.stored(h)
	if g.handles.by == nil {
		g.handles.by = map[unsafe.Pointer]*Handle{}
	}
	g.handles.by[at] = h
	return h
}

func (g *Graph) stored(h *Handle) *Handle {
	if g.Stored != nil {
		h = g.Stored(h)
	}
	h.run, _ = h.OneRun()
	return h
}
