package weft

import (
	"context"
	"errors"
	"time"

	"github.com/weftgraph/weft/internal/memory"
)

// memoryInterval is how often limits of memory are compared with what is in use.
const memoryInterval = 20 * time.Millisecond

// watchMemory returns a context that ends, with an ErrMemory as its cause, when
// the process holds more than budget bytes of its own (files mapped into memory
// do not count), or nearly as much as the system allows it. A budget of 0 is none.
func watchMemory(ctx context.Context, budget int64) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	check := func() bool {
		err := memory.Over(budget)
		if err != nil {
			cancel(withKind(ErrMemory, err))
		}
		return err == nil
	}
	done := make(chan struct{})
	ok := budget <= 0 || check() // a short call is not worth reading the system's limits
	go func() {
		t := time.NewTicker(memoryInterval)
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

// memoryCause is the reason why watchMemory ended ctx, or nil.
func memoryCause(ctx context.Context) error {
	if err := context.Cause(ctx); errors.Is(err, ErrMemory) {
		return err
	}
	return nil
}

// peakMemory is the largest resident set that this process had, in bytes.
func peakMemory() int64 { return int64(memory.Peak()) }
