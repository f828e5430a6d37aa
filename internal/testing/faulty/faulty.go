// Package faulty runs engines on an emulated device that refuses calls.
package faulty

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/testing/device"
)

// Count runs a search in a session on an emulated device with faults, and returns its error. It
// fails the test unless
//
//   - run gives want and no error, or an error and no number;
//   - nothing is left on the device afterwards, unless the device is lost;
//   - after an error, a second run in the same session takes nothing half made for whole.
func Count(t *testing.T, f *cuda.Faults, want engine.Uint128, run func(*session.Session) (engine.Result, error)) error {
	t.Helper()
	f.Backend = device.Backend(t, emu.Options{})
	d, err := cuda.New(f, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := session.Open([]*cuda.Device{d}, session.Options{})
	if err != nil {
		return err
	}
	got, err := run(s)
	switch {
	case err == nil && (got.Matches != want || !got.Complete):
		t.Errorf("%v, complete %v, and no error; want %v", got.Matches, got.Complete, want)
	case err != nil && (!got.Matches.IsZero() || got.Complete):
		t.Errorf("%v, complete %v, with error %v", got.Matches, got.Complete, err)
	case err != nil:
		if again, failed := run(s); failed == nil && again.Matches != want {
			t.Errorf("%v matches after error %v, want %v", again.Matches, err, want)
		}
	}
	if closed := s.Close(); err == nil {
		err = closed
	}
	if n := d.InUse(); n != 0 && !errors.Is(err, cuda.ErrLost) {
		t.Errorf("%d bytes are in use after error %v", n, err)
	}
	return err
}

// Kinds returns faults of a device by name, each of the n-th call of its kind: memory that is refused, a launch that fails, all launches from
// one on that do nothing, and one that does nothing.
func Kinds() map[string]func(n int) *cuda.Faults {
	return map[string]func(n int) *cuda.Faults{
		"alloc":  func(n int) *cuda.Faults { return &cuda.Faults{FailAlloc: n} },
		"launch": func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} },
		"skip":   func(n int) *cuda.Faults { return &cuda.Faults{SkipFrom: n} },
		"gap":    func(n int) *cuda.Faults { return &cuda.Faults{SkipOne: n} },
	}
}
