//go:build amd64 && !purego

package setops

// Kernels in assembly. None reads or writes outside the lists it is given.

// Both lists must have at least one value.
//
//go:noescape
func avx2MergeCount(a *uint32, na int, b *uint32, nb int) int

//go:noescape
func avx512MergeCount(a *uint32, na int, b *uint32, nb int) int

// The MergeSelect kernels write to dst the values of a that are in b, and return the number of
// these. With flip, a bit for each lane, they take the values that are not in b instead. i is
// the index in a of the first value that was not looked at because b had ended; na or more
// means that there is none. Both lists must have at least one value. dst needs room for na
// values and may be a: a block of a is held in a register from the first time it is needed, and
// its results never reach the next block.
//
//go:noescape
func avx2MergeSelect(dst, a *uint32, na int, b *uint32, nb int, flip uint32) (n, i int)

//go:noescape
func avx512MergeSelect(dst, a *uint32, na int, b *uint32, nb int, flip uint32) (n, i int)

// avx2Gallop looks up each value of small in large and keeps those found (flip
// 0) or not found (flip 1). It returns how many it kept, and how many values it
// looked at before large ended. nlarge must be at least gallopWindow. With
// stride 1 the values kept go to dst, which needs room for nsmall and may be
// small, but not large: values are stored before it is known whether they stay.
// With stride 0 all are stored to dst[0].
//
//go:noescape
func avx2Gallop(dst, small *uint32, nsmall int, large *uint32, nlarge int, flip, stride int) (n, i int)

// avx2CountBits returns how many of list[:i] are set in bm, which has halfwords
// 32-bit words. It stops at i: at the last full block of 8 values, or before the
// first block with a value outside bm.
//
//go:noescape
func avx2CountBits(list *uint32, n int, bm *uint64, halfwords uint32) (count, i int)

// avx2FilterBits writes those of list[:i] to dst that are set in bm (flip 0) or
// not set (flip 0xFF), and returns how many there are and i, as avx2CountBits.
// dst needs room for n values and may be list.
//
//go:noescape
func avx2FilterBits(dst, list *uint32, n int, bm *uint64, halfwords, flip uint32) (count, i int)

//go:noescape
func avx2AndCount(a, b *uint64, n int) int

//go:noescape
func avx2And(dst, a, b *uint64, n int) int

//go:noescape
func avx2AndNot(dst, a, b *uint64, n int) int

//go:noescape
func avx512AndCount(a, b *uint64, n int) int

//go:noescape
func avx512And(dst, a, b *uint64, n int) int

//go:noescape
func avx512AndNot(dst, a, b *uint64, n int) int

// laneMasks[8-k:] starts with k lanes of all ones followed by zeros (k <= 8).
//
//lint:ignore U1000 read by the assembly
var laneMasks = [16]uint32{
	0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF,
}

// padIndex[k] repeats lane k-1 in the lanes behind it.
//
//lint:ignore U1000 read by the assembly
var padIndex = [9][8]uint32{
	{},
	{0, 0, 0, 0, 0, 0, 0, 0},
	{0, 1, 1, 1, 1, 1, 1, 1},
	{0, 1, 2, 2, 2, 2, 2, 2},
	{0, 1, 2, 3, 3, 3, 3, 3},
	{0, 1, 2, 3, 4, 4, 4, 4},
	{0, 1, 2, 3, 4, 5, 5, 5},
	{0, 1, 2, 3, 4, 5, 6, 6},
	{0, 1, 2, 3, 4, 5, 6, 7},
}

// compressIndex[m] has, as bytes, the positions of the bits set in m, lowest
// first: the lanes to move to the front to keep those that m selects.
//
//lint:ignore U1000 read by the assembly
var compressIndex = func() (t [256][8]uint8) {
	for m := range t {
		k := 0
		for bit := range 8 {
			if m>>bit&1 != 0 {
				t[m][k] = uint8(bit)
				k++
			}
		}
	}
	return t
}()
