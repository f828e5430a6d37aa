//go:build (linux || darwin) && (amd64 || arm64) && !nogpu

package native

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ebitengine/purego"
)

// loads says why no code can be loaded here: it can.
func loads() error { return nil }

// Open loads a shared object into this process, where it stays.
func Open(image []byte) (*Library, error) {
	dir, err := os.MkdirTemp("", "weft-native-")
	if err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "code.so")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	return &Library{handle}, nil
}

// Symbol is the address of a function.
func (l *Library) Symbol(name string) (uintptr, error) {
	fn, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("native: %w", err)
	}
	return fn, nil
}

// call calls C.
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// callback is a C function that calls f.
func callback(f func(run, worker, rows uintptr) uintptr) uintptr { return purego.NewCallback(f) }
