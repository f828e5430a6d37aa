package pattern

import "math/bits"

// Members lists the vertices of a set, of which bit v is vertex v.
func Members(set uint32) []int {
	if set == 0 {
		return nil
	}
	out := make([]int, 0, bits.OnesCount32(set))
	for ; set != 0; set &= set - 1 {
		out = append(out, bits.TrailingZeros32(set))
	}
	return out
}

// SetOf is the set of some vertices: bit v is vertex v.
func SetOf(vs []int) (m uint32) {
	for _, v := range vs {
		m |= 1 << v
	}
	return m
}

// Components counts the connected parts of a set of vertices, where near[v] are the
// neighbours of v.
func Components(near []uint32, set uint32) (n int) {
	for set != 0 {
		part := set & -set
		for {
			next := part
			for _, v := range Members(part) {
				next |= near[v] & set
			}
			if next == part {
				break
			}
			part = next
		}
		set &^= part
		n++
	}
	return n
}
