// Package memo has values that the first caller makes and all others find.
//
// It knows nothing of what is kept.
package memo

import (
	"context"
	"errors"
	"sync"
)

// Map has a value for each key. The zero value is empty. Safe for concurrent use.
type Map[K comparable, V any] struct {
	mu sync.Mutex
	by map[K]*cell[V]
}

// cell is a value that is being made until done is closed.
type cell[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// errNotMade is the error of a value until it is made. Callers that waited for it see it after a panic.
var errNotMade = errors.New("the value was not made")

// Get returns the value that was kept under key, or calls compute and keeps what it returns, unless
// that is an error. A caller waits while another makes the same value, until ctx ends. If the
// other fails, it makes the value itself.
func (m *Map[K, V]) Get(ctx context.Context, key K, compute func() (V, error)) (V, error) {
	for {
		c, mine := m.take(key)
		if mine {
			m.fill(key, c, compute)
			return c.value, c.err
		}
		select {
		case <-c.done:
			if c.err == nil {
				return c.value, nil
			}
		case <-ctx.Done():
			var none V
			return none, context.Cause(ctx)
		}
	}
}

// take returns the cell of a key, and whether the caller is to fill it.
func (m *Map[K, V]) take(key K) (c *cell[V], mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.by[key]; c != nil {
		return c, false
	}
	if m.by == nil {
		m.by = map[K]*cell[V]{}
	}
	c = &cell[V]{done: make(chan struct{}), err: errNotMade}
	m.by[key] = c
	return c, true
}

// fill makes a value. If that fails, or panics, the key is free again.
func (m *Map[K, V]) fill(key K, c *cell[V], compute func() (V, error)) {
	defer func() {
		if c.err != nil {
			m.mu.Lock()
			delete(m.by, key)
			m.mu.Unlock()
		}
		close(c.done)
	}()
	c.value, c.err = compute()
}
