// Package setops has the inner loops of the host engine: intersection, difference and counting.
// The operands are sorted vertex lists, bitmaps of vertices, and rows of bits.
//
// It knows numbers only. It must not know graphs or plans.
//
// # Lists
//
// A list is a []uint32 in strictly ascending order (sorted, no value twice), compared as
// unsigned numbers. Every value up to 0xFFFFFFFF is legal. With any other slice the result is
// unspecified, and the function may panic, but it never reads or writes outside the slices it
// was given. A caller sets bounds on the values (a symmetry break such as "greater than v") by
// slicing:
//
//	setops.IntersectCount(a[setops.LowerBound(a, v+1):], b)
//
// # Where results go
//
// A function with a dst writes its result from dst[0] on and returns the result's length. It
// may use dst up to the capacity that its comment states, whatever the length of dst, and
// panics when the capacity is smaller. It needs no slack beyond that capacity, and may
// overwrite all of it: vector code stores whole blocks, so the values after the result are
// unspecified.
//
// # Code paths
//
// Each operation has a portable version in Go and, on amd64, versions in assembly. The package
// chooses among them once, at start, by what the CPU offers. The build tag purego leaves the
// assembly out. All versions give the same results; tests run every version that the machine
// can run.
//
// All functions are safe for concurrent use as long as nobody writes to the slices they are
// given.
package setops
