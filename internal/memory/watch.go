package memory

import (
	"context"
	"errors"
	"time"
)

// interval is the time between two comparisons of memory in use with its limits.
const interval = 20 * time.Millisecond

// Overrun is the cause of a context that Watch has ended.
type Overrun struct{ Err error }

func (e *Overrun) Error() string { return e.Err.Error() }

// Unwrap returns the error of Over.
func (e *Overrun) Unwrap() error { return e.Err }

// Cause returns the *Overrun because of which Watch ended ctx, or nil.
func Cause(ctx context.Context) error {
	if err := context.Cause(ctx); errors.As(err, new(*Overrun)) {
		return err
	}
	return nil
}

// Watch returns a context that ends when the process uses more than budget bytes, or nearly as much as the system
// allows. Files mapped into memory do not count. A budget of 0 means none. The context's cause is then an *Overrun. The
// caller calls stop when it no longer needs the context.
func Watch(ctx context.Context, budget int64) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	check := func() bool {
		err := Over(budget)
		if err != nil {
			cancel(&Overrun{err})
		}
		return err == nil
	}
	done := make(chan struct{})
	ok := budget <= 0 || check() // a short call is not worth reading the system's limits
	go func() {
		t := time.NewTicker(interval)
		defer t.Stop()
		for ok {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-t.C:
				ok = check()
			}
		}
	}()
	return ctx, func() { close(done); cancel(nil) }
}
