//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import (
	"errors"
	"os"

	"github.com/weftgraph/weft/internal/vfs"
)

// There are no locks here, so that nothing is swept.

func lock(vfs.File) bool { return true }

func sweepFile(vfs.FS, string) {}

// rename closes the file first: Windows moves no open file.
func rename(fsys vfs.FS, f vfs.File, from, to string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return fsys.Rename(from, to)
}

func removeOpen(fsys vfs.FS, f vfs.File, path string) {
	_ = f.Close()
	_ = fsys.RemoveAll(path)
}

func sameGroup(vfs.File, os.FileInfo) bool { return true }

func duplicate(_ int, name string) (vfs.File, error) {
	return nil, &os.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}
