//go:build !nogpu

package cuda

import (
	"syscall"

	"github.com/ebitengine/purego"
)

// driverNames are the driver's library; the installer puts it into the system's directory.
var driverNames = []string{"nvcuda.dll"}

func openLibrary(name string) (uintptr, error) {
	h, err := syscall.LoadLibrary(name)
	return uintptr(h), err
}

func closeLibrary(handle uintptr) { syscall.FreeLibrary(syscall.Handle(handle)) }

func findSymbol(handle uintptr, name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(handle), name)
}

// call calls a C function. Pointers among the arguments are converted in the call itself, so that the
// memory behind them stays in place until call returns.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

func loadedFrom(name string) string { return name }
