package graph

import (
	"context"
	"errors"
	"sync"
)

// derived are values that others have made of a graph.
type derived struct {
	mu sync.Mutex
	by map[any]*made
}

// made is a value that is being made until done is closed.
type made struct {
	done  chan struct{}
	value any
	err   error
}

// errNotMade is the error of a value until it is made. Callers that waited for it see it after a panic.
var errNotMade = errors.New("the value was not made")

// Derived returns the value that was kept under key, or calls compute and keeps what it returns, unless
// that is an error. Values last as long as the graph and hold no memory of a graph's file. A caller
// waits while another makes the same value, until ctx ends. If the other fails, it makes the
// value itself. Safe for concurrent use.
func (g *Graph) Derived(ctx context.Context, key any, compute func() (any, error)) (any, error) {
	for {
		m, mine := g.derived.take(key)
		if mine {
			g.derived.fill(key, m, compute)
			return m.value, m.err
		}
		select {
		case <-m.done:
			if m.err == nil {
				return m.value, nil
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take returns the value of a key, and whether the caller is to make it.
func (d *derived) take(key any) (m *made, mine bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m := d.by[key]; m != nil {
		return m, false
	}
	if d.by == nil {
		d.by = map[any]*made{}
	}
	m = &made{done: make(chan struct{}), err: errNotMade}
	d.by[key] = m
	return m, true
}

// fill makes a value. If that fails, or panics, the key is free again.
func (d *derived) fill(key any, m *made, compute func() (any, error)) {
	defer func() {
		if m.err != nil {
			d.mu.Lock()
			delete(d.by, key)
			d.mu.Unlock()
		}
		close(m.done)
	}()
	m.value, m.err = compute()
}
