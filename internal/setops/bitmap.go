package setops

// Bitmap is a set of vertex ids: bit v&63 of word v>>6 is vertex v.
type Bitmap []uint64

// NewBitmap returns an empty bitmap for the vertices 0 to n-1.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)>>6) }

// Set adds v, which must be below 64*len(b).
func (b Bitmap) Set(v uint32) { b[v>>6] |= 1 << (v & 63) }

// Clear removes v, which must be below 64*len(b).
func (b Bitmap) Clear(v uint32) { b[v>>6] &^= 1 << (v & 63) }

// Has tells whether v, which must be below 64*len(b), is in the set.
func (b Bitmap) Has(v uint32) bool { return b[v>>6]>>(v&63)&1 != 0 }

// SetAll adds all of list to bm. Every value must be below 64*len(bm); list
// need not be sorted.
func SetAll(bm []uint64, list []uint32) {
	for _, v := range list {
		bm[v>>6] |= 1 << (v & 63)
	}
}

// ClearAll removes all of list from bm. Every value must be below 64*len(bm);
// list need not be sorted. It undoes SetAll in time that depends on the list
// only, so one bitmap can serve many short lists.
func ClearAll(bm []uint64, list []uint32) {
	for _, v := range list {
		bm[v>>6] &^= 1 << (v & 63)
	}
}

// CountBits returns the number of values of list that are set in bm. Every
// value must be below 64*len(bm); list need not be sorted.
func CountBits(list []uint32, bm []uint64) int {
	if len(list) < shortList {
		return countBitsGo(list, bm)
	}
	return countBits(list, bm)
}

// FilterBits writes the values of list that are set in bm to dst, in order,
// and returns how many there are. cap(dst) must be at least len(list). Every
// value must be below 64*len(bm); list need not be sorted. dst may start where
// list starts; otherwise the two must not overlap.
func FilterBits(dst, list []uint32, bm []uint64) int {
	return filterBits(dst[:len(list)], list, bm, 0)
}

// FilterNotBits is FilterBits for the values that are not set in bm.
func FilterNotBits(dst, list []uint32, bm []uint64) int {
	return filterBits(dst[:len(list)], list, bm, 1)
}

// shortList is the length below which vector code for bitmaps does not pay.
const shortList = 16

func countBitsGo(list []uint32, bm []uint64) int {
	var n0, n1, n2, n3 uint64
	for len(list) >= 4 {
		v0, v1, v2, v3 := list[0], list[1], list[2], list[3]
		n0 += bm[v0>>6] >> (v0 & 63) & 1
		n1 += bm[v1>>6] >> (v1 & 63) & 1
		n2 += bm[v2>>6] >> (v2 & 63) & 1
		n3 += bm[v3>>6] >> (v3 & 63) & 1
		list = list[4:]
	}
	for _, v := range list {
		n0 += bm[v>>6] >> (v & 63) & 1
	}
	return int(n0 + n1 + n2 + n3)
}

// filterBitsGo keeps the values whose bit differs from flip (0 or 1). It stores
// each value and then moves on or not, which needs no branch on the bit.
func filterBitsGo(dst, list []uint32, bm []uint64, flip uint64) int {
	n := 0
	for _, v := range list {
		dst[n] = v
		n += int(bm[v>>6]>>(v&63)&1 ^ flip)
	}
	return n
}
