package native

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/dynlib"
	"github.com/weftgraph/weft/internal/vfs"
)

// Library is a shared object in this process.
type Library struct{ dynlib.Library }

// loads says why no code can be loaded here, or nil.
func loads() error {
	switch known := (runtime.GOOS == "linux" || runtime.GOOS == "darwin") && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"); {
	case !known:
		return fmt.Errorf("%w that could be used: generated C runs on Linux and macOS, on x86-64 and arm64", ErrNoCompiler)
	case !dynlib.Available:
		return fmt.Errorf("%w that could be used: this build, with the tag nogpu, cannot load shared objects, and so runs neither generated C nor GPUs", ErrNoCompiler)
	}
	return nil
}

// Open loads a shared object into this process, where it stays. The file that the
// loader reads lies in a folder that no other user can write.
func Open(image []byte) (*Library, error) { return open(vfs.OS{}, image) }

func open(fsys vfs.FS, image []byte) (*Library, error) {
	if err := loads(); err != nil {
		return nil, err
	}
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
	l, err := dynlib.Open(path)
	switch {
	case err == nil:
		return &Library{l}, nil
	case disk.NoExec(dir.Path):
		err = dir.Explain(errors.New("it is mounted noexec: no code can be loaded from there"))
	}
	return nil, refused(err)
}

// Symbol returns the address of a function.
func (l *Library) Symbol(name string) (uintptr, error) {
	fn, err := l.Library.Symbol(name)
	if err != nil {
		return 0, fmt.Errorf("native: %w", err)
	}
	return fn, nil
}
