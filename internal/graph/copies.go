package graph

import (
	"context"
	"sync"
	"unsafe"
)

// owned are copies of parts of a graph's file.
type owned struct {
	mu     sync.Mutex
	copies map[unsafe.Pointer][]uint64 // by where the part begins; the longest of it
}

// Own returns b, or a copy of it where b lies in the graph's file. Code in C reads copies,
// because the process ends where C reads a part of a mapped file that is gone. A copy is
// kept until Close, for the next call. Safe for concurrent use.
func (g *Graph) Own(b []byte) []byte {
	if g.file == nil || g.file.file == nil || len(b) == 0 {
		return b
	}
	at := uintptr(unsafe.Pointer(&b[0])) - uintptr(unsafe.Pointer(&g.file.data[0]))
	if at >= uintptr(len(g.file.data)) {
		return b
	}
	o := &g.owned
	o.mu.Lock()
	defer o.mu.Unlock()
	c := bigAsBytes(o.copies[unsafe.Pointer(&b[0])])
	if len(c) < len(b) {
		words := makeBig[uint64](uint64(len(b)+7) / 8)
		c = bigAsBytes(words)
		_ = parallel(context.Background(), threadCount(0), uint64(len(b)), 1<<20, func(_ int, lo, hi uint64) {
			copy(c[lo:hi], b[lo:hi])
		})
		if o.copies == nil {
			o.copies = map[unsafe.Pointer][]uint64{}
		}
		o.copies[unsafe.Pointer(&b[0])] = words
	}
	return c[:len(b):len(b)]
}

// free gives back the copies.
func (o *owned) free() {
	for _, c := range o.copies {
		freeBig(&c)
	}
	o.copies = nil
}
