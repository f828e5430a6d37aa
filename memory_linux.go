package weft

import (
	"bytes"
	"syscall"
)

// memoryInUse is the anonymous memory of this process in bytes.
func memoryInUse() int64 { return statusField("RssAnon:") }

// peakMemory is the largest resident set that this process had, in bytes.
func peakMemory() int64 { return statusField("VmHWM:") }

// statusField reads a field of /proc/self/status, which counts in KiB. It is read
// for each query, so that it takes no memory of its own.
func statusField(name string) int64 {
	fd, err := syscall.Open("/proc/self/status", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer syscall.Close(fd)
	var space [4096]byte // it has about 1500
	n, err := syscall.Read(fd, space[:])
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(space[:n], []byte(name))
	if !ok {
		return 0
	}
	kib := int64(0)
	for _, c := range bytes.TrimLeft(rest, " \t") {
		if c < '0' || c > '9' {
			break
		}
		kib = 10*kib + int64(c-'0')
	}
	return kib << 10
}
