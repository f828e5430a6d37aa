//go:build amd64 && !purego

package setops

import "golang.org/x/sys/cpu"

func supported(l level) bool {
	avx2 := cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT
	switch l {
	case levelPortable:
		return true
	case levelAVX2:
		return avx2
	case levelAVX512:
		return avx2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPOPCNTDQ
	}
	return false
}

// pieceLen bounds how much one call of a kernel works through. A goroutine
// cannot be preempted inside assembly, so an unbounded call would hold up the
// garbage collector; a piece takes some ten microseconds.
const pieceLen = 1 << 15

// nextPieces cuts matching pieces off the fronts of a and b: values in the
// piece of one list are never in the rest of the other. Short lists come back
// whole.
func nextPieces(a, b []uint32) (na, nb int) {
	na, nb = min(len(a), pieceLen), min(len(b), pieceLen)
	if na == len(a) && nb == len(b) || na == 0 || nb == 0 {
		return na, nb
	}
	if x, y := a[na-1], b[nb-1]; x < y {
		nb = LowerBound(b[:nb], x)
		if b[nb] == x {
			nb++
		}
	} else if y < x {
		na = LowerBound(a[:na], y)
		if a[na] == y {
			na++
		}
	}
	return na, nb
}

func mergeCount(a, b []uint32) int {
	if active == levelPortable {
		return mergeCountGo(a, b)
	}
	n := 0
	for len(a) > 0 && len(b) > 0 {
		na, nb := nextPieces(a, b)
		if na > 0 && nb > 0 {
			if active == levelAVX512 {
				n += avx512MergeCount(&a[0], na, &b[0], nb)
			} else {
				n += avx2MergeCount(&a[0], na, &b[0], nb)
			}
		}
		a, b = a[na:], b[nb:]
	}
	return n
}

// mergeSelect writes to dst the values of a that are in b, if flip is 0. With flip all ones, it
// writes the values that are not in b and come before the end of b. rest is the part of a after
// that. len(dst) >= len(a).
func mergeSelect(dst, a, b []uint32, flip uint32) (n int, rest []uint32) {
	for len(a) > 0 && len(b) > 0 {
		na, nb := nextPieces(a, b)
		switch {
		case na == 0:
		case nb == 0:
			if flip != 0 {
				n += copy(dst[n:], a[:na])
			}
		default:
			var k, i int
			if active == levelAVX512 {
				k, i = avx512MergeSelect(&dst[n], &a[0], na, &b[0], nb, flip&0xFFFF)
			} else {
				k, i = avx2MergeSelect(&dst[n], &a[0], na, &b[0], nb, flip&0xFF)
			}
			n += k
			if flip != 0 && i < na {
				n += copy(dst[n:], a[i:na])
			}
		}
		a, b = a[na:], b[nb:]
	}
	return n, a
}

// mergeIntersect needs len(dst) >= len(a); dst may be a.
func mergeIntersect(dst, a, b []uint32) int {
	if active == levelPortable {
		return mergeIntersectGo(dst, a, b)
	}
	n, _ := mergeSelect(dst, a, b, 0)
	return n
}

// mergeDifference needs len(dst) >= len(a); dst may be a.
func mergeDifference(dst, a, b []uint32) int {
	if active == levelPortable {
		return mergeDifferenceGo(dst, a, b)
	}
	n, rest := mergeSelect(dst, a, b, ^uint32(0))
	return n + copy(dst[n:], rest)
}

// gallopWindow is how many values of the long list the gallop kernel looks at
// at once; the list must have that many.
const gallopWindow = 16

func gallopSelect(dst, small, large []uint32, flip, stride int) (n, i int) {
	for i < len(small) {
		// Pieces, as in nextPieces: a search takes longer than a merge step.
		piece := min(len(small)-i, pieceLen/8)
		k, done := avx2Gallop(&dst[n*stride], &small[i], piece, &large[0], len(large), flip, stride)
		n += k
		i += done
		if done < piece {
			break
		}
		if i < len(small) {
			large = large[min(LowerBound(large, small[i]), len(large)-gallopWindow):]
		}
	}
	return n, i
}

func gallopCount(small, large []uint32) int {
	if active == levelPortable || len(large) < gallopWindow {
		return gallopCountGo(small, large)
	}
	var sink [1]uint32
	n, _ := gallopSelect(sink[:], small, large, 0, 0)
	return n
}

// gallopIntersect may have small as dst, but not large: see avx2Gallop.
func gallopIntersect(dst, small, large []uint32) int {
	if active == levelPortable || len(large) < gallopWindow {
		return gallopIntersectGo(dst, small, large)
	}
	n, _ := gallopSelect(dst, small, large, 0, 1)
	return n
}

// gallopDifference may have small as dst.
func gallopDifference(dst, small, large []uint32) int {
	if active == levelPortable || len(large) < gallopWindow {
		return gallopDifferenceGo(dst, small, large)
	}
	n, i := gallopSelect(dst, small, large, 1, 1)
	return n + copy(dst[n:], small[i:])
}

func andCountLong(a, b []uint64) int {
	b = b[:len(a)]
	switch active {
	case levelAVX512:
		return avx512AndCount(&a[0], &b[0], len(a))
	case levelAVX2:
		return avx2AndCount(&a[0], &b[0], len(a))
	}
	return andCountGo(a, b)
}

func andLong(dst, a, b []uint64) int {
	dst, b = dst[:len(a)], b[:len(a)]
	switch active {
	case levelAVX512:
		return avx512And(&dst[0], &a[0], &b[0], len(a))
	case levelAVX2:
		return avx2And(&dst[0], &a[0], &b[0], len(a))
	}
	return andGo(dst, a, b)
}

func andNotLong(dst, a, b []uint64) int {
	dst, b = dst[:len(a)], b[:len(a)]
	switch active {
	case levelAVX512:
		return avx512AndNot(&dst[0], &a[0], &b[0], len(a))
	case levelAVX2:
		return avx2AndNot(&dst[0], &a[0], &b[0], len(a))
	}
	return andNotGo(dst, a, b)
}

// halfwords is the number of 32-bit words of bm, or of its part that a uint32
// can address.
func halfwords(bm []uint64) uint32 { return uint32(min(len(bm), 1<<26)) * 2 }

// The bitmap kernels stop before a value outside bm; the loops in Go that finish
// the list then meet it and panic as indexing does.

func countBits(list []uint32, bm []uint64) int {
	n := 0
	if active != levelPortable && len(bm) > 0 {
		for len(list) >= shortList {
			c, i := avx2CountBits(&list[0], min(len(list), pieceLen), &bm[0], halfwords(bm))
			n += c
			list = list[i:]
			if i == 0 {
				break
			}
		}
	}
	return n + countBitsGo(list, bm)
}

// filterBits needs len(dst) >= len(list).
func filterBits(dst, list []uint32, bm []uint64, flip uint64) int {
	n := 0
	if active != levelPortable && len(bm) > 0 {
		for len(list) >= shortList {
			c, i := avx2FilterBits(&dst[n], &list[0], min(len(list), pieceLen), &bm[0], halfwords(bm), uint32(-flip)&0xFF)
			n += c
			list = list[i:]
			if i == 0 {
				break
			}
		}
	}
	return n + filterBitsGo(dst[n:], list, bm, flip)
}
