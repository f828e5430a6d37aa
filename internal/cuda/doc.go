// Package cuda drives NVIDIA GPUs without cgo and without a toolkit: it opens the driver and the run-time
// compiler (NVRTC) when the program runs, so that one binary serves machines with and without a GPU.
//
// A Device is one goroutine locked to its thread, since a CUDA context belongs to a thread. Work for it is a
// function given to Do; all else here is called inside such a function. What differs between a GPU and the
// emulated device of package emu is behind Backend, which has no policy: caches, checks and errors that stay
// are above it, once.
//
// The package knows memory, streams, events, kernels and their images. It knows nothing of graphs or plans.
// Names and meanings are those of the CUDA driver API and NVRTC manuals (docs.nvidia.com/cuda).
package cuda
