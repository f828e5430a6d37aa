package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/vfs"
)

// await returns the result of f, or the cause of ctx's end if that comes first. f, which may
// not look at ctx, then continues until the process ends. It does not begin once ctx has ended.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	type outcome struct {
		x        T
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			done <- o
		}()
		o.x, o.err = f()
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.x, o.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// reading is the context for reading the graph, patterns or a program.
func (a *app) reading(f *commonFlags) (context.Context, context.CancelFunc) {
	if a.patient {
		return context.WithCancel(a.ctx)
	}
	return a.within(a.ctx, f)
}

// within returns a context that ends after the timeout. From then on messages do not wait
// for their reader either.
func (a *app) within(ctx context.Context, f *commonFlags) (context.Context, context.CancelFunc) {
	ctx, cancel := f.within(ctx)
	end := a.stderr.end // not that of a later statement
	context.AfterFunc(ctx, func() {
		if context.Cause(ctx) == errTimeout {
			end(errTimeout)
		}
	})
	return ctx, cancel
}

// whileReading is err, of reading something within ctx, or how that was cut short.
func (a *app) whileReading(ctx context.Context, what string, err error) error {
	switch cut := a.interruption(ctx, err); {
	case err == nil:
		return nil
	case cut == errTimeout:
		return kindf(errTimeout, "--timeout passed while reading %s", what)
	case cut != nil:
		return kindf(cut, "%v while reading %s", cut, what)
	}
	return err
}

// mostText is how many bytes a list for a program may have, and mostProgram a program:
// more, or an endless one, would fill the memory.
const (
	mostText    = 1 << 30
	mostProgram = 64 << 20
)

// readText reads a program that the command line names.
func (a *app) readText(ctx context.Context, path string) ([]byte, error) {
	data, err := ctxio.ReadFile(ctx, vfs.From(ctx), path, mostProgram)
	if errors.Is(err, ctxio.ErrTooLong) {
		err = fmt.Errorf("%s has more than %d MiB", path, mostProgram>>20)
	}
	return data, a.whileReading(ctx, path, err)
}
