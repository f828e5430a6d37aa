package setops

// Galloping (exponential) search: Bentley and Yao, "An almost optimal algorithm
// for unbounded searching", 1976; as a way to intersect lists of very different
// lengths: Demaine, López-Ortiz and Munro, "Adaptive set intersections, unions,
// and differences", SODA 2000.

// gallopShift is the log2 of the length ratio from which galloping is faster,
// measured on lists spread evenly over each other (BenchmarkRatio).
const gallopShift = 3

// gallopPays tells whether to look up each of short values in a list of long
// ones instead of merging the two.
func gallopPays(short, long int) bool { return long>>gallopShift >= short }

// LowerBound returns the first index i with a[i] >= x, or len(a) if there is
// none. a must be ascending.
func LowerBound(a []uint32, x uint32) int {
	// Each step halves the range by arithmetic instead of a branch. The answer
	// always lies in [lo, lo+n].
	lo, n := 0, len(a)
	for n > 1 {
		half := n >> 1
		lo += half & -less(a[lo+half-1], x)
		n -= half
	}
	if n == 1 {
		lo += less(a[lo], x)
	}
	return lo
}

// Contains tells whether x is in a. a must be ascending.
func Contains(a []uint32, x uint32) bool {
	i := LowerBound(a, x)
	return i < len(a) && a[i] == x
}

// gallopFrom returns the first index i >= from with a[i] >= x, or len(a). It
// takes time logarithmic in i-from, not in len(a).
func gallopFrom(a []uint32, from int, x uint32) int {
	lo, step := from, 1
	for {
		probe := lo + step - 1
		if probe >= len(a) {
			return lo + LowerBound(a[lo:], x)
		}
		if a[probe] >= x {
			return lo + LowerBound(a[lo:probe], x)
		}
		lo = probe + 1
		step <<= 1
	}
}

func gallopCountGo(small, large []uint32) int {
	n, j := 0, 0
	for _, x := range small {
		j = gallopFrom(large, j, x)
		if j == len(large) {
			break
		}
		if large[j] == x {
			n++
			j++
		}
	}
	return n
}

// gallopIntersectGo stores results only (no values that turn out not to be in
// both), so dst may be either list.
func gallopIntersectGo(dst, small, large []uint32) int {
	n, j := 0, 0
	for _, x := range small {
		j = gallopFrom(large, j, x)
		if j == len(large) {
			break
		}
		if large[j] == x {
			dst[n] = x
			n++
			j++
		}
	}
	return n
}

// gallopDifferenceGo writes small minus large to dst, which may be small.
func gallopDifferenceGo(dst, small, large []uint32) int {
	n, j := 0, 0
	for i, x := range small {
		j = gallopFrom(large, j, x)
		if j == len(large) {
			return n + copy(dst[n:], small[i:])
		}
		if large[j] != x {
			dst[n] = x
			n++
		}
	}
	return n
}

// removeGallop writes a minus the much shorter list del to dst, which may be
// a: it finds each value to remove and moves the runs between them.
func removeGallop(dst, a, del []uint32) int {
	n, i := 0, 0
	for _, x := range del {
		j := gallopFrom(a, i, x)
		n += copy(dst[n:], a[i:j])
		i = j
		if i == len(a) {
			return n
		}
		if a[i] == x {
			i++
		}
	}
	return n + copy(dst[n:], a[i:])
}
