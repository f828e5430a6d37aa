package graph

// gatherer groups the edges of one range after another by their smaller ends and
// has them on their way to the larger ones. Each goroutine has its own.
type gatherer struct {
	// The larger ends, by smaller end x and way. Edges given as x → y end at end[2*(x-lo)], and
	// edges given as y → x at end[2*(x-lo)+1]. Each group begins at the end of the previous
	// one.
	near, end []uint32
	next      []uint32 // by range: how many edges go there, or where the next one goes
}

func (e *gatherer) free() {
	freeBig(&e.near)
	freeBig(&e.end)
	freeBig(&e.next)
}

// room makes *s at least n long. The contents are lost.
func room[T word](s *[]T, n uint64) []T {
	if uint64(cap(*s)) < n {
		freeBig(s)
		*s = makeTemp[T](n + n/4)
	}
	return (*s)[:n]
}

// gather groups the edges of range a and counts them by the ranges of their larger
// ends.
func (e *gatherer) gather(blocks []block, a int, k *cuts) {
	total := uint64(0)
	for _, s := range blocks {
		total += uint64(s.cut[a+1] - s.cut[a])
	}
	e.near = room(&e.near, total)
	e.end = room(&e.end, 2*uint64(k.lo[a+1]-k.lo[a]))
	e.next = room(&e.next, uint64(k.len()))
	near, end, next, of, shift := e.near, e.end, e.next, k.of, k.shift&31
	clear(end)
	clear(next)
	for _, s := range blocks {
		for _, p := range s.p[s.cut[a]:s.cut[a+1]] {
			end[uint16(p>>groupAt)]++
			next[of[uint32(p)>>shift]]++
		}
	}
	sum := uint32(0)
	for g, c := range end {
		end[g], sum = sum, sum+c
	}
	for _, s := range blocks {
		for _, p := range s.p[s.cut[a]:s.cut[a+1]] {
			at := &end[uint16(p>>groupAt)]
			near[*at] = uint32(p)
			*at++
		}
	}
}

// spread sends the edges of range a to their larger ends, and finds the lengths of the lower
// halves at the range's vertices.
func (e *gatherer) spread(h *halves, blocks []block, a int) {
	e.gather(blocks, a, h.k)
	h.st.open(a, e.next)
	h.st.put(a, e.next, &groups{ways: 2, end: e.end, targets: e.near})
	from := uint32(0)
	for x, g := h.k.lo[a], 0; x < h.k.lo[a+1]; x, g = x+1, g+2 {
		mid, to := e.end[g], e.end[g+1]
		if h.ways == 1 {
			h.low[0][x] = h.size[0][x] - (to - from)
		} else {
			h.low[0][x] = h.size[0][x] - (mid - from)
			h.low[1][x] = h.size[1][x] - (to - mid)
		}
		from = to
	}
}
