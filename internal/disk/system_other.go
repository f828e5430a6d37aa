//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import (
	"errors"
	"os"

	"github.com/weftgraph/weft/internal/vfs"
)

// This system has no locks, so nothing is swept.

func lock(vfs.File) bool { return true }

func sweepFile(vfs.FS, string) {}

func hold(vfs.File) (release func()) { return func() {} }

func removeOpen(fsys vfs.FS, f vfs.File, path string) {
	_ = f.Close()
	_ = fsys.RemoveAll(path)
}

func sameGroup(vfs.File, os.FileInfo) bool { return true }

func duplicate(_ int, name string) (vfs.File, error) {
	return nil, &os.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}
