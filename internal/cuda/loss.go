package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// sinceError is the error of an operation on a device that was lost before.
type sinceError struct {
	info Info
	lost error
}

func (e *sinceError) Error() string {
	return fmt.Sprintf("%v cannot be used since this error: %v", e.info, e.lost)
}

func (e *sinceError) Unwrap() error { return e.lost }

// cause is the error of a function in which the device was lost: that one error, for
// which all that is tried afterwards fails too, and errors of another origin. The
// function may have kept it to itself.
func (d *Device) cause(err error) error {
	var kept []error
	var texts []string
	for _, e := range joined(err) {
		var since *sinceError
		if errors.As(e, &since) && since.lost == d.lost || slices.Contains(texts, e.Error()) {
			continue
		}
		kept, texts = append(kept, e), append(texts, e.Error())
	}
	if !slices.ContainsFunc(kept, func(e error) bool { return errors.Is(e, ErrLost) }) {
		kept = slices.Insert(kept, 0, d.lost)
	}
	if len(kept) == 1 {
		return kept[0]
	}
	return errors.Join(kept...)
}

// Join makes one error of those of several functions on devices, nil where all are nil. An error that says
// only that a device was lost before is left out if the error by which it was lost, or the same
// error, is there already.
func Join(errs ...error) error {
	var kept []error
	for _, e := range joined(errors.Join(errs...)) {
		var since *sinceError
		if errors.As(e, &since) && slices.ContainsFunc(kept, func(k error) bool { return errors.Is(k, since.lost) }) {
			continue
		}
		kept = append(kept, e)
	}
	if len(kept) == 1 {
		return kept[0]
	}
	return errors.Join(kept...)
}

// joined are the errors that errors.Join made one of.
func joined(err error) (out []error) {
	if err == nil {
		return nil
	}
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var texts []string
	for _, e := range several.Unwrap() {
		out, texts = append(out, joined(e)...), append(texts, e.Error())
	}
	if err.Error() != strings.Join(texts, "\n") {
		return []error{err} // it says more than its parts
	}
	return out
}
