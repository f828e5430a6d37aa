//go:build !unix

package graph

import (
	"io"
	"os"
)

// canMap says that mapFile copies.
const canMap = false

// mapFile reads the file: there is no mapping here.
func mapFile(f *os.File, size int64) ([]byte, func([]byte) error, error) {
	words := make([]uint64, (size+7)/8) // so that sections are aligned
	b := bigAsBytes(words)[:size]
	_, err := io.ReadFull(f, b)
	return b, func([]byte) error { return nil }, err
}
