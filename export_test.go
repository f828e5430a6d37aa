package weft

import (
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/runtime"
)

// RuntimeOver returns a runtime whose GPUs are open devices of a test; see Instead.
func RuntimeOver(o RuntimeOptions, devices ...*cuda.Device) (*Runtime, error) {
	rt := NewRuntime(o)
	count := func() (int, error) { return len(devices), nil }
	rt.r = runtime.New(runtime.Options{Folder: rt.r.Objects.Images.Dir(), Count: count})
	return rt, rt.r.Instead(devices...)
}

// RuntimeOpening returns a runtime with one GPU, which open opens.
func RuntimeOpening(open func(int) (*cuda.Device, error)) *Runtime {
	rt := NewRuntime(RuntimeOptions{})
	rt.r = runtime.New(runtime.Options{Count: func() (int, error) { return 1, nil }, Open: open})
	return rt
}

// Instead replaces the GPUs by other devices, once runs on the devices before have ended.
func (rt *Runtime) Instead(devices ...*cuda.Device) error { return rt.r.Instead(devices...) }

// Compilers is the largest number of kernels that are compiled at the same time.
func (rt *Runtime) Compilers() int { return rt.r.Objects.Images.Compilers() }
