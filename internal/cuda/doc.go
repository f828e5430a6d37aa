// Package cuda drives NVIDIA GPUs without cgo and without a toolkit. It opens the driver and the run-time
// compiler (NVRTC) when the program runs, so that one binary serves machines with and without a GPU.
//
// A Device is one goroutine locked to its thread, because a CUDA context belongs to a thread. Work for a
// device is a function given to Do; every other call of this package is made inside such a function.
//
// Backend is the interface to a GPU or to the emulated device of package emu. A backend makes no decisions.
// Caches, checks and lasting errors are above it, and are the same for all backends.
//
// The package knows memory, streams, events, kernels and their images. It must not know graphs or plans.
// Names and meanings are those of the manuals of the CUDA driver API and of NVRTC (docs.nvidia.com/cuda).
package cuda
