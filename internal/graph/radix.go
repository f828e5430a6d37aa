package graph

import (
	"math/bits"
	"slices"
)

// radixBits is the digit of the radix sort: 2048 counters stay in the first
// cache.
const radixBits = 11

// radixShort is the length below which a comparison sort is faster.
const radixShort = 384

// radixSort sorts keys below 2^width. tmp has the same length; the result is in
// the slice that it returns (keys or tmp).
func radixSort(keys, tmp []uint32, width int) []uint32 {
	if len(keys) < radixShort {
		slices.Sort(keys)
		return keys
	}
	passes := (width + radixBits - 1) / radixBits
	if passes == 0 {
		return keys
	}
	digit := (width + passes - 1) / passes
	mask := uint32(1)<<digit - 1
	for p := range passes {
		shift := p * digit
		var at [1 << radixBits]uint32
		for _, k := range keys {
			at[k>>shift&mask&(1<<radixBits-1)]++
		}
		sum := uint32(0)
		for i := range at[:mask+1] {
			at[i], sum = sum, sum+at[i]
		}
		for _, k := range keys {
			d := &at[k>>shift&mask&(1<<radixBits-1)]
			tmp[*d] = k
			*d++
		}
		keys, tmp = tmp, keys
	}
	return keys
}

// sortList sorts one neighbour list of numbers below n in place; *tmp is
// scratch that grows.
func sortList(l []uint32, n int, tmp *[]uint32) {
	if len(l) < radixShort {
		slices.Sort(l)
		return
	}
	if cap(*tmp) < len(l) {
		*tmp = make([]uint32, len(l)+len(l)/4)
	}
	t := (*tmp)[:len(l)]
	if s := radixSort(l, t, bits.Len(uint(n))); &s[0] != &l[0] {
		copy(l, s)
	}
}
