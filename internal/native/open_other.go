//go:build nogpu || !((linux || darwin) && (amd64 || arm64))

package native

import (
	"fmt"
	"runtime"

	"github.com/weftgraph/weft/internal/vfs"
)

// loads says why no code can be loaded here: shared objects are opened by the C library's
// loader, which a program that is linked to no library does not have.
func loads() error {
	if (runtime.GOOS == "linux" || runtime.GOOS == "darwin") && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64") {
		return fmt.Errorf("%w that could be used: this build, with the tag nogpu, cannot load shared objects, and so runs neither generated C nor GPUs", ErrNoCompiler)
	}
	return fmt.Errorf("%w that could be used: generated C runs on Linux and macOS, on x86-64 and arm64", ErrNoCompiler)
}

// Open says that code cannot be loaded here.
func Open([]byte) (*Library, error) { return nil, loads() }

func open(vfs.FS, []byte) (*Library, error) { return nil, loads() }

// Symbol is never called, because no library can be opened.
func (l *Library) Symbol(name string) (uintptr, error) { return 0, ErrNoCompiler }

func call(uintptr, ...uintptr) uintptr { panic("native: no code can be loaded here") }

func callback(func(run, worker, rows uintptr) uintptr) uintptr { return 0 }
