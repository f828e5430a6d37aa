package graph

// again orders vertices once more, by the degrees that the first order found, and returns the new ids by
// the old ones. deg is room for degrees.
func (a *arranged) again(neigh, deg, class []uint32, classes []Class, exist []uint64) []uint32 {
	for v, x := range a.order {
		deg[x] = neigh[v]
	}
	order, place := degreeOrder(deg, class, classes, exist)
	final := makeTemp[uint32](uint64(len(order)))
	for v, x := range a.order {
		final[v] = place[x]
	}
	a.free()
	a.order, a.place = order, place
	return final
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

// renumber replaces the elements of a sorted list by their new ids, and sorts them. Few vertices have changed
// places with others of their list, so most lists are in order, and most others need few steps.
func renumber(l, final []uint32, tmp *[]uint32) {
	for i, v := range l { // nothing but loads, so that many are on their way at a time
		l[i] = final[v]
	}
	steps := 0
	for i := 1; i < len(l); i++ {
		x := l[i]
		if l[i-1] <= x {
			continue
		}
		j := i
		for ; j > 0 && l[j-1] > x; j-- {
			l[j] = l[j-1]
		}
		l[j] = x
		if steps += i - j; steps > 8*len(l) {
			sortList(l, len(final), tmp)
			return
		}
	}
}
