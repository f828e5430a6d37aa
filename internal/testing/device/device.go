// Package device opens the devices that tests of GPU code run on. These are the emulated one
// everywhere, and a GPU where there is one. A test whose device is missing is skipped, and says so.
//
// Three variables change that:
//
//	WEFT_REQUIRE_GPU=1          only the GPU, and its absence is a failure
//	WEFT_TEST_SEED=7            the seed of the shuffled schedule and of tests that draw
//	WEFT_TEST_SANITIZE=address  the emulated device with the compiler's sanitizer; thread or strict
package device

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/runtime/code"
	"github.com/weftgraph/weft/internal/testing/long"
)

// Required reports whether the tests are there for the GPU: sizes can be those
// that only a GPU masters.
func Required() bool { return os.Getenv("WEFT_REQUIRE_GPU") != "" }

// Seed is the seed of the shuffled schedule, and of random choices of tests.
func Seed() uint64 {
	text := os.Getenv("WEFT_TEST_SEED")
	if text == "" {
		return 20261121
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil || seed == 0 {
		panic("WEFT_TEST_SEED=" + text + ": a number from 1 on")
	}
	return seed
}

// Each runs f on each device as a subtest: "emulated", with lanes in order;
// "shuffled", with lanes, warps and asynchronous copies in random order; and
// "gpu". Short tests leave out the first, of which the second finds more. A device
// must have no memory in use when f returns.
func Each(t *testing.T, f func(t *testing.T, d *cuda.Device)) {
	t.Helper()
	for _, k := range []struct {
		name string
		open func(t testing.TB) *cuda.Device
	}{
		{"emulated", func(t testing.TB) *cuda.Device {
			long.Only(t, "the shuffled device has to do")
			return Emulated(t, emu.Options{})
		}},
		{"shuffled", func(t testing.TB) *cuda.Device { return Emulated(t, emu.Options{Seed: Seed()}) }},
		{"gpu", GPU},
	} {
		t.Run(k.name, func(t *testing.T) {
			d := k.open(t)
			before := d.InUse()
			defer func() {
				if n := d.InUse(); n != before {
					t.Errorf("%d bytes are still in use", n-before)
				}
			}()
			f(t, d)
		})
	}
}

// Several runs f with several devices of one kind. First these are emulated devices. Then they
// are the first GPU, opened once for each core up to twelve times, since each device compiles
// for itself. racecheck has it once: it loses launches of several contexts at a time, and may
// then wait for ever.
func Several(t *testing.T, f func(t *testing.T, devices []*cuda.Device)) {
	t.Helper()
	t.Run("emulated", func(t *testing.T) {
		f(t, []*cuda.Device{Emulated(t, emu.Options{}), Emulated(t, emu.Options{})})
	})
	t.Run("gpu", func(t *testing.T) {
		var devices []*cuda.Device
		most := 12
		if os.Getenv("WEFT_RACECHECK") != "" {
			most = 1
		}
		for range min(most, runtime.NumCPU()) {
			d, err := cuda.Open(0, Objects().Images)
			skipWithout(t, err)
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
			devices = append(devices, d)
		}
		f(t, devices)
	})
}

// Emulated opens an emulated device for the test, with the sanitizer that
// WEFT_TEST_SANITIZE names where the options have none.
func Emulated(t testing.TB, o emu.Options) *cuda.Device {
	t.Helper()
	d, err := cuda.New(Backend(t, o), Objects().Images)
	skipWithout(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Backend is Emulated before it is opened, for cuda.New over a wrapper such as
// cuda.Faults.
func Backend(t testing.TB, o emu.Options) cuda.Backend {
	t.Helper()
	if Required() {
		t.Skip("only the GPU is asked for")
	}
	if o.Sanitize == emu.NoSanitizer {
		switch s := os.Getenv("WEFT_TEST_SANITIZE"); s {
		case "":
		case "address":
			o.Sanitize = emu.Address
		case "thread":
			o.Sanitize = emu.Thread
		case "strict":
			o.Sanitize = emu.Strict
		default:
			t.Fatalf("WEFT_TEST_SANITIZE=%s: address, thread or strict", s)
		}
	}
	o.Objects = Objects()
	b, err := emu.Backend(o)
	skipWithout(t, err)
	return b
}

// Objects keeps the code that the tests of this process compile.
func Objects() *native.Cache { return objects() }

var objects = sync.OnceValue(func() *native.Cache { return native.NewCache(code.New(code.Folder(""))) })

var gpu struct {
	sync.Mutex
	d *cuda.Device
}

// GPU is the first GPU of the machine, which stays open for all tests of the
// process.
func GPU(t testing.TB) *cuda.Device {
	t.Helper()
	gpu.Lock()
	defer gpu.Unlock()
	if gpu.d == nil || gpu.d.Do(func(*cuda.Context) error { return nil }) != nil {
		d, err := cuda.Open(0, Objects().Images)
		skipWithout(t, err)
		gpu.d = d
	}
	return gpu.d
}

// skipWithout skips the test if the machine lacks the device's needs, unless the device is
// required. It ends the test with any other error.
func skipWithout(t testing.TB, err error) {
	t.Helper()
	missing := errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) || errors.Is(err, cuda.ErrNoCompiler)
	if missing && !Required() {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
