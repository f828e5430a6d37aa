package kernels_test

import (
	"errors"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
)

// raw is the memory of a slice.
func raw[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), uintptr(len(s))*unsafe.Sizeof(s[0]))
}

// buffers are the device's copies of a launch's memory.
type buffers struct {
	c    *cuda.Context
	all  []cuda.Buffer
	back []func() error
	err  error
}

// in is the address of a copy of data on the device.
func (b *buffers) in(data []byte) uint64 {
	if b.err != nil {
		return 0
	}
	buf, err := b.c.Alloc(int64(len(data)))
	if err != nil {
		b.err = err
		return 0
	}
	b.all = append(b.all, buf)
	b.err = cuda.Upload(b.c, buf, 0, data)
	return buf.Ptr
}

// out is in, and the copy is copied back after the launch.
func (b *buffers) out(data []byte) uint64 {
	at := b.in(data)
	if b.err == nil && len(data) > 0 {
		buf := b.all[len(b.all)-1]
		b.back = append(b.back, func() error { return cuda.Download(b.c, data, buf, 0) })
	}
	return at
}

// launch runs a kernel of a text once; args places its memory.
func launch(c *cuda.Context, text, name string, blocks, threads, shared int, args func(b *buffers) any) (err error) {
	b := &buffers{c: c}
	defer func() {
		for _, buf := range b.all {
			err = errors.Join(err, c.Free(buf))
		}
	}()
	m, err := c.Module(cuda.Source{Name: "test.cu", Text: text, Includes: kernels.Includes(text), Debug: true})
	if err != nil {
		return err
	}
	defer m.Close()
	k, err := m.Kernel(name)
	if err != nil {
		return err
	}
	p := args(b)
	if b.err != nil {
		return b.err
	}
	if err := k.Launch(cuda.Launch{Blocks: blocks, Threads: threads, Shared: shared}, p); err != nil {
		return err
	}
	if err := c.Synchronize(); err != nil {
		return err
	}
	for _, f := range b.back {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}
