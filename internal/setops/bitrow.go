package setops

import "math/bits"

// Rows are bit sets of equal length over one small universe (the candidates of
// one search, not all vertices). Each function below panics when a row is
// shorter than its first argument, and looks only at that many words.
//
// Short rows are looped over in place: the functions are small enough for the
// compiler to inline, and a call costs more than a few words. Longer rows go to
// the vector code.
const shortRow = 8

// AndCount returns the number of bits set in both a and b.
func AndCount(a, b []uint64) int {
	if len(a) > shortRow {
		return andCountLong(a, b)
	}
	n := 0
	for i, x := range a {
		n += bits.OnesCount64(x & b[i])
	}
	return n
}

// And writes the bits set in both a and b to dst[:len(a)] and returns how many
// there are. dst may be a or b; otherwise it must not overlap them.
func And(dst, a, b []uint64) int {
	if len(a) > shortRow {
		return andLong(dst, a, b)
	}
	n := 0
	for i, x := range a {
		x &= b[i]
		dst[i] = x
		n += bits.OnesCount64(x)
	}
	return n
}

// AndNot writes the bits set in a and not in b to dst[:len(a)] and returns how
// many there are. dst may be a or b; otherwise it must not overlap them.
func AndNot(dst, a, b []uint64) int {
	if len(a) > shortRow {
		return andNotLong(dst, a, b)
	}
	n := 0
	for i, x := range a {
		x &^= b[i]
		dst[i] = x
		n += bits.OnesCount64(x)
	}
	return n
}

func andCountGo(a, b []uint64) int {
	b = b[:len(a)]
	n := 0
	for i, x := range a {
		n += bits.OnesCount64(x & b[i])
	}
	return n
}

func andGo(dst, a, b []uint64) int {
	dst, b = dst[:len(a)], b[:len(a)]
	n := 0
	for i, x := range a {
		x &= b[i]
		dst[i] = x
		n += bits.OnesCount64(x)
	}
	return n
}

func andNotGo(dst, a, b []uint64) int {
	dst, b = dst[:len(a)], b[:len(a)]
	n := 0
	for i, x := range a {
		x &^= b[i]
		dst[i] = x
		n += bits.OnesCount64(x)
	}
	return n
}
