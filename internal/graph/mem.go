package graph

import "unsafe"

// Large arrays live outside the Go heap where the system allows it. They do not count towards
// the collector's goal, so resident memory stays near the memory in use, and temporary arrays
// are returned at once. They are only freed explicitly (Graph.Close frees a graph's). Why:
// slices of them travel through engines, and a finalizer cannot know when the last slice is
// gone.

// bigBytes is the size from which an array is mapped. Small graphs, which tests
// and services make in numbers, stay in the Go heap and need no Close.
var bigBytes uint64 = 4 << 20 // less in a test

// tempBytes is the same for arrays that are freed before Build returns.
const tempBytes = 64 << 10

type word interface {
	~uint8 | ~uint32 | ~uint64 | ~int64 | edgeRow
}

// makeBig returns n zeroed elements.
func makeBig[T word](n uint64) []T { return makeFrom[T](n, bigBytes) }

// makeTemp is makeBig for arrays that freeBig is sure to free.
func makeTemp[T word](n uint64) []T { return makeFrom[T](n, tempBytes) }

func makeFrom[T word](n, from uint64) []T {
	var z T
	size := n * uint64(unsafe.Sizeof(z))
	if size >= from {
		if b := mapAnon(size); b != nil {
			return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
		}
	}
	return make([]T, n)
}

// freeBig frees an array of makeBig and sets *s to nil. *s is the whole array, or a shorter
// slice of it with its capacity.
func freeBig[T word](s *[]T) {
	if b := bigAsBytes((*s)[:cap(*s)]); len(b) >= tempBytes {
		unmapAnon(b)
	}
	*s = nil
}

func bigAsBytes[T word](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), uintptr(len(s))*unsafe.Sizeof(s[0]))
}

// dropBig tells the system that elements from … to of a mapped array will not
// be read again; the array stays allocated.
func dropBig[T word](s []T, from, to uint64) {
	var z T
	size := int(unsafe.Sizeof(z))
	if !isMapped(bigAsBytes(s[:cap(s)])) {
		return
	}
	const page = 4096
	lo, hi := (int(from)*size+page-1)/page*page, int(to)*size/page*page
	if lo < hi {
		dropPages(bigAsBytes(s)[lo:hi])
	}
}
