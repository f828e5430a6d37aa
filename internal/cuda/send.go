package cuda

import (
	"fmt"
	"unsafe"
)

// Send copies bytes of pinned memory, starting at byte from, to b at byte at, in the stream's order. It returns
// at once, and the pinned bytes must not change until the stream has passed the copy. With a nil stream it blocks
// until the copy is done.
func (c *Context) Send(b Buffer, at int64, p *Pinned, from, bytes int64, stream *Stream) error {
	h, err := c.d.streamOf(stream)
	if err != nil {
		return err
	}
	if bytes < 0 || at < 0 || from < 0 || bytes > b.Size-at || bytes > int64(len(p.bytes))-from {
		return fmt.Errorf("cuda: send of %d bytes from %d of %d to %d of %d", bytes, from, len(p.bytes), at, b.Size)
	}
	if bytes == 0 {
		return nil
	}
	err = c.d.backend.CopyIn(b.Ptr+uint64(at), unsafe.Add(p.host, from), bytes, h)
	if err == nil && stream == nil {
		err = c.d.backend.Wait(h)
	}
	return c.d.note(err)
}
