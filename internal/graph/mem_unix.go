//go:build unix

package graph

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped remembers what mapAnon returned, so that unmapAnon never unmaps memory
// of the Go heap (the fallback when mapping fails).
var mapped sync.Map // address → length

func mapAnon(size uint64) []byte {
	if size > 1<<62 {
		return nil
	}
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	if size >= 4<<20 {
		hugePages(b)
	}
	mapped.Store(unsafe.Pointer(&b[0]), len(b))
	return b
}

func unmapAnon(b []byte) {
	if _, ok := mapped.LoadAndDelete(unsafe.Pointer(&b[0])); ok {
		_ = unix.Munmap(b)
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
