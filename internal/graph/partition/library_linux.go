//go:build (amd64 || arm64) && !nogpu

package partition

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// libraryNames are METIS's names for the loader.
var libraryNames = []string{"libmetis.so.5", "libmetis.so"}

// openLibrary stays on one thread, since the loader keeps the reason of a failure for the thread that
// it happened on.
func openLibrary(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func findSymbol(handle uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(handle, name)
}

// call calls a C function. Pointers among the arguments are converted in the call itself, so that
// the memory behind them stays in place until call returns.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}
