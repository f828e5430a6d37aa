package weft

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// memoryInterval is how often a budget is compared with what is in use.
const memoryInterval = 20 * time.Millisecond

// watchMemory returns a context that ends, with an ErrMemory as its cause, when
// the process holds more than budget bytes of its own (files mapped into memory
// do not count). A budget of 0 is none.
func watchMemory(ctx context.Context, budget int64) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if budget <= 0 {
		return ctx, func() { cancel(nil) }
	}
	check := func() bool {
		used := memoryInUse()
		if used > budget {
			cancel(withKind(ErrMemory, fmt.Errorf("%s are in use and --memory allows %s", bytesText(used), bytesText(budget))))
		}
		return used <= budget
	}
	done := make(chan struct{})
	ok := check()
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

// bytesText writes a size for people.
func bytesText(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	x, u := float64(n)/1024, 0
	for x >= 1024 && u < len(units)-1 {
		x, u = x/1024, u+1
	}
	return fmt.Sprintf("%.1f %ciB", x, units[u])
}
