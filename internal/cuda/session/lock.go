package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/weftgraph/weft/internal/cuda"
)

// lock is held by the caller that uses the devices. A wait for it ends with a context, or when
// the session is closed.
type lock struct {
	held   chan struct{} // has room for the holder
	closed chan struct{}
	once   sync.Once
}

func newLock() *lock {
	return &lock{held: make(chan struct{}, 1), closed: make(chan struct{})}
}

// take waits for the devices.
func (l *lock) take(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	select {
	case l.held <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.closed:
		return errClosed
	}
	if l.over() { // while it waited
		l.give()
		return errClosed
	}
	return nil
}

// over reports whether the session is closed.
func (l *lock) over() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// try takes the devices where nobody has them.
func (l *lock) try() bool {
	select {
	case l.held <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l *lock) give() { <-l.held }

// close ends all waits, and refuses new callers.
func (l *lock) close() { l.once.Do(func() { close(l.closed) }) }

var errClosed = fmt.Errorf("session: %w", cuda.ErrClosed)
