package choose

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
)

// TestBegin: devices that begin to open early are those that are wanted later, or
// the error that says why there are none.
func TestBegin(t *testing.T) {
	for _, name := range []string{"", "auto", "cpu", "gpu:x"} {
		Begin(name, 0)
	}
	if open.TryLock() {
		open.Unlock()
	} else {
		t.Error("names without GPUs open some")
	}
	Begin("gpu:0", 0)
	s, err := sessionOn("gpu:0", 0)
	if err != nil {
		if !errors.Is(err, ErrDevice) || !errors.Is(err, cuda.ErrNoDriver) && !errors.Is(err, cuda.ErrNoDevice) {
			t.Error(err)
		}
		return
	}
	defer func() {
		open.Lock()
		defer open.Unlock()
		closeOpen()
	}()
	if again, err := sessionOn("gpu:0", 0); err != nil || again != s {
		t.Errorf("another session: %v", err)
	}
}

// TestWaited: a wait is told once.
func TestWaited(t *testing.T) {
	Waited()
	_ = CheckNames("", "gpu:0")
	if driver, devices := Waited(); driver <= 0 || devices != 0 {
		t.Errorf("waited %v for the driver and %v for devices", driver, devices)
	}
	_, _ = sessionOn("gpu:0", 0)
	if driver, devices := Waited(); driver != 0 || devices <= 0 {
		t.Errorf("waited %v for the driver and %v for devices", driver, devices)
	}
	if driver, devices := Waited(); driver != 0 || devices != 0 {
		t.Errorf("waited %v and %v again", driver, devices)
	}
}
