//go:build (linux || darwin) && (amd64 || arm64) && !nogpu

package native

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ebitengine/purego"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/vfs"
)

// loads says why no code can be loaded here: it can.
func loads() error { return nil }

// Open loads a shared object into this process, where it stays. The file that the
// loader reads lies in a folder that no other user can write.
func Open(image []byte) (*Library, error) { return open(vfs.OS{}, image) }

func open(fsys vfs.FS, image []byte) (*Library, error) {
	refused := func(err error) error { return fmt.Errorf("%w that can be used: %w", ErrNoCompiler, err) }
	dir, err := disk.NewTempDir(fsys, "code")
	if err != nil {
		return nil, refused(err)
	}
	defer dir.Remove()
	path := filepath.Join(dir.Path, "code.so")
	if err := vfs.WriteFile(fsys, path, image, 0o600); err != nil {
		return nil, refused(dir.Explain(err))
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	switch {
	case err == nil:
		return &Library{handle}, nil
	case disk.NoExec(dir.Path):
		err = dir.Explain(errors.New("it is mounted noexec: no code can be loaded from there"))
	}
	return nil, refused(err)
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
