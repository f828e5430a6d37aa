//go:build unix

package ctxio

import (
	"os"
	"syscall"
)

// meet ends the wait of a goroutine that opens a FIFO with these flags.
func meet(path string, flag int) {
	other := os.O_WRONLY
	if flag&os.O_WRONLY != 0 {
		other = os.O_RDONLY
	}
	if fd, err := syscall.Open(path, other|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0); err == nil {
		syscall.Close(fd)
	}
}
