// Package testdevice gives tests the devices that they run on: the emulated one everywhere, and a GPU where there is
// one. What is missing is skipped visibly.
//
// Three variables change that:
//
//	WEFT_TEST_DEVICE=emulated   only the emulated device; gpu: only the GPU, and its absence is a failure
//	WEFT_TEST_SEED=7            the seed of the shuffled schedule; default 1
//	WEFT_TEST_SANITIZE=address  the emulated device with the compiler's sanitizer; or thread
package testdevice

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
)

// Each runs f on each device as a subtest: "emulated", with lanes in order; "shuffled", with lanes, warps and
// asynchronous copies in random order; and "gpu". The device is closed after f, apart from the GPU, which serves all
// tests of the process.
func Each(t *testing.T, f func(t *testing.T, d *cuda.Device)) {
	t.Helper()
	only := os.Getenv("WEFT_TEST_DEVICE")
	if only != "gpu" {
		t.Run("emulated", func(t *testing.T) { f(t, Emulated(t, emu.Options{})) })
		t.Run("shuffled", func(t *testing.T) { f(t, Emulated(t, emu.Options{Seed: Seed(t)})) })
	}
	if only != "emulated" {
		t.Run("gpu", func(t *testing.T) { f(t, GPU(t)) })
	}
}

// Emulated opens an emulated device for the test, with the sanitizer that WEFT_TEST_SANITIZE names where the options
// have none.
func Emulated(t testing.TB, o emu.Options) *cuda.Device {
	t.Helper()
	d, err := cuda.New(EmulatedBackend(t, o))
	if errors.Is(err, cuda.ErrNoCompiler) || errors.Is(err, cuda.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// EmulatedBackend is Emulated before it is opened, for cuda.New over a wrapper such as cuda.Faults.
func EmulatedBackend(t testing.TB, o emu.Options) cuda.Backend {
	t.Helper()
	if o.Sanitize == emu.NoSanitizer {
		switch s := os.Getenv("WEFT_TEST_SANITIZE"); s {
		case "":
		case "address":
			o.Sanitize = emu.Address
		case "thread":
			o.Sanitize = emu.Thread
		default:
			t.Fatalf("WEFT_TEST_SANITIZE=%s: address or thread", s)
		}
	}
	b, err := emu.Backend(o)
	if errors.Is(err, cuda.ErrNoCompiler) || errors.Is(err, cuda.ErrNoDevice) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Seed is the seed of the shuffled schedule.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("WEFT_TEST_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil || seed == 0 {
		t.Fatalf("WEFT_TEST_SEED=%s: a number from 1 on", text)
	}
	return seed
}

var gpu struct {
	sync.Mutex
	d *cuda.Device
}

// GPU is the first GPU of the machine, which stays open. Without one the test is skipped, or fails where
// WEFT_TEST_DEVICE=gpu asks for it.
func GPU(t testing.TB) *cuda.Device {
	t.Helper()
	gpu.Lock()
	defer gpu.Unlock()
	if gpu.d == nil || gpu.d.Do(func(*cuda.Context) error { return nil }) != nil {
		d, err := cuda.Open(0)
		if err != nil && os.Getenv("WEFT_TEST_DEVICE") != "gpu" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		gpu.d = d
	}
	return gpu.d
}
