// Package emu is the emulated device: a machine without a GPU runs the very kernels that GPUs run, so that what
// surrounds a search, and the search itself, is tested everywhere. It is a test tool and no GPU: slow, small, strict.
//
// Kernels are compiled by the machine's C++ compiler together with base/device_emu.cuh of package kernels, and loaded
// and launched through package cuda as on a GPU. The run-time system under runtime/ makes a lane a fiber with a
// stack of its own. Lanes of a warp, warps of a block and blocks of the grid interleave; blocks that do not fit on
// the multiprocessors wait until others have returned. What a device leaves undefined or answers with silence is an
// error here, with the lanes and lines that it is about: collectives whose lanes do not come, shuffles from lanes
// outside the mask, memory beside an allocation, memory that was freed, a launch that cannot go on. Fresh memory,
// device and shared, is filled with 0xa5.
//
// With a Seed lanes and warps run in a random order and asynchronous copies arrive as late as they may: the cheap
// way to find a missing barrier. With Sanitize the device is a process of its own, built with the compiler's
// sanitizers, at the other end of a pipe.
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

// Sanitizer is what checks the memory accesses of a device's kernels.
type Sanitizer string

// The sanitizers of gcc and clang; Strict is that of threads, too.
const (
	NoSanitizer Sanitizer = ""
	Address     Sanitizer = "address,undefined" // accesses outside allocations, and what C++ leaves undefined
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
