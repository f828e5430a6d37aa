package plan

import (
	"math/bits"
	"slices"
)

// Overlap reports whether two label ranges share a vertex; nil is every vertex.
func Overlap(x, y []Range) bool {
	if x == nil || y == nil {
		return true
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i].End <= y[j].First:
			i++
		case y[j].End <= x[i].First:
			j++
		default:
			return true
		}
	}
	return false
}

// IntersectRanges is the vertices in both; nil is every vertex.
func IntersectRanges(x, y []Range) []Range {
	if x == nil {
		return y
	}
	if y == nil {
		return x
	}
	out := []Range{}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		r := Range{max(x[i].First, y[j].First), min(x[i].End, y[j].End)}
		if r.First < r.End {
			out = append(out, r)
		}
		if x[i].End < y[j].End {
			i++
		} else {
			j++
		}
	}
	return out
}

// Count counts the bits of a bitmap that are set in r.
func (r Range) Count(set []uint64) (n int) {
	for w := r.First / 64; w < (r.End+63)/64; w++ {
		x := set[w]
		if w == r.First/64 {
			x &= ^uint64(0) << (r.First % 64)
		}
		if w == r.End/64 {
			x &= 1<<(r.End%64) - 1
		}
		n += bits.OnesCount64(x)
	}
	return n
}

// Bitmap returns a bit for each of n vertices that is in ranges, of which nil is every vertex, and also
// in own, if that is not nil.
func Bitmap(n int, ranges []Range, own []uint64) []uint64 {
	set := make([]uint64, (n+63)/64)
	if ranges == nil {
		ranges = []Range{{First: 0, End: uint32(n)}}
	}
	for _, r := range ranges {
		for i := r.First / 64; i < (r.End+63)/64; i++ {
			w := ^uint64(0)
			if i == r.First/64 {
				w <<= r.First % 64
			}
			if i == r.End/64 {
				w &= 1<<(r.End%64) - 1
			}
			if own != nil {
				w &= own[i]
			}
			set[i] |= w
		}
	}
	return set
}

// Within returns the part of a sorted list with first ≤ x < end.
func Within(list []uint32, first, end uint32) []uint32 {
	i, _ := slices.BinarySearch(list, first)
	list = list[i:]
	j, _ := slices.BinarySearch(list, end)
	return list[:j]
}

// SameBits compares the bitmaps of two levels by identity: equal conditions share
// their bits.
func SameBits(x, y []uint64) bool {
	return x == nil && y == nil || len(x) > 0 && len(y) > 0 && &x[0] == &y[0]
}
