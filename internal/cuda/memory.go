package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/weftgraph/weft/internal/memory"
)

// Buffer is a piece of device memory. Ptr is its device address, Size its bytes. The zero Buffer is empty.
type Buffer struct {
	Ptr  uint64
	Size int64
}

// Alloc takes device memory; its contents are unknown. Zero bytes give the empty buffer, whose address is null.
func (c *Context) Alloc(bytes int64) (Buffer, error) {
	if err := c.d.ready(); err != nil {
		return Buffer{}, err
	}
	if bytes < 0 {
		return Buffer{}, fmt.Errorf("cuda: alloc of %d bytes", bytes)
	}
	if bytes == 0 {
		return Buffer{}, nil
	}
	ptr, err := c.d.backend.Alloc(bytes)
	if err != nil {
		return Buffer{}, c.d.note(err)
	}
	c.d.buffers[ptr] = bytes
	c.d.inUse.Add(bytes)
	return Buffer{Ptr: ptr, Size: bytes}, nil
}

// Free frees a buffer. b must be a result of Alloc, or the empty buffer.
func (c *Context) Free(b Buffer) error {
	if err := c.d.ready(); err != nil {
		return err
	}
	if b == (Buffer{}) {
		return nil
	}
	if size, ok := c.d.buffers[b.Ptr]; !ok || size != b.Size {
		return fmt.Errorf("cuda: free of %d bytes at %#x, which are not allocated", b.Size, b.Ptr)
	}
	delete(c.d.buffers, b.Ptr)
	c.d.inUse.Add(-b.Size)
	return c.d.note(c.d.backend.Free(b.Ptr))
}

// Memory is how many bytes of device memory are free, and how many there are. Other programs change the first.
func (c *Context) Memory() (free, total int64, err error) {
	if err := c.d.ready(); err != nil {
		return 0, 0, err
	}
	free, total, err = c.d.backend.Memory()
	return free, total, c.d.note(err)
}

// Clear sets b to zero bytes; see Fill.
func (c *Context) Clear(b Buffer, stream *Stream) error { return c.Fill(b, 0, stream) }

// Fill sets all bytes of b in the stream's order. With a nil stream it returns when that is done.
func (c *Context) Fill(b Buffer, value byte, stream *Stream) error {
	h, err := c.d.streamOf(stream)
	if err != nil || b.Size == 0 {
		return err
	}
	err = c.d.backend.Fill(b.Ptr, value, b.Size, h)
	if err == nil && stream == nil {
		err = c.d.backend.Wait(h)
	}
	return c.d.note(err)
}

// Copy copies bytes between buffers of this device in the stream's order: from src at byte srcAt to dst at byte
// dstAt. The two places must not overlap. With a nil stream it returns when that is done.
func (c *Context) Copy(dst Buffer, dstAt int64, src Buffer, srcAt, bytes int64, stream *Stream) error {
	h, err := c.d.streamOf(stream)
	if err != nil {
		return err
	}
	if bytes < 0 || dstAt < 0 || srcAt < 0 || bytes > dst.Size-dstAt || bytes > src.Size-srcAt {
		return fmt.Errorf("cuda: copy of %d bytes from %d of %d to %d of %d", bytes, srcAt, src.Size, dstAt, dst.Size)
	}
	if bytes == 0 {
		return nil
	}
	err = c.d.backend.Copy(dst.Ptr+uint64(dstAt), src.Ptr+uint64(srcAt), bytes, h)
	if err == nil && stream == nil {
		err = c.d.backend.Wait(h)
	}
	return c.d.note(err)
}

// Synchronize waits for all work on the device, in all streams.
func (c *Context) Synchronize() error {
	if err := c.d.ready(); err != nil {
		return err
	}
	return c.d.note(c.d.backend.Synchronize())
}

// Upload copies src into b, from byte at on, and returns when it is there. It comes after work that was started
// with a nil stream, but does not wait for other streams. T must be plain data, without pointers.
func Upload[T any](c *Context, b Buffer, at int64, src []T) error {
	n, err := span[T](c, "upload", b, at, len(src))
	if err != nil || n == 0 {
		return err
	}
	err = c.d.backend.CopyIn(b.Ptr+uint64(at), unsafe.Pointer(unsafe.SliceData(src)), n, c.d.main.handle)
	if err == nil {
		err = c.d.backend.Wait(c.d.main.handle)
	}
	return c.d.note(err)
}

// Download copies from b, from byte at on, until dst is full; otherwise as Upload.
func Download[T any](c *Context, dst []T, b Buffer, at int64) error {
	n, err := span[T](c, "download", b, at, len(dst))
	if err != nil || n == 0 {
		return err
	}
	err = c.d.backend.CopyOut(unsafe.Pointer(unsafe.SliceData(dst)), b.Ptr+uint64(at), n, c.d.main.handle)
	if err == nil {
		err = c.d.backend.Wait(c.d.main.handle)
	}
	return c.d.note(err)
}

// Fetch is Download behind the work of a stream: it waits once for both.
func Fetch[T any](c *Context, dst []T, b Buffer, at int64, stream *Stream) error {
	n, err := span[T](c, "download", b, at, len(dst))
	if err != nil || n == 0 {
		return err
	}
	h, err := c.d.streamOf(stream)
	if err != nil {
		return err
	}
	err = c.d.backend.CopyOut(unsafe.Pointer(unsafe.SliceData(dst)), b.Ptr+uint64(at), n, h)
	if err == nil {
		err = c.d.backend.Wait(h)
	}
	return c.d.note(err)
}

// span is the size in bytes of n values of T in b from byte at on.
func span[T any](c *Context, what string, b Buffer, at int64, n int) (int64, error) {
	if err := c.d.ready(); err != nil {
		return 0, err
	}
	size, err := plainSize[T]()
	if err != nil {
		return 0, fmt.Errorf("cuda: %s: %w", what, err)
	}
	if at < 0 || at > b.Size || size > 0 && int64(n) > (b.Size-at)/size {
		return 0, fmt.Errorf("cuda: %s of %d values of %d bytes at byte %d of a buffer of %d bytes", what, n, size, at, b.Size)
	}
	return int64(n) * size, nil
}

// Pinned is page-locked host memory that the device reaches too, or managed memory. While a kernel runs, the host sees the
// kernel's writes and the kernel sees the host's, with the fences that base/device.cuh names *_system.
type Pinned struct {
	d       *Device
	bytes   []byte
	host    unsafe.Pointer
	ptr     uint64
	managed bool
}

// Pinned takes pinned memory, cleared.
func (c *Context) Pinned(bytes int64) (*Pinned, error) {
	p, err := c.PinnedRaw(bytes)
	if err == nil {
		clear(p.bytes)
	}
	return p, err
}

// PinnedRaw is Pinned without the clearing: the contents are unknown.
func (c *Context) PinnedRaw(bytes int64) (*Pinned, error) {
	return c.hostMemory(bytes, false)
}

// Managed allocates managed memory (CUDA's unified memory) of unknown contents. A page lies where it was last touched. When a
// kernel touches a page in host memory, the driver moves it to the device. If the device has no room, the driver evicts other
// pages. On emulated devices pages do not move.
func (c *Context) Managed(bytes int64) (*Pinned, error) {
	return c.hostMemory(bytes, true)
}

func (c *Context) hostMemory(bytes int64, managed bool) (*Pinned, error) {
	if err := c.d.ready(); err != nil {
		return nil, err
	}
	take, what := c.d.backend.Pin, "pinned"
	if managed {
		take, what = c.d.backend.Manage, "managed"
	}
	if bytes <= 0 || bytes > math.MaxInt {
		return nil, fmt.Errorf("cuda: %d bytes of %s memory", bytes, what)
	}
	host, ptr, err := take(bytes)
	if err != nil {
		return nil, c.d.note(err)
	}
	p := &Pinned{d: c.d, bytes: unsafe.Slice((*byte)(host), bytes), host: host, ptr: ptr, managed: managed}
	c.d.pinned[p] = struct{}{}
	c.d.inUse.Add(bytes)
	p.locked(bytes)
	return p, nil
}

// Managed reports whether the memory is managed memory.
func (p *Pinned) Managed() bool { return p.managed }

// Bytes is the memory as the host sees it, valid until Free or the device's Close, and nil after them. Any
// goroutine may use it.
func (p *Pinned) Bytes() []byte { return p.bytes }

// Ptr is the memory's address on the device.
func (p *Pinned) Ptr() uint64 { return p.ptr }

// Free gives the memory back; a second Free does nothing. Once the device is lost the memory stays until Close,
// since work that cannot be waited for may still write to it.
func (p *Pinned) Free() error {
	if p.bytes == nil {
		return nil
	}
	if err := p.d.ready(); err != nil {
		return err
	}
	p.d.inUse.Add(-int64(len(p.bytes)))
	p.locked(-int64(len(p.bytes)))
	delete(p.d.pinned, p)
	p.bytes = nil
	return p.d.note(p.d.backend.Unpin(p.host))
}

// Attach makes pinned memory of another device reachable for kernels of this one, until Detach, and
// returns its address here. The other device must not free it meanwhile.
func (c *Context) Attach(p *Pinned) (ptr uint64, err error) {
	if err := c.d.ready(); err != nil {
		return 0, err
	}
	if p.d == c.d {
		return p.ptr, nil
	}
	ptr, err = c.d.backend.Attach(p.host, int64(len(p.bytes)))
	return ptr, c.d.note(err)
}

// Detach ends Attach.
func (c *Context) Detach(p *Pinned) error {
	if p.d == c.d {
		return nil
	}
	if err := c.d.ready(); err != nil {
		return err
	}
	return c.d.note(c.d.backend.Detach(p.host))
}

// locked counts bytes of a driver as memory of the process. An emulated device has ordinary memory.
func (p *Pinned) locked(bytes int64) {
	if !p.d.info.Emulated {
		memory.Locked(bytes)
	}
}

// View is the pinned memory from byte at on as n values of T, which must be plain data; at must suit T's
// alignment. It is valid as long as Bytes is.
func View[T any](p *Pinned, at int64, n int) ([]T, error) {
	size, err := plainSize[T]()
	if err != nil {
		return nil, fmt.Errorf("cuda: view: %w", err)
	}
	total := int64(len(p.bytes))
	var zero T
	if n < 0 || at < 0 || at > total || size > 0 && int64(n) > (total-at)/size || at%int64(unsafe.Alignof(zero)) != 0 {
		return nil, fmt.Errorf("cuda: view of %d values of %d bytes at byte %d of %d", n, size, at, total)
	}
	if n == 0 {
		return nil, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&p.bytes[at])), n), nil
}
