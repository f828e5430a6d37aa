//go:build (linux || darwin) && (amd64 || arm64) && !nogpu

package dynlib

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// Available tells whether this build can open shared libraries.
const Available = true

// Open opens a library by its path, or by a name that the system's loader knows. It stays on one thread, since
// the loader keeps the reason of a failure for the thread that it happened on.
func Open(name string) (Library, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	return Library{handle}, err
}

// Close gives the library back; its functions must not be called any more.
func (l Library) Close() { _ = purego.Dlclose(l.handle) }

// Symbol returns the address of a function.
func (l Library) Symbol(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(l.handle, name)
}
