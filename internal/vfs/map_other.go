//go:build !unix

package vfs

import (
	"io"
	"unsafe"
)

// CanMap reports whether Map maps files, rather than copy them.
const CanMap = false

// mapFile reads the file, because this system has no mapping. The bytes are aligned for words.
func mapFile(f File, size int64) ([]byte, func([]byte) error, error) {
	words := make([]uint64, (size+7)/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:size]
	_, err := io.ReadFull(f, b)
	return b, func([]byte) error { return nil }, err
}
