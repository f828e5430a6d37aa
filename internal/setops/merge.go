package setops

// IntersectCount returns the number of values that a and b share.
func IntersectCount(a, b []uint32) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	switch {
	case len(a) == 0:
		return 0
	case gallopPays(len(a), len(b)):
		return gallopCount(a, b)
	}
	return mergeCount(a, b)
}

// Intersect writes the values that a and b share to dst, in order, and returns
// how many there are. cap(dst) must be at least min(len(a), len(b)).
//
// dst may start where a starts or where b starts, so that a list can be
// narrowed in place; that list, over its whole length, is then overwritten.
// Otherwise the memory of dst (that capacity of it) must not overlap a or b.
func Intersect(dst, a, b []uint32) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	dst = dst[:min(len(a), len(b))]
	// Kernels want as their first list the one dst may share memory with, or
	// else the shorter one: they store whole blocks, but never behind
	// dst[len(first list)].
	inPlace := &dst[0] == &a[0]
	if !inPlace && (&dst[0] == &b[0] || len(b) < len(a)) {
		a, b = b, a
		inPlace = &dst[0] == &a[0]
	}
	switch {
	case gallopPays(len(a), len(b)):
		return gallopIntersect(dst, a, b)
	case gallopPays(len(b), len(a)):
		// Only in place. The portable loop stores nothing but results, so it
		// never overwrites a part of the long list it has yet to read: the
		// k-th result cannot stand before the k-th place of that list.
		return gallopIntersectGo(dst, b, a)
	case inPlace:
		// dst was cut to the shorter length; the blocks may use all of a.
		return mergeIntersect(a, a, b)
	}
	return mergeIntersect(dst, a, b)
}

// Difference writes the values of a that are not in b to dst, in order, and
// returns how many there are. cap(dst) must be at least len(a).
//
// dst may start where a starts. Otherwise the memory of dst (that capacity of
// it) must not overlap a; it must never overlap b.
func Difference(dst, a, b []uint32) int {
	dst = dst[:len(a)]
	switch {
	case len(a) == 0:
		return 0
	case len(b) == 0:
		return copy(dst, a)
	case gallopPays(len(a), len(b)):
		return gallopDifference(dst, a, b)
	case gallopPays(len(b), len(a)):
		return removeGallop(dst, a, b)
	}
	return mergeDifference(dst, a, b)
}

// less returns 1 if x < y and 0 otherwise, without a branch. Why: the order of two lists is
// unpredictable, and a mispredicted branch costs more than the whole step of a merge.
func less(x, y uint32) int { return int((uint64(x) - uint64(y)) >> 63) }

func mergeCountGo(a, b []uint32) int {
	n, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		lt, gt := less(x, y), less(y, x)
		i += 1 - gt
		j += 1 - lt
		n += 1 - gt - lt
	}
	return n
}

func mergeIntersectGo(dst, a, b []uint32) int {
	n, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		lt, gt := less(x, y), less(y, x)
		// Stored always, kept only when equal. n <= i holds, so in place this
		// overwrites nothing of a that is still to be read but a[i] itself,
		// and that only with its own value.
		dst[n] = x
		i += 1 - gt
		j += 1 - lt
		n += 1 - gt - lt
	}
	return n
}

func mergeDifferenceGo(dst, a, b []uint32) int {
	n, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		lt, gt := less(x, y), less(y, x)
		dst[n] = x // n <= i: see mergeIntersectGo
		i += 1 - gt
		j += 1 - lt
		n += lt
	}
	return n + copy(dst[n:], a[i:])
}
