// Package device opens the devices that tests of GPU code run on: the emulated
// device with lanes in order, the same with lanes, warps and copies in a random
// order, and the machine's GPU, if it has one.
package device

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
)

// Seed is the order of the emulated device's random schedule. A test that fails
// under it prints it.
const Seed = 20261121

// Each runs f as a subtest on every kind of device that there is. A device must
// have no memory in use when f returns.
func Each(t *testing.T, f func(t *testing.T, d *cuda.Device)) {
	for _, k := range []struct {
		name string
		open func() (*cuda.Device, error)
	}{
		{"emulated", func() (*cuda.Device, error) { return emu.Open(emu.Options{}) }},
		{"shuffled", func() (*cuda.Device, error) { return emu.Open(emu.Options{Seed: Seed}) }},
		{"gpu", func() (*cuda.Device, error) { return cuda.Open(0) }},
	} {
		t.Run(k.name, func(t *testing.T) {
			d, err := k.open()
			if errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) || errors.Is(err, cuda.ErrNoCompiler) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if n := d.InUse(); n != 0 {
					t.Errorf("%d bytes are still in use", n)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}()
			f(t, d)
		})
	}
}
