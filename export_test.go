package weft

import (
	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/runtime"
)

// RuntimeOver makes a runtime in which open devices stand for the GPUs; see Instead.
func RuntimeOver(o RuntimeOptions, devices ...*cuda.Device) (*Runtime, error) {
	rt := NewRuntime(o)
	count := func() (int, error) { return len(devices), nil }
	rt.r = runtime.New(runtime.Options{Folder: rt.r.Objects.Images.Dir(), Count: count})
	return rt, rt.r.Instead(devices...)
}

// Instead has other devices stand for the GPUs, once those before have ended their runs.
func (rt *Runtime) Instead(devices ...*cuda.Device) error { return rt.r.Instead(devices...) }

// Compilers is the number of kernels that are compiled ahead at once, at most.
func (rt *Runtime) Compilers() int { return rt.r.Objects.Images.Compilers() }
