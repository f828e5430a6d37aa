package cuda

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// Costs on a GPU: ./cuda.test -test.run '^$' -test.bench GPU

func BenchmarkGPUOpen(b *testing.B) {
	gpu(b, 0).Close() // so that others' contexts do not keep the device warm
	for b.Loop() {
		d, err := Open(0, nil)
		if err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
}

func BenchmarkGPUDo(b *testing.B) {
	d := gpu(b, 0)
	for b.Loop() {
		do(b, d, func(*Context) error { return nil })
	}
}

// Launches one after the other, so that the queue is mostly full; then one at a time, waited for.
func BenchmarkGPULaunch(b *testing.B) {
	for _, wait := range []bool{false, true} {
		b.Run(fmt.Sprintf("wait=%v", wait), func(b *testing.B) {
			d := gpu(b, 0)
			do(b, d, func(c *Context) error {
				k, p := gpuKernel(b, c, "add"), &addParams{}
				for b.Loop() {
					if err := k.Launch(Launch{Blocks: 1, Threads: 32}, p); err != nil {
						return err
					}
					if wait {
						if err := c.Main().Synchronize(); err != nil {
							return err
						}
					}
				}
				return c.Synchronize()
			})
		})
	}
}

func BenchmarkGPUTransfer(b *testing.B) {
	for _, size := range []int{4 << 10, 1 << 20, 64 << 20, 1 << 30} {
		for _, up := range []bool{true, false} {
			b.Run(fmt.Sprintf("upload=%v/%d", up, size), func(b *testing.B) {
				d := gpu(b, 0)
				host := make([]byte, size)
				for i := range host {
					host[i] = byte(i)
				}
				do(b, d, func(c *Context) error {
					buffer, err := c.Alloc(int64(size))
					if err != nil {
						return err
					}
					b.SetBytes(int64(size))
					for b.Loop() {
						if up {
							err = Upload(c, buffer, 0, host)
						} else {
							err = Download(c, host, buffer, 0)
						}
						if err != nil {
							return err
						}
					}
					return c.Free(buffer)
				})
			})
		}
	}
}

func BenchmarkGPUMemory(b *testing.B) {
	for _, size := range []int64{1 << 20, 1 << 30} {
		b.Run(fmt.Sprintf("device/%d", size), func(b *testing.B) {
			do(b, gpu(b, 0), func(c *Context) error {
				for b.Loop() {
					buffer, err := c.Alloc(size)
					if err := errors.Join(err, c.Free(buffer)); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	b.Run(fmt.Sprintf("pinned/%d", 64<<20), func(b *testing.B) {
		do(b, gpu(b, 0), func(c *Context) error {
			for b.Loop() {
				p, err := c.Pinned(64 << 20)
				if err != nil {
					return err
				}
				if err := p.Free(); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// From the text to a kernel: compiled, taken from disk, taken from the device.
func BenchmarkGPUModule(b *testing.B) {
	for _, kept := range []string{"compiled", "disk", "device"} {
		b.Run(kept, func(b *testing.B) {
			d := gpu(b, 0)
			dir := b.TempDir()
			n := 0
			for b.Loop() {
				src := Source{Name: "test.cu", Text: gpuKernels}
				switch kept {
				case "compiled":
					n++
					src.Text += fmt.Sprint("// ", n, time.Now())
				case "disk": // another process, as far as caches go
					d.modules.images, d.modules.byKey = code.New(dir), nil
				}
				do(b, d, func(c *Context) error {
					m, err := c.Module(src)
					if err != nil {
						return err
					}
					_, err = m.Kernel("add")
					return err
				})
			}
		})
	}
}
