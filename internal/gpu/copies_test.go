package gpu

import (
	"testing"
	"time"
)

// TestCopies: copies are read back from the lines of several GPUs.
func TestCopies(t *testing.T) {
	a, b := Copies{3 << 30, 2 * time.Second, time.Second}, Copies{1 << 30, 2 * time.Second, 2 * time.Second}
	var got Copies
	if !got.Read([]string{"other", a.Line(), "copied: 1", b.Line()}) || got != (Copies{4 << 30, 4 * time.Second, 3 * time.Second}) {
		t.Errorf("%+v from %q", got, a.Line())
	}
	if got.Rate() != 1 || got.Overlap() != 0.75 {
		t.Error(got.Rate(), got.Overlap())
	}
	if got.Read([]string{"other"}) || got.Rate() != 0 || got.Overlap() != 0 {
		t.Errorf("%+v of no line", got)
	}
}
