package host

import (
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/runtime/crew"
	"github.com/weftgraph/weft/internal/setops"
)

// neighbourhood is the graph that a root's neighbours induce, as a bit matrix.
type neighbourhood struct {
	list  []uint32 // the universe: vertex of each position, ascending
	d     int      // len(list)
	words int      // words a row
	rows  []uint64

	at   []uint32 // position+1 by vertex id, 0 outside the universe
	mark []uint32 // the vertices for which at was set

	low    []uint32 // positions of lower neighbours, row after row
	lowEnd []int32
	degree []int32
	keep   []uint32

	// Memory for lists that are stored in parts: the universe, and another.
	whole, other graph.Scratch
}

func (h *neighbourhood) init(lp *localProgram, m *crew.Memory) {
	h.at = enough(m, h.at, lp.g.NumVertices())
}

// leave takes the last root's universe off again.
func (h *neighbourhood) leave() {
	for _, x := range h.mark {
		h.at[x] = 0
	}
	h.mark, h.list = nil, nil
}

// universe is the neighbours of v that inside vertices may be.
func (lp *localProgram) universe(v uint32, s *graph.Scratch) []uint32 {
	switch {
	case lp.lower:
		return lp.below(v, s)
	case lp.upper && lp.above == nil:
		return lp.lists.ListIn(v, v+1, ^uint32(0), s)
	case lp.upper:
		return lp.adj[lp.above[v]:lp.off[v+1]]
	}
	return lp.lists.List(v, s)
}

// below is the neighbours of v with smaller ids.
func (lp *localProgram) below(v uint32, s *graph.Scratch) []uint32 {
	if lp.above == nil {
		return lp.partsBelow(v, s)
	}
	return lp.adj[lp.off[v]:lp.above[v]]
}

// partsBelow is below where lists are stored in parts. It is a call of its own so that
// below is none.
//
//go:noinline
func (lp *localProgram) partsBelow(v uint32, s *graph.Scratch) []uint32 {
	return lp.lists.ListIn(v, 0, v, s)
}

// enter builds the matrix of v's neighbourhood; false when it is too small for
// the pattern. Vertices with too few neighbours inside are left out first.
func (h *neighbourhood) enter(lp *localProgram, v uint32) bool {
	h.leave()
	list := lp.universe(v, &h.whole)
	inside := lp.depth - 1
	if lp.outside {
		inside--
	}
	if len(list) < inside {
		return false
	}
	for i, x := range list {
		h.at[x] = uint32(i + 1)
	}
	h.mark = list
	if lp.sizesOnly {
		h.list, h.d, h.words = list, len(list), (len(list)+63)/64
		return true
	}
	h.findEdges(lp, list)
	h.list = list
	if lp.need > 0 && !h.peel(lp.need, inside) {
		return false
	}
	h.d = len(h.list)
	h.words = (h.d + 63) / 64
	h.fill()
	return true
}

// findEdges lists, for each position, the lower positions adjacent to it.
func (h *neighbourhood) findEdges(lp *localProgram, list []uint32) {
	h.low = h.low[:0]
	h.lowEnd = h.lowEnd[:0]
	for i, u := range list {
		nb := lp.below(u, &h.other)
		k := len(h.low)
		need := len(nb) + 1
		if len(nb) >= 2*ratio*i {
			need = i + 16
		}
		if cap(h.low) < k+need {
			grown := make([]uint32, k, 2*(k+need))
			copy(grown, h.low)
			h.low = grown
		}
		buf := h.low[k : k+need]
		n := 0
		if len(nb) >= 2*ratio*i {
			n = setops.Intersect(buf, list[:i], nb)
			for j, x := range buf[:n] {
				buf[j] = h.at[x] - 1
			}
		} else {
			// Hits cannot be predicted: store always, advance on a hit.
			for _, x := range nb {
				a := h.at[x]
				buf[n] = a - 1
				n += int((uint64(a) + 1<<63 - 1) >> 63 & 1)
			}
		}
		h.low = h.low[:k+n]
		h.lowEnd = append(h.lowEnd, int32(k+n))
	}
}

// peel drops positions with fewer than need inside neighbours, for a few
// rounds, and renumbers the rest. It reports false when fewer than least stay.
func (h *neighbourhood) peel(need, least int) bool {
	d := len(h.list)
	if cap(h.degree) < d {
		h.degree = make([]int32, 2*d)
	}
	deg := h.degree[:d]
	dropped := 0
	for round := 0; round < 4; round++ {
		if round == 0 {
			clear(deg)
		} else {
			for i := range deg {
				if deg[i] >= 0 {
					deg[i] = 0
				}
			}
		}
		k := int32(0)
		for i, end := range h.lowEnd {
			if deg[i] < 0 {
				k = end
				continue
			}
			for ; k < end; k++ {
				if p := h.low[k]; deg[p] >= 0 {
					deg[p]++
					deg[i]++
				}
			}
		}
		now := 0
		for i := range deg {
			if deg[i] >= 0 && deg[i] < int32(need) {
				deg[i] = -1
				now++
			}
		}
		dropped += now
		if d-dropped < least {
			return false
		}
		if now*8 < d-dropped {
			break
		}
	}
	if dropped == 0 {
		return true
	}
	// Renumber: at, list, and the lower lists, in place.
	h.keep = h.keep[:0]
	for i, x := range h.list {
		if deg[i] < 0 {
			h.at[x] = 0
			continue
		}
		h.keep = append(h.keep, x)
		h.at[x] = uint32(len(h.keep))
		deg[i] = int32(len(h.keep) - 1)
	}
	k, out, rows := int32(0), 0, 0
	for i, end := range h.lowEnd {
		for ; k < end; k++ {
			if p := h.low[k]; deg[i] >= 0 && deg[p] >= 0 {
				h.low[out] = uint32(deg[p])
				out++
			}
		}
		if deg[i] >= 0 {
			h.lowEnd[rows] = int32(out)
			rows++
		}
	}
	h.lowEnd = h.lowEnd[:rows]
	h.list = h.keep
	return true
}

// fill writes the matrix from the lower lists.
func (h *neighbourhood) fill() {
	size := h.d * h.words
	h.rows = grow(h.rows, size)
	clear(h.rows)
	k := int32(0)
	for i, end := range h.lowEnd {
		row := h.rows[i*h.words : (i+1)*h.words]
		word, bit := i>>6, uint64(1)<<(i&63)
		for ; k < end; k++ {
			p := int(h.low[k])
			row[p>>6] |= 1 << (p & 63)
			h.rows[p*h.words+word] |= bit
		}
	}
}

func (h *neighbourhood) row(p int) []uint64 { return h.rows[p*h.words : (p+1)*h.words] }

// share writes to row the neighbours of y inside the universe.
func (h *neighbourhood) share(lp *localProgram, y uint32, row []uint64) []uint64 {
	row = grow(row, h.words)
	clear(row)
	nb := lp.lists.List(y, &h.other)
	if len(nb) >= 2*ratio*h.d {
		for i, x := range h.list {
			if setops.Contains(nb, x) {
				row[i>>6] |= 1 << (i & 63)
			}
		}
		return row
	}
	for _, x := range nb {
		if a := h.at[x]; a != 0 {
			a--
			row[a>>6] |= 1 << (a & 63)
		}
	}
	return row
}

// wedges finds the outside vertices of a root: those with enough neighbours in
// common with it.
type wedges struct {
	n     []uint32 // common neighbours by vertex id
	slot  []uint32
	seen  []uint32
	found []uint32
	rows  []uint64
	memo  []uint64 // value of the tail by number of common neighbours
}

// wedgeMemory bounds the rows kept for the outside vertices of one root.
const wedgeMemory = 64 << 20

func (x *wedges) init(lp *localProgram, m *crew.Memory) {
	if !lp.outside {
		return
	}
	x.n = enough(m, x.n, lp.g.NumVertices())
	if !lp.sizesOnly {
		x.slot = enough(m, x.slot, lp.g.NumVertices())
	}
}

// outside enumerates level 1 where it is not a neighbour of the root.
func (w *localWorker) outside() {
	lv := &w.lp.levels[1]
	lo, hi := lv.bounds(&w.m)
	if hi <= lo {
		return
	}
	x := &w.wedge
	x.seen = x.seen[:0]
	for _, u := range w.hood.list {
		nb := within(w.lp.lists.List(u, &w.hood.other), lo, hi)
		k := len(x.seen)
		if cap(x.seen) < k+len(nb) {
			grown := make([]uint32, k, 2*(k+len(nb)))
			copy(grown, x.seen)
			x.seen = grown
		}
		buf := x.seen[k : k+len(nb)]
		fresh := 0
		for _, y := range nb {
			c := x.n[y]
			x.n[y] = c + 1
			buf[fresh] = y
			fresh += int((uint64(c) - 1) >> 63) // 1 when c was 0
		}
		x.seen = x.seen[:k+fresh]
	}
	root := w.m[0]
	x.found = x.found[:0]
	for _, y := range x.seen {
		c := x.n[y]
		x.n[y] = 0
		if int(c) < w.lp.share || y == root || !w.outsideOK(lv, y, root) {
			continue
		}
		if w.lp.sizesOnly {
			w.count = w.s.add(w.count, x.value(w, uint64(c)))
			continue
		}
		x.found = append(x.found, y)
	}
	if w.lp.sizesOnly || len(x.found) == 0 {
		return
	}
	words := w.hood.words
	prepared := len(x.found)*words*8 <= wedgeMemory
	if prepared {
		if more := 8 * (len(x.found)*words - cap(x.rows)); more > 0 {
			w.s.took("matrices of vertices outside a neighbourhood", more)
		}
		x.rows = grow(x.rows, len(x.found)*words)
		clear(x.rows)
		for i, y := range x.found {
			x.slot[y] = uint32(i + 1)
		}
		for p, u := range w.hood.list {
			word, bit := p>>6, uint64(1)<<(p&63)
			for _, y := range within(w.lp.lists.List(u, &w.hood.other), lo, hi) {
				if s := x.slot[y]; s != 0 {
					x.rows[int(s-1)*words+word] |= bit
				}
			}
		}
		for _, y := range x.found {
			x.slot[y] = 0
		}
	}
	it := &w.it[1]
	*it = localIter{list: x.found, end: len(x.found)}
	for it.pos < it.end {
		i := it.pos
		y := it.list[i]
		it.pos++
		w.m[1], w.pos[1] = y, -1
		w.cut[1] = setops.LowerBound(w.hood.list, y)
		if c := w.cut[1]; c < w.hood.d && w.hood.list[c] == y {
			w.pos[1] = c
		}
		if prepared {
			w.row1 = x.rows[i*words : (i+1)*words]
		} else {
			w.row1 = w.hood.share(w.lp, y, w.row1)
		}
		if w.bind(1) {
			w.down(2)
		}
		if w.s.Stop.Load() {
			break
		}
		if w.s.Wanted() {
			w.split(1)
		}
	}
	w.row1 = nil // may be a part of x.rows
}

// outsideOK tests level 1's conditions, except its bounds.
func (w *localWorker) outsideOK(lv *level, y, root uint32) bool {
	if lv.Bits != nil && lv.Bits[y>>6]>>(y&63)&1 == 0 || lv.many && !inRanges(lv.Ranges, y) {
		return false
	}
	for _, b := range lv.Back {
		if b.Level == 0 && b.Neg && w.lp.lists.Has(root, y) {
			return false
		}
	}
	return true
}

// value is the tail's count for an outside vertex with c common neighbours,
// where nothing else matters.
func (x *wedges) value(w *localWorker, c uint64) engine.Tally {
	t := &w.tails
	if w.lp.tail < 2 {
		return engine.Tally64(c)
	}
	if c < uint64(len(x.memo)) && x.memo[c] != 0 {
		return engine.Tally64(x.memo[c] - 1)
	}
	for i := range t.Sizes {
		t.Sizes[i] = c
	}
	v := t.Count(c)
	if c < 1<<12 && v.N.Hi == 0 && !v.Over && v.N.Lo+1 != 0 {
		for uint64(len(x.memo)) <= c {
			x.memo = append(x.memo, 0)
		}
		x.memo[c] = v.N.Lo + 1
	}
	return v
}
