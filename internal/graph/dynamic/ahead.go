package dynamic

import "math/bits"

// Ahead reads what changes of edges are about to read, so that it is in the processor's caches then. It changes nothing.
//
// Why: in a large graph a change waits for memory several times, one after the other. Ahead waits for that of many changes together.
type Ahead struct {
	n      int
	ends   [2][aheadRoom]uint32 // u and v
	labels [aheadRoom]Label
	sum    uint32 // of what was read, so that the compiler keeps it
}

const aheadRoom = 16

// Add adds a change of an edge from u to v. It reports whether there is room for another.
func (x *Ahead) Add(g *Graph, u, v ID, label Label) bool {
	x.ends[0][x.n], x.ends[1][x.n], x.labels[x.n] = g.ids.find(u), g.ids.find(v), label
	x.n++
	return x.n < aheadRoom
}

// ReadFor reads for the first of some changes, as many as there is room for, and returns how many they are.
func (x *Ahead) ReadFor(g *Graph, cs []Change) int {
	x.n = min(len(cs), aheadRoom)
	for i := range x.n {
		x.ends[0][i], x.ends[1][i], x.labels[i] = cs[i].U, cs[i].V, cs[i].Label
	}
	n := x.n
	x.Read(g)
	return n
}

// Read reads for the changes that were added.
func (x *Ahead) Read(g *Graph) {
	if g.rows.n > 0 {
		x.readRows(g)
	}
	if g.rowed && g.late.looking { // the lists of most changes are not read now
		x.n = 0
		return
	}
	var ps probes
	for i := range x.ends {
		for k, v := range x.ends[i][:x.n] {
			if v == noVertex {
				continue
			}
			x.sum += g.ids.class(v)
			ps.add(g.side(Direction(i), v), v, x.ends[1-i][k])
		}
	}
	x.sum += ps.read()
	x.n = 0
}

// readRows reads the index of rows between the ends, and the first rows of each chain that it finds.
func (x *Ahead) readRows(g *Graph) {
	var refs [aheadRoom]uint32
	for i := range x.n {
		u, v := x.ends[0][i], x.ends[1][i]
		if u == noVertex || v == noVertex {
			continue
		}
		u, v = g.rows.ends(u, v)
		refs[i] = *g.rows.index.head(hashEdge(u, v, x.labels[i]))
	}
	for range chainAhead {
		for i, ref := range refs[:x.n] {
			if ref&isGroup != 0 {
				refs[i] = g.rows.group(ref).next
			} else if ref != 0 {
				refs[i] = g.rows.row(ref - 1).next
			}
			x.sum += refs[i]
		}
	}
}

// chainAhead is how many elements of a chain are read. Why: chains have one element in the mean.
const chainAhead = 2

// probes are searches in lists, which take their steps together.
type probes struct {
	list [2 * aheadRoom]probe
	n    int
}

// probe is the search of an entry in a list.
type probe struct {
	h *head
	a *arena
	l []uint32 // what is left to search
	w uint32
}

// add adds a search of w in v's list of a side.
func (ps *probes) add(s *side, v, w uint32) {
	if h := s.head(v); h != nil {
		p := &ps.list[ps.n]
		p.h, p.a, p.w = h, s.a, w
		ps.n++
	}
}

// read makes the steps of all searches, and returns a number that depends on what it read.
//
// Why: each step of a search waits for the one before. The processor makes those of several searches at the same time.
func (ps *probes) read() (sum uint32) {
	left := 0
	for i := range ps.n {
		p := &ps.list[i]
		n := p.h[headLen]
		if n <= inHead {
			continue
		}
		l := p.a.list(slotRun(p.h[:2], n))
		if n < 2*probeEnd {
			sum += l[n/2]
			continue
		}
		q := &ps.list[left]
		q.l, q.w = l, p.w
		left++
	}
	for left > 0 {
		n := left
		left = 0
		for i := range n {
			p := &ps.list[i]
			l := p.l
			half := len(l) / 2
			if half < probeEnd {
				sum += l[half]
				continue
			}
			_, less := bits.Sub64(uint64(l[half-1]), uint64(p.w), 0)
			from := half & -int(less)
			q := &ps.list[left]
			q.l, q.w = l[from:from+len(l)-half], p.w
			left++
		}
	}
	return sum
}

// probeEnd is half of the length of a list that is not searched on: it is in one or two lines of a cache.
const probeEnd = 8
