//go:build !((linux || darwin) && (amd64 || arm64))

package native

import "fmt"

// Open says that code cannot be loaded here.
func Open([]byte) (*Library, error) {
	return nil, fmt.Errorf("%w: generated C runs on Linux and macOS, on x86-64 and arm64", ErrNoCompiler)
}

// Symbol is never reached: there is no library.
func (l *Library) Symbol(name string) (uintptr, error) { return 0, ErrNoCompiler }

func call(uintptr, ...uintptr) uintptr { panic("native: no code can be loaded here") }

func callback(func(run, worker, rows uintptr) uintptr) uintptr { return 0 }
