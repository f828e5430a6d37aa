package memory

import (
	"context"
	"time"
)

// interval is the time between two comparisons of memory in use with its limits.
const interval = 20 * time.Millisecond

// Watch returns a context that ends when the process uses more than budget bytes, or nearly as much as the system
// allows. Files mapped into memory do not count. A budget of 0 means none. The context's cause is as(the error of
// Over). The caller calls stop when it no longer needs the context.
func Watch(ctx context.Context, budget int64, as func(error) error) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	check := func() bool {
		err := Over(budget)
		if err != nil {
			cancel(as(err))
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
