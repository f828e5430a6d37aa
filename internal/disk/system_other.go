//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package disk

import (
	"errors"
	"os"
)

// There are no locks here, so that nothing is swept.

func lock(*os.File) bool { return true }

func sweepFile(string) {}

// rename closes the file first: Windows moves no open file.
func rename(f *os.File, from, to string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func removeOpen(f *os.File, path string) {
	_ = f.Close()
	_ = os.RemoveAll(path)
}

func sameGroup(*os.File, os.FileInfo) bool { return true }

func duplicate(_ int, name string) (*os.File, error) {
	return nil, &os.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}
