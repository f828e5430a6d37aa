//go:build (linux || darwin || windows) && (amd64 || arm64) && !nogpu

package dynlib

import "github.com/ebitengine/purego"

// Call calls a C function with integers and pointers, and returns its result. Pointers among the arguments must be
// converted to uintptr in the call itself: then the memory behind them stays in place until Call returns.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// Callback returns a C function that calls f, a function of integers and pointers with one result. It is never
// given back: make few.
func Callback(f any) uintptr { return purego.NewCallback(f) }
