//go:build unix

package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// CanMap reports whether Map maps files, rather than copy them.
const CanMap = true

func mapFile(f File, size int64) ([]byte, func([]byte) error, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return b, unix.Munmap, nil
}
