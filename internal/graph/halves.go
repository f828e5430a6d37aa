package graph

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
)

// This file makes adjacency of edges without sorting.
//
// Vertices have internal ids by a degree order in which each repetition of an edge counts. An
// edge is first stored at its smaller end. A pass over these ends in order appends each to the
// lists of its larger ends. The lower half of every list, the ids below the list's own vertex,
// is then in order, so repeated edges are next to each other. A pass over the lower halves
// makes the upper halves in the same way, which follow them in the lists.
//
// Appending is done in two steps that both stay in cache (streams.go).

// halves is the lists of a graph in the making. A vertex has one list on an
// undirected graph; on a directed one it has two, of way 0, its successors, and of
// way 1, its predecessors.
type halves struct {
	ways uint32 // lists a vertex
	k    *cuts
	// size is the length of each list, and neigh how many distinct neighbours a
	// vertex has either way: too large where edges repeat, until lower has found
	// these. On an undirected graph neigh is size[0].
	size  [2][]uint32
	neigh []uint32
	// low is the length of each list's lower half. The halves of a range's vertices are
	// adj[base[range]:]. The half of way 0 is before that of way 1, and an element that is the
	// vertex itself precedes each.
	low  [2][]uint32
	adj  []uint32
	base []uint64
	st   *streams
	// arcs is how many elements of the lower halves of range b are in range a, by
	// b*ranges + a.
	arcs []uint32

	same, both atomic.Uint64 // arcs that repeat one; edges that are another's reverse
}

// newHalves takes over size.
func newHalves(ctx context.Context, threads int, size [2][]uint32) (*halves, error) {
	n := uint32(len(size[0]))
	h := &halves{ways: 1, size: size, neigh: size[0]}
	h.low[0] = makeTemp[uint32](uint64(n))
	if size[1] != nil {
		h.ways = 2
		h.low[1] = makeTemp[uint32](uint64(n))
		h.neigh = makeTemp[uint32](uint64(n))
	}
	shift := binShift(n)
	arcs := make([]uint64, n>>shift+1)
	err := parallel(ctx, threads, uint64(len(arcs)), 16, func(_ int, from, to uint64) {
		for i := from; i < to; i++ {
			lo, hi := i<<shift, min((i+1)<<shift, uint64(n))
			sum := uint64(0)
			for _, s := range size[0][lo:hi] {
				sum += uint64(s)
			}
			if h.ways == 2 {
				for v := lo; v < hi; v++ {
					sum += uint64(size[1][v])
					h.neigh[v] = size[0][v] + size[1][v]
				}
			}
			arcs[i] = sum
		}
	})
	if err == nil {
		h.k, err = cutVertices(n, arcs)
	}
	return h, err
}

func (h *halves) free() {
	if h == nil {
		return
	}
	h.freeSizes()
	for way := range h.low {
		freeBig(&h.low[way])
	}
	freeBig(&h.adj)
	freeBig(&h.arcs)
	h.st.free()
}

func (h *halves) freeSizes() {
	if h.ways == 2 {
		freeBig(&h.neigh)
	}
	h.neigh = nil
	for way := range h.size {
		freeBig(&h.size[way])
	}
}

// lower makes the lower halves from edges, whose memory is given back.
// place gives the internal ids of their ends.
func (h *halves) lower(ctx context.Context, threads int, segs []*segment, place []uint32) error {
	blocks, err := h.k.partition(ctx, threads, segs, place)
	if err != nil {
		return err
	}
	arcs := make([]uint64, h.k.len())
	for a := range arcs {
		for _, s := range blocks {
			arcs[a] += uint64(s.cut[a+1] - s.cut[a])
		}
		if arcs[a] > math.MaxInt32 {
			return fmt.Errorf("%w: more than 2^31 edges at few vertices", ErrTooLarge)
		}
	}
	h.st = newStreams(h.k, arcs)
	work := make([]gatherer, threads)
	done := h.k.progress(4)
	err = h.k.each(ctx, threads, func(w, a int) {
		work[w].spread(h, blocks, a)
		done.finished(a, func(from, to int) {
			for i := range blocks {
				blocks[i].drop(from, to)
			}
		})
	})
	for w := range work {
		work[w].free()
	}
	for _, s := range segs {
		s.free()
	}
	if err != nil {
		return err
	}
	if err := h.makeRoom(); err != nil {
		return err
	}
	cur := make([][]uint32, threads)
	err = h.k.each(ctx, threads, func(w, b int) { h.drainLower(b, &cur[w]) })
	for w := range cur {
		freeBig(&cur[w])
	}
	return err
}

// makeRoom places the lower halves.
func (h *halves) makeRoom() error {
	at, r := uint64(0), h.k.len()
	h.base = make([]uint64, r+1)
	for b, arcs := range h.k.arcs {
		if arcs > 0 {
			lo, hi := h.k.lo[b], h.k.lo[b+1]
			for _, low := range h.low[:h.ways] {
				for _, c := range low[lo:hi] {
					at += uint64(c)
				}
			}
			at += uint64(hi-lo) * uint64(h.ways)
		}
		h.base[b+1] = at
		if at-h.base[b] > math.MaxInt32 {
			return fmt.Errorf("%w: more than 2^31 edges at few vertices", ErrTooLarge)
		}
	}
	h.adj, h.arcs = makeTemp[uint32](at), makeTemp[uint32](uint64(r)*uint64(r))
	return nil
}

// drainLower fills the lower halves of range b, without repeated edges.
func (h *halves) drainLower(b int, tmp *[]uint32) {
	lo, hi := h.k.lo[b], h.k.lo[b+1]
	adj := h.adj[h.base[b]:h.base[b+1]]
	// For each half, the place of its next element. In an undirected graph also, for each list,
	// whether its last edge came by its smaller end, as a target.
	cur := room(tmp, uint64(h.ways)*uint64(hi-lo))
	g, at := 0, uint32(0)
	for v := lo; v < hi; v++ {
		for _, low := range h.low[:h.ways] {
			adj[at] = v
			cur[g] = (at + 1) << 1
			g++
			at += 1 + low[v]
		}
	}
	same, both := uint64(0), uint64(0)
	arcs := h.arcs[b*h.k.len():]
	for a := range b + 1 {
		run := h.st.run(a, b)
		var again, back uint32
		if h.ways == 1 {
			again, back = h.append(run, adj, cur, h.k.lo[a], lo)
		} else {
			again = h.appendWays(run, adj, cur, h.k.lo[a], lo)
		}
		same += uint64(again)
		both += uint64(back)
		arcs[a] = uint32(len(run)) - again
	}
	if same > 0 {
		h.close(b, cur)
	}
	same -= both
	if h.ways == 2 {
		both += h.reciprocal(b)
	}
	h.same.Add(same)
	h.both.Add(both)
}

// append appends the words of a run from the sources first, … to the halves of the
// targets lo, … of an undirected graph. It returns how many arcs are there already,
// and how many of these came the other way.
func (h *halves) append(run, adj, cur []uint32, first, lo uint32) (again, back uint32) {
	for _, w := range run {
		u, way := first+w&(1<<wayShift-1), w>>wayShift&1
		c := &cur[uint16(w>>targetShift-lo)]
		at := *c >> 1
		if adj[at-1] != u {
			adj[at] = u
			*c = (at+1)<<1 | way
			continue
		}
		if *c&1 != way {
			*c ^= 1
			back++
		}
		again++
		h.lose(u, 0, 1)
	}
	return again, back
}

// appendWays is append for a directed graph, where the way of an arc says which half
// of its target it goes to.
func (h *halves) appendWays(run, adj, cur []uint32, first, lo uint32) (again uint32) {
	for _, w := range run {
		u, way := first+w&(1<<wayShift-1), w>>wayShift&1
		c := &cur[uint32(uint16(w>>targetShift-lo))<<1|way]
		at := *c >> 1
		if adj[at-1] != u {
			adj[at] = u
			*c += 2
			continue
		}
		again++
		h.lose(u, way^1, 1)
	}
	return again
}

// lose takes n elements from the length of a list.
func (h *halves) lose(v, way, n uint32) {
	atomic.AddUint32(&h.size[way][v], -n)
	if h.ways == 2 {
		atomic.AddUint32(&h.neigh[v], -n)
	}
}

// close closes the gaps that repeated edges left between a range's halves, which
// end where cur says.
func (h *halves) close(b int, cur []uint32) {
	adj := h.adj[h.base[b]:]
	g, from, to := 0, uint32(0), uint32(0)
	for v := h.k.lo[b]; v < h.k.lo[b+1]; v++ {
		for way, low := range h.low[:h.ways] {
			kept, all := cur[g]>>1-from-1, low[v]
			copy(adj[to:][:1+kept], adj[from:][:1+kept])
			from += 1 + all
			to += 1 + kept
			if all > kept {
				h.lose(v, uint32(way), all-kept)
			}
			low[v] = kept
			g++
		}
	}
}

// each calls f for each lower half of range b.
func (h *halves) each(b int, f func(v, way uint32, half []uint32)) {
	adj := h.adj[h.base[b]:]
	for v := h.k.lo[b]; v < h.k.lo[b+1]; v++ {
		for way := range h.ways {
			n := h.low[way][v]
			f(v, way, adj[1:1+n])
			adj = adj[1+n:]
		}
	}
}

// reciprocal finds the pairs, in range b of a directed graph, that have an edge in both
// directions. It counts each pair once as neighbours.
func (h *halves) reciprocal(b int) (both uint64) {
	var out []uint32
	h.each(b, func(v, way uint32, in []uint32) {
		if way == 0 {
			out = in
			return
		}
		for i, j := 0, 0; i < len(out) && j < len(in); {
			x, y := out[i], in[j]
			if x == y {
				atomic.AddUint32(&h.neigh[x], ^uint32(0))
				atomic.AddUint32(&h.neigh[v], ^uint32(0))
				both++
			}
			if x <= y {
				i++
			}
			if y <= x {
				j++
			}
		}
	})
	return both
}

// upper makes the graph's lists from the lower halves, which are freed. final has the id of each
// vertex in the graph; nil means that the ids of the halves stay.
func (h *halves) upper(ctx context.Context, threads int, g *Graph, final []uint32) error {
	r := h.k.len()
	for a := range r {
		h.st.base[a+1] = h.st.base[a]
		for _, n := range h.arcs[a*r:][:r] {
			h.st.base[a+1] += uint64(n)
		}
	}
	end := make([][]uint32, threads)
	err := h.k.each(ctx, threads, func(w, a int) {
		next := h.arcs[a*r:][:r]
		h.st.open(a, next)
		h.st.put(a, next, h.groups(a, &end[w]))
	})
	for w := range end {
		freeBig(&end[w])
	}
	if err != nil {
		return err
	}
	g.Out = newCSR(h.size[0], final)
	g.In = g.Out
	if h.ways == 2 {
		g.In = newCSR(h.size[1], final)
	}
	h.freeSizes() // the graph's offsets have them
	work := make([]upperWork, threads)
	done := h.k.progress(32)
	err = h.k.each(ctx, threads, func(w, b int) {
		h.drainUpper(g, b, &work[w], final)
		// To a range come words of higher ranges only, and its own.
		done.finished(b, func(from, to int) {
			dropBig(h.adj, h.base[from], h.base[to])
			dropBig(h.st.words, h.st.base[from], h.st.base[to])
		})
	})
	for w := range work {
		freeBig(&work[w].cur)
	}
	return err
}

// groups are the lower halves of range b. tmp is room for their ends.
func (h *halves) groups(b int, tmp *[]uint32) *groups {
	lo, hi := h.k.lo[b], h.k.lo[b+1]
	end := room(tmp, uint64(h.ways)*uint64(hi-lo))
	at, i := uint32(0), 0
	for v := lo; v < hi; v++ {
		for _, low := range h.low[:h.ways] {
			at += 1 + low[v]
			end[i] = at
			i++
		}
	}
	return &groups{ways: h.ways, gap: 1, end: end, targets: h.adj[h.base[b]:][:at]}
}

// upperWork is a goroutine's room for drainUpper.
type upperWork struct {
	cur  []uint64 // for each list, the place of its next element in the graph's
	sort []uint32
}

// drainUpper copies the lower halves of range b to the graph's lists and fills the
// upper ones.
func (h *halves) drainUpper(g *Graph, b int, work *upperWork, final []uint32) {
	lo, hi := h.k.lo[b], h.k.lo[b+1]
	cur := room(&work.cur, uint64(h.ways)*uint64(hi-lo))
	lists := [2]*CSR{&g.Out, &g.In}
	h.each(b, func(v, way uint32, half []uint32) {
		x := v
		if final != nil {
			x = final[v]
		}
		c := lists[way]
		copy(c.Adj[c.Off[x]:], half)
		cur[(v-lo)*h.ways+way] = c.Off[x] + uint64(len(half))
	})
	out, in := g.Out.Adj, g.In.Adj
	for a := b; a < h.k.len(); a++ {
		run, first := h.st.run(a, b), h.k.lo[a]
		if h.ways == 1 {
			for _, w := range run {
				c := &cur[uint16(w>>targetShift-lo)]
				out[*c] = first + w&(1<<wayShift-1)
				*c++
			}
			continue
		}
		for _, w := range run {
			way := w >> wayShift & 1
			c := &cur[uint32(uint16(w>>targetShift-lo))<<1|way]
			adj := out
			if way == 1 {
				adj = in
			}
			adj[*c] = first + w&(1<<wayShift-1)
			*c++
		}
	}
	if final == nil {
		return
	}
	for _, x := range final[lo:hi] {
		for _, c := range lists[:h.ways] {
			renumber(c.Adj[c.Off[x]:c.Off[x+1]], final, &work.sort)
		}
	}
}
