package stream

import (
	"errors"

	"github.com/weftgraph/weft/internal/format"
)

// InputError is a mistake in one update, after which the next one can be read. Its error is a *format.Error with file, line, byte and
// cause, or with file and row.
type InputError struct {
	Kind Kind
	Err  error
}

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns the error without its kind.
func (e *InputError) Unwrap() error { return e.Err }

// Kind is a kind of mistake in an update.
type Kind uint8

// Kinds of mistakes.
const (
	Malformed Kind = iota // the line or the row is not an update of the format
	BadID                 // a vertex id is missing, or is not of the graph's kind
	BadTime               // a time cannot be read
	BadText               // the line is too long, not UTF-8, or has control characters
	Late                  // the time is more than the lateness before an earlier one
	Kinds     = iota
)

// String returns the kind as summaries have it.
func (k Kind) String() string {
	return [...]string{"malformed", "bad_id", "bad_time", "bad_text", "late"}[k]
}

// kinded is an error whose kind is not that of its cause.
type kinded struct {
	kind Kind
	error
}

func (e *kinded) Unwrap() error { return e.error }

// kindOf returns the kind of a mistake by its causes.
func kindOf(err error) Kind {
	var k *kinded
	switch {
	case errors.Is(err, format.ErrLongLine), errors.Is(err, format.ErrNotText), errors.Is(err, format.ErrUTF8):
		return BadText
	case errors.As(err, &k):
		return k.kind
	}
	return Malformed
}
