package device

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
)

// Skipping runs f on emulated devices that accept launches and run no kernel: from the first
// launch on, from the second, and so on. If f gets no error, it checks its counts. Its error
// must be that of a failed launch, and must come unless everything that counts is done.
func Skipping(t *testing.T, f func(d *cuda.Device) error) {
	t.Helper()
	for n := 1; ; n++ {
		faults := &cuda.Faults{Backend: Backend(t, emu.Options{}), SkipFrom: n}
		d, err := cuda.New(faults, Objects().Images)
		skipWithout(t, err)
		err = f(d)
		if err != nil && !errors.Is(err, cuda.ErrLaunch) {
			t.Errorf("without launches from %d on: %v", n, err)
		}
		if err == nil && n == 1 {
			t.Error("no kernel ran, and there is no error")
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if n > faults.Launches() {
			if err != nil {
				t.Errorf("all of %d launches: %v", n-1, err)
			}
			return
		}
	}
}
