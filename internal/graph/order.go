package graph

import "math/bits"

// degreeOrder returns the compact ids in the order of internal ids, and the internal id of each
// compact id. The order is by class, inside a class by descending degree, and then by the
// user's id. class is nil for one class. A compact id whose bit in exist is 0 is not a vertex
// and has no internal id; nil means that all are vertices. Degrees above the number of
// vertices, which repeated edges cause, are all equal.
func degreeOrder(deg, class []uint32, classes []Class, exist []uint64) (order, place []uint32) {
	n := uint64(len(deg))
	if exist != nil {
		n = 0
		for _, w := range exist {
			n += uint64(bits.OnesCount64(w))
		}
	}
	order, place = makeTemp[uint32](n), makeTemp[uint32](uint64(len(deg)))
	most := uint32(0)
	for _, d := range deg {
		most = max(most, d)
	}
	most = min(most, uint32(len(deg)))
	// A counting sort keeps ties in their order; compact ids are in the
	// order of the user's.
	at := make([]uint32, uint64(most)+1)
	for _, d := range deg {
		at[most-min(d, most)]++
	}
	sum := uint32(0)
	for i, c := range at {
		at[i] = sum
		sum += c
	}
	for v, d := range deg {
		if d == 0 && exist != nil && exist[v>>6]>>(v&63)&1 == 0 {
			continue // behind all others by its degree, so it leaves no gap
		}
		next := &at[most-min(d, most)]
		order[*next] = uint32(v)
		*next++
	}
	if class != nil {
		next := make([]uint32, len(classes))
		for i, c := range classes {
			next[i] = c.First
		}
		for _, v := range order {
			c := class[v]
			place[v] = next[c]
			next[c]++
		}
		for v, p := range place {
			order[p] = uint32(v)
		}
		return order, place
	}
	for i, v := range order {
		place[v] = uint32(i)
	}
	return order, place
}
