package graph

import "context"

// again is the second round, with the degrees that the first one found. deg is
// room for them.
func (h *halves) again(ctx context.Context, threads int, a *arranged, deg, class []uint32, classes []Class, exist []uint64) (*halves, error) {
	for v, x := range a.order {
		deg[x] = h.neigh[v]
	}
	order, place := degreeOrder(deg, class, classes, exist)
	// The second order's numbers by those of the first, and the reverse.
	first, second := makeTemp[uint32](uint64(len(order))), makeTemp[uint32](uint64(len(order)))
	defer freeBig(&first)
	defer freeBig(&second)
	for v, x := range order {
		first[v] = a.place[x]
		second[a.place[x]] = uint32(v)
	}
	a.free()
	a.order, a.place = order, place
	h.st.free()
	segs, err := h.unpack(ctx, threads)
	defer func() {
		for _, s := range segs {
			s.free()
		}
	}()
	if err != nil {
		h.free()
		return nil, err
	}
	size := byOrder(h.size, first)
	h.free()
	h, err = newHalves(ctx, threads, size)
	if err == nil {
		err = h.lower(ctx, threads, segs, second)
	}
	return h, err
}

// inOrder reports whether vertices of equal class have descending degrees, ties
// by compact ids, which order gives.
func (h *halves) inOrder(order, class []uint32) bool {
	for v := 1; v < len(order); v++ {
		x, y := order[v-1], order[v]
		if class != nil && class[x] != class[y] {
			continue
		}
		if dx, dy := h.neigh[v-1], h.neigh[v]; dx < dy || dx == dy && x > y {
			return false
		}
	}
	return true
}

// unpack returns the edges of the lower halves, and frees the halves' memory. If it fails, the
// caller frees the returned segments as well.
func (h *halves) unpack(ctx context.Context, threads int) ([]*segment, error) {
	var from []int // the first range of each segment
	for b := range h.k.len() {
		if k := len(from); k == 0 || h.base[b+1]-h.base[from[k-1]] > segEdges {
			from = append(from, b)
		}
	}
	segs := make([]*segment, len(from))
	for i := range segs {
		segs[i] = &segment{}
	}
	from = append(from, h.k.len())
	err := parallel(ctx, threads, uint64(len(segs)), 1, func(_ int, i, _ uint64) {
		p := makeTemp[uint64](h.base[from[i+1]] - h.base[from[i]])
		n := 0
		for b := from[i]; b < from[i+1]; b++ {
			if h.k.arcs[b] == 0 {
				continue
			}
			h.each(b, func(v, way uint32, half []uint32) {
				l := p[n:][:len(half)]
				for j, u := range half {
					if way == 0 {
						l[j] = uint64(v)<<32 | uint64(u)
					} else {
						l[j] = uint64(u)<<32 | uint64(v)
					}
				}
				n += len(half)
			})
		}
		segs[i].p = p[:n]
		dropBig(h.adj, h.base[from[i]], h.base[from[i+1]])
	})
	return segs, err
}
