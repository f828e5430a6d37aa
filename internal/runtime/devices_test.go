package runtime

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
)

// TestBegin: devices that begin to open early are those that are wanted later, or
// the error that says why there are none.
func TestBegin(t *testing.T) {
	r := New(Options{})
	defer r.Close()
	for _, name := range []string{"", "auto", "cpu", "gpu:x"} {
		r.Begin(name, 0)
		if r.current(nil) != nil {
			t.Errorf("%q opens GPUs", name)
		}
	}
	r.Begin("gpu:0", 0)
	s, err := r.Session(t.Context(), "gpu:0", 0, nil)
	if err != nil {
		if !errors.Is(err, ErrDevice) || !errors.Is(err, cuda.ErrNoDriver) && !errors.Is(err, cuda.ErrNoDevice) {
			t.Error(err)
		}
		return
	}
	if again, err := r.Session(t.Context(), "gpu:0", 0, nil); err != nil || again != s {
		t.Errorf("another session: %v", err)
	}
}

// TestWaits: each wait goes to the query that had it; one that no query had is told once.
func TestWaits(t *testing.T) {
	r := New(Options{})
	defer r.Close()
	var w Waits
	_ = r.CheckDevice(t.Context(), "gpu:0", &w)
	if w.Driver <= 0 || w.Devices != 0 {
		t.Errorf("waited %v for the driver and %v for devices", w.Driver, w.Devices)
	}
	r.Waited(w)
	w = Waits{}
	_, _ = r.Session(t.Context(), "gpu:0", 0, &w)
	if w.Driver != 0 || w.Devices <= 0 {
		t.Errorf("waited %v for the driver and %v for devices", w.Driver, w.Devices)
	}
	if first, again := r.Early(), r.Early(); first <= 0 || again != 0 {
		t.Errorf("early %v, and %v again", first, again)
	}
}
