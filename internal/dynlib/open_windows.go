//go:build (amd64 || arm64) && !nogpu

package dynlib

import "syscall"

// Available tells whether this build can open shared libraries.
const Available = true

// Open opens a library by its path, or by a name that the system's loader knows.
func Open(name string) (Library, error) {
	handle, err := syscall.LoadLibrary(name)
	return Library{uintptr(handle)}, err
}

// Close gives the library back; its functions must not be called any more.
func (l Library) Close() { _ = syscall.FreeLibrary(syscall.Handle(l.handle)) }

// Symbol returns the address of a function.
func (l Library) Symbol(name string) (uintptr, error) {
	return syscall.GetProcAddress(syscall.Handle(l.handle), name)
}
