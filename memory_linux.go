package weft

import (
	"bytes"
	"slices"
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
	// It has about 1500 bytes, but a process may be in thousands of groups.
	var space [4096]byte
	text, n := space[:0], 1
	for n > 0 {
		if len(text) == cap(text) {
			text = slices.Grow(text, len(text))
		}
		if n, err = syscall.Read(fd, text[len(text):cap(text)]); err != nil {
			return 0
		}
		text = text[:len(text)+n]
	}
	_, rest, ok := bytes.Cut(text, []byte(name))
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
