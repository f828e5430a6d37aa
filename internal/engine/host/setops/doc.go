// Package setops holds the inner loops of the host engine: intersection,
// difference and counting over sorted vertex lists, over bitmaps of vertices,
// and over rows of bits.
//
// # Lists
//
// A list is a []uint32 in strictly ascending order (sorted, no value twice),
// compared as unsigned numbers; every value up to 0xFFFFFFFF is legal. What a
// function does with a list that is not so is unspecified (it may panic), but it
// never reads or writes outside the slices it was given. Bounds on the values (a symmetry
// break such as "greater than v") are the caller's, by slicing:
//
//	setops.IntersectCount(a[setops.LowerBound(a, v+1):], b)
//
// # Where results go
//
// Functions with a dst write their result from dst[0] on and return its
// length. They use dst up to the capacity stated with each of them, whatever
// its length, and panic when it is smaller. No slack beyond that capacity is
// needed, but all of it may be overwritten: vector code stores whole blocks,
// and what lies behind the result is unspecified.
//
// # Code paths
//
// Each operation has a portable version in Go and, on amd64, versions in
// assembly chosen once at start from what the CPU offers. The build tag purego
// leaves the assembly out. All versions give the same results; tests run every
// version the machine can run.
//
// All functions are safe for concurrent use as long as nobody writes to the
// slices they are given.
package setops
