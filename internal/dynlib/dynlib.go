// Package dynlib opens shared libraries while the program runs and calls their C functions, without cgo. Such libraries are
// the GPU driver, NVRTC, METIS, and generated C. It knows none of them.
//
// Linux, macOS and Windows are supported on x86-64 and arm64. Elsewhere, and in builds with the tag nogpu,
// which are static, Available is false and every call returns ErrUnavailable.
package dynlib

import "errors"

// ErrUnavailable says that this build cannot open shared libraries.
var ErrUnavailable = errors.New("this build cannot open shared libraries")

// A Library is an open shared library.
type Library struct{ handle uintptr }
