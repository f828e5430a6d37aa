//go:build linux && (amd64 || arm64)

package emu

import (
	"bytes"
	"unsafe"

	"github.com/weftgraph/weft/internal/dynlib"
	"github.com/weftgraph/weft/internal/native"
)

// errorBytes is ERROR_BYTES of runtime/api.cpp.
const errorBytes = 8192

// inside is the run-time system loaded into this process.
type inside struct {
	entry  uintptr
	device uintptr
	text   [errorBytes]byte
}

func openLibrary(c *compiler, objects *native.Cache) (system, error) {
	entry, err := c.library(objects)
	if err != nil {
		return nil, err
	}
	return &inside{entry: entry}, nil
}

func (s *inside) call(op uint32, a *args, in, out []byte) (int, string) {
	status := int32(dynlib.Call(s.entry, uintptr(unsafe.Pointer(&s.device)), uintptr(op), uintptr(unsafe.Pointer(a)),
		uintptr(unsafe.Pointer(unsafe.SliceData(in))), uintptr(len(in)), uintptr(unsafe.Pointer(unsafe.SliceData(out))), uintptr(len(out)),
		uintptr(unsafe.Pointer(&s.text))))
	if status == statusOK {
		return statusOK, ""
	}
	text, _, _ := bytes.Cut(s.text[:], []byte{0})
	return int(status), string(text)
}

func (s *inside) pinName(int) string { return "" }

func (s *inside) end() error { return nil }
