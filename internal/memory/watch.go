package memory

import (
	"context"
	"time"
)

// interval is how often limits of memory are compared with what is in use.
const interval = 20 * time.Millisecond

// Watch returns a context that ends when the process holds more than budget bytes of its own (files mapped into memory
// do not count), or nearly as much as the system allows it. The cause is then what as makes of the error of Over. A
// budget of 0 is none. The caller calls stop when the context is not needed any more.
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
