// Package emu runs GPU kernels on the processor: it is the emulated device. Tests use it on machines without
// a GPU. It runs the same kernels as a GPU, and is slow, small and strict.
//
// The machine's C++ compiler compiles kernels together with base/device_emu.cuh of package kernels. Package
// cuda loads and launches them as on a GPU. In the run-time system (runtime/) a lane is a fiber with a stack
// of its own. Lanes of a warp, warps of a block and blocks of the grid interleave. Blocks that do not fit on
// the multiprocessors wait until others have returned.
//
// Some mistakes are undefined on a GPU, or have no visible effect. Here each is an error that names the lanes
// and lines:
//
//   - a collective that some of its lanes do not reach;
//   - a shuffle from a lane outside the mask;
//   - an access outside an allocation, or to freed memory;
//   - a launch that cannot go on.
//
// Fresh memory, of the device and shared, is filled with 0xa5.
//
// With a Seed, lanes and warps run in a random order, and asynchronous copies arrive as late as they may.
// This finds missing barriers cheaply. With Sanitize, the device is a process of its own at the other end of
// a pipe, built with the compiler's sanitizers.
//
// The package must not know graphs, plans or engines.
package emu

import (
	"fmt"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/runtime/code"
)

// Options describe the device. The zero value of each means its default.
type Options struct {
	SMs            int   // multiprocessors; 4
	BlocksPerSM    int   // blocks at once on one, at most; 2
	ThreadsPerSM   int   // threads at once on one, at most; 1024, which is also the most that a block has
	Threads        int   // threads of the host that the multiprocessors are spread over; 2. With 1, a Seed repeats a run exactly
	Memory         int64 // bytes of device memory; 512 MiB
	SharedPerBlock int   // bytes of shared memory of a block, at most; 96 KiB. A multiprocessor has twice that

	Seed     uint64        // not 0: lanes, warps and copies in a random order
	Patience time.Duration // a launch in which nothing happens for so long is given up; 30 s, sanitized 2 min
	Optimize string        // the compiler's level, "-O1"; for kernels whose speed matters "-O2"
	Sanitize Sanitizer     // a device of its own process, checked by the compiler's sanitizer

	Objects *native.Cache // keeps the run-time system and kernels; in memory, for this device alone
}

// Sanitizer names the checker of memory accesses of a device's kernels.
type Sanitizer string

// The sanitizers of gcc and clang. Strict is also the thread sanitizer.
const (
	NoSanitizer Sanitizer = ""
	Address     Sanitizer = "address,undefined" // accesses outside allocations, and undefined behaviour of C++
	Thread      Sanitizer = "thread"            // two lanes at the same memory without a collective, barrier or atomic operation
	Strict      Sanitizer = "strict"            // Thread, to which votes and shuffles order nothing, as racecheck has it
)

// Open opens an emulated device. The error is cuda.ErrNoCompiler where the machine has no C++ compiler, or none
// with the sanitizer.
func Open(o Options) (*cuda.Device, error) {
	if o.Objects == nil {
		o.Objects = shared()
	}
	b, err := Backend(o)
	if err != nil {
		return nil, err
	}
	return cuda.New(b, o.Objects.Images)
}

func (o Options) withDefaults() (Options, error) {
	set := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	set(&o.SMs, 4)
	set(&o.BlocksPerSM, 2)
	set(&o.ThreadsPerSM, 1024)
	set(&o.Threads, 2)
	set(&o.SharedPerBlock, 96<<10)
	if o.Memory == 0 {
		o.Memory = 512 << 20
	}
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
		if o.Sanitize != NoSanitizer {
			o.Patience *= 4
		}
	}
	if o.Optimize == "" {
		o.Optimize = "-O1"
	}
	if o.Objects == nil {
		o.Objects = shared()
	}
	if o.SMs < 0 || o.BlocksPerSM < 0 || o.ThreadsPerSM < 32 || o.Threads < 0 || o.Memory < 0 || o.SharedPerBlock < 0 || o.Patience < 0 {
		return o, fmt.Errorf("emu: options %+v", o)
	}
	return o, nil
}

// shared is the cache of devices that name none. The run-time system is loaded once a process by it: the system takes no
// library back, and has room for the thread-local variables of a few alone.
var shared = sync.OnceValue(func() *native.Cache { return native.NewCache(code.New("")) })
