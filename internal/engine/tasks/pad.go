package tasks

import (
	"math/bits"
	"unsafe"
)

// Padded returns make([]T, n) in separate cache lines. Why: a worker's small arrays are written in
// the innermost loops. Packed next to those of other workers they would share cache lines, and
// sixteen cores would run at the speed of five.
func Padded[T any](n int) []T {
	var x T
	size := max(int(unsafe.Sizeof(x)), 1)
	bytes := max(1<<bits.Len(uint(n*size-1)), 128) // sizes for which Go aligns objects
	if n == 0 {
		bytes = 128
	}
	return make([]T, n, bytes/size)
}
