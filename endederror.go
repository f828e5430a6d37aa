package weft

import (
	"context"
	"errors"
)

// endedError is the error of a call that its context has ended. It is both ctx.Err(),
// which is context.Canceled or context.DeadlineExceeded, and the cause.
type endedError struct{ err, cause error }

func (e *endedError) Error() string { return e.cause.Error() }

func (e *endedError) Unwrap() []error { return []error{e.err, e.cause} }

// endedBy makes *err, of a call with ctx, an endedError where the end of ctx is what it
// is about: every call reports that in the same way.
func endedBy(ctx context.Context, err *error) {
	if *err == nil || ctx.Err() == nil {
		return
	}
	cause := context.Cause(ctx)
	for _, end := range []error{context.Canceled, context.DeadlineExceeded, cause} {
		if errors.Is(*err, end) {
			*err = &endedError{ctx.Err(), cause}
			return
		}
	}
}
