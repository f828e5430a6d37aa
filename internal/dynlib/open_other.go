//go:build nogpu || !((linux || darwin || windows) && (amd64 || arm64))

package dynlib

// Available tells whether this build can open shared libraries.
const Available = false

// Open returns ErrUnavailable.
func Open(string) (Library, error) { return Library{}, ErrUnavailable }

// Close is never called, because no library can be opened.
func (Library) Close() {}

// Symbol returns ErrUnavailable.
func (Library) Symbol(string) (uintptr, error) { return 0, ErrUnavailable }

// Call is never called, because no library can be opened.
func Call(uintptr, ...uintptr) uintptr { panic(ErrUnavailable) }

// Callback is never called, because no library can be opened.
func Callback(any) uintptr { panic(ErrUnavailable) }
