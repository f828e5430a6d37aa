//go:build unix

package graph

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped remembers the results of mapAnon, so that unmapAnon never unmaps memory of the Go heap
// (the fallback when mapping fails).
var mapped sync.Map // address → all of it

// hugePage is the size of a large page, and hugeBytes the size from which an array
// is in such pages.
const (
	hugePage  = 2 << 20
	hugeBytes = 3 << 20
)

func mapAnon(size uint64) []byte {
	if size > 1<<62 {
		return nil
	}
	if size >= hugeBytes { // which lie at large pages then
		size = (size + hugePage - 1) &^ (hugePage - 1)
	}
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	if size >= hugeBytes {
		hugePages(b)
	}
	mapped.Store(unsafe.Pointer(&b[0]), b)
	return b
}

func unmapAnon(b []byte) {
	if all, ok := mapped.LoadAndDelete(unsafe.Pointer(&b[0])); ok {
		_ = unix.Munmap(all.([]byte))
	}
}

func isMapped(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	_, ok := mapped.Load(unsafe.Pointer(&b[0]))
	return ok
}

func dropPages(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) }
