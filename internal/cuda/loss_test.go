package cuda

import (
	"errors"
	"testing"
)

// TestJoin: that a device was lost before is not said where the error by which it was lost is there.
func TestJoin(t *testing.T) {
	lost, other := &Error{Op: "copy", Kind: ErrLost, Lost: true}, errors.New("another")
	since := &sinceError{Info{}, lost}
	for _, c := range []struct {
		errs []error
		want []error
	}{
		{nil, nil},
		{[]error{nil, nil}, nil},
		{[]error{nil, lost, since, since}, []error{lost}},
		{[]error{errors.Join(other, lost), since}, []error{other, lost}},
		{[]error{since, other, since}, []error{since, other}},
		{[]error{since, &sinceError{Info{}, other}}, []error{since, &sinceError{Info{}, other}}},
	} {
		got, want := Join(c.errs...), errors.Join(c.want...)
		if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
			t.Errorf("%v: %v, want %v", c.errs, got, want)
		}
	}
}
