// Package kind marks an error with its kind: usage, input, query, memory or device. The root package makes the errors
// of its API of the marks, and the command its exit codes.
//
// It knows errors. It must not know why one is of a kind: the package that returns the error says so.
package kind

import (
	"errors"

	"github.com/weftgraph/weft/internal/memory"
)

// Kind is a kind of errors.
type Kind uint8

// The kinds. An error without a mark has the kind None.
const (
	None   Kind = iota
	Usage       // an option that does not exist or fit
	Input       // a graph, or a file, that cannot be read
	Query       // a pattern that is wrong, or cannot be asked
	Memory      // the budget's, or the machine's, is not enough
	Device      // a device that is not there
)

// Error is an error with its kind.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its mark.
func (e *Error) Unwrap() error { return e.Err }

// With marks err as one of kind k, unless it has a kind already. It returns nil for nil.
func With(k Kind, err error) error {
	if err == nil || Of(err) != None {
		return err
	}
	return &Error{k, err}
}

// Of returns the kind of an error: its mark, or Memory where memory.Watch ended the call.
func Of(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.As(err, new(*memory.Overrun)):
		return Memory
	}
	return None
}
