//go:build unix

package graph

import (
	"os"

	"golang.org/x/sys/unix"
)

// canMap says that mapFile maps.
const canMap = true

// mapFile maps a file of the given size for reading. The second result unmaps.
func mapFile(f *os.File, size int64) ([]byte, func([]byte) error, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return b, unix.Munmap, nil
}
