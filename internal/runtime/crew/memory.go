package crew

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Memory is the memory for a worker's first arrays.
//
// Why: the first touch of a page costs a microsecond, or ten and more on a virtual machine that
// must ask for the page itself, and workers that ask for memory at the same time wait for each
// other. So a thread that stands by has its own memory, and touches all of it before there is
// work.
//
// The zero value and nil have no memory: Take then allocates.
type Memory struct{ free []uint64 }

const (
	memoryWords = 64 << 10 / 8 // of one worker
	pageWords   = 4096 / 8
	lineWords   = 128 / 8 // the distance between memory that two workers write
)

// touch writes to every page of m, until word says that there is work.
func (m *Memory) touch(word *atomic.Uint32) {
	for i := 0; i < len(m.free) && word.Load() == 0; i += pageWords {
		m.free[i] = 0
	}
}

// growStack grows the stack of a goroutine to the size that a worker needs.
//
//go:noinline
func growStack() byte {
	var frame [6 << 10]byte
	return frame[time.Now().Second()]
}

// Take returns n zeros that share no cache line with anything of another worker.
func Take[T uint32 | int32 | uint64](m *Memory, n int) []T {
	var x T
	size := int(unsafe.Sizeof(x))
	words := (n*size + 7) / 8
	words = (words + lineWords - 1) / lineWords * lineWords
	if m == nil || n == 0 || words > len(m.free) {
		return make([]T, n, words*8/size)
	}
	at := &m.free[0]
	m.free = m.free[words:]
	return unsafe.Slice((*T)(unsafe.Pointer(at)), words*8/size)[:n]
}
