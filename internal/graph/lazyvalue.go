package graph

import (
	"sync"
	"sync/atomic"
)

// lazy is a value that is made once, when it is first needed. If making it panics, as over a
// corrupt file, the next caller makes it again and meets the panic too.
type lazy[T any] struct {
	mu   sync.Mutex
	made atomic.Pointer[T]
}

// get returns the value. Safe for concurrent use.
func (l *lazy[T]) get(make func() *T) *T {
	if v := l.made.Load(); v != nil {
		return v
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made.Load() == nil {
		l.made.Store(make())
	}
	return l.made.Load()
}

// drop forgets the value, and returns it.
func (l *lazy[T]) drop() *T { return l.made.Swap(nil) }
