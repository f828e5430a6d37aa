package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// arrow-go trusts the sizes that a batch gives for its buffers, and allocates them. It also
// stops reading a compressed buffer once it has enough bytes, before the checksum that may end
// a frame of zstd or LZ4. The reader here checks both first.

// arrowFrames passes on an Arrow stream unchanged. It ends with an error if a buffer lies
// outside its batch, or if the size or checksum of a compressed buffer is wrong. A layout that
// it does not expect is left to the decoder.
type arrowFrames struct {
	r     io.Reader
	held  bytes.Buffer // bytes that were read and are to be given
	plain int64        // bytes of r to be given unread; -1: all
}

func (a *arrowFrames) Read(p []byte) (int, error) {
	for {
		switch {
		case a.held.Len() > 0:
			return a.held.Read(p)
		case a.plain < 0:
			return a.r.Read(p)
		case a.plain > 0:
			n, err := a.r.Read(p[:min(int64(len(p)), a.plain)])
			a.plain -= int64(n)
			return n, err
		}
		if err := a.next(); err != nil {
			return 0, err
		}
	}
}

// take reads n more bytes and holds them.
func (a *arrowFrames) take(n int64) ([]byte, error) {
	from := a.held.Len()
	_, err := io.CopyN(&a.held, a.r, n)
	return a.held.Bytes()[from:], err
}

// next reads the head of a message, and its body where that has checksums.
func (a *arrowFrames) next() error {
	const most = 64 << 20
	head, err := a.take(8)
	if err != nil {
		a.plain = -1 // the end, or an error that the decoder will report
		return nil
	}
	n := int64(binary.LittleEndian.Uint32(head[4:]))
	if binary.LittleEndian.Uint32(head) != 0xffffffff || n == 0 || n > most {
		a.plain = -1
		return nil
	}
	meta, err := a.take(n)
	if err != nil {
		a.plain = -1
		return nil
	}
	body, codec, buffers := batchBuffers(meta)
	for i, b := range buffers {
		if b[0] < 0 || b[1] < 0 || b[1] > body || b[0] > body-b[1] {
			return fmt.Errorf("buffer %d of a batch stands outside it", i+1)
		}
	}
	if codec == codecNone && body <= most {
		a.plain = max(body, 0)
		return nil
	}
	from := a.held.Len()
	if _, err := a.take(body); err != nil {
		if body > most { // the decoder would allocate as many bytes
			return noEnd(err)
		}
		a.plain = -1
		return nil
	}
	if codec == codecNone {
		return nil
	}
	for i, b := range buffers {
		if b[1] <= 8 {
			continue
		}
		buffer := a.held.Bytes()[int64(from)+b[0]:][:b[1]]
		size := int64(binary.LittleEndian.Uint64(buffer))
		if size == -1 {
			continue // not compressed
		}
		if err := checkFrame(codec, buffer[8:], size); err != nil {
			return fmt.Errorf("buffer %d of a batch: %w", i+1, err)
		}
	}
	return nil
}

// Codecs of buffers.
const (
	codecLZ4  = 0
	codecZstd = 1
	codecNone = 255
)

// batchBuffers returns the length of a message's body, and of a batch the codec and the
// places and lengths of the buffers in the body.
func batchBuffers(meta []byte) (body int64, codec byte, buffers [][2]int64) {
	defer func() {
		if recover() != nil {
			codec, buffers = codecNone, nil
		}
	}()
	f := &flat{b: meta}
	root := f.at(0)
	if p := f.inline(root, 3); p != 0 {
		body = f.at64(p)
	}
	kind := f.inline(root, 1)
	batch := f.slot(root, 2)
	if kind == 0 || batch == 0 {
		return body, codecNone, nil
	}
	const dictionary, record = 2, 3
	switch meta[kind] {
	case dictionary:
		batch = f.slot(batch, 1)
	case record:
	default:
		return body, codecNone, nil
	}
	codec = codecNone
	if compression := f.slot(batch, 3); compression != 0 {
		codec = codecLZ4 // default of a table without the field
		if p := f.inline(compression, 0); p != 0 {
			codec = meta[p]
		}
	}
	list := f.slot(batch, 2)
	if list == 0 {
		return body, codec, nil
	}
	for i := range f.vector(list) {
		p := list + 4 + 16*i
		buffers = append(buffers, [2]int64{f.at64(p), f.at64(p + 8)})
	}
	return body, codec, buffers
}

// Errors of a damaged compressed buffer.
var (
	errFrame     = errors.New("the checksum is wrong")
	errFrameSize = errors.New("the size of a compressed buffer is wrong")
)

// checkFrame decompresses a frame that has a checksum, or whose stated size is much larger than
// the frame. The decoder allocates the stated size.
func checkFrame(codec byte, frame []byte, size int64) error {
	if len(frame) < 5 {
		return nil
	}
	const zstdChecksum, lz4Checksums, usual = 1 << 2, 1<<2 | 1<<4, 100
	var r io.Reader
	sums, magic := byte(0), binary.LittleEndian.Uint32(frame)
	switch {
	case codec == codecZstd && magic == 0xfd2fb528:
		d, err := zstd.NewReader(bytes.NewReader(frame), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer d.Close()
		r, sums = d, frame[4]&zstdChecksum
	case codec == codecLZ4 && magic == 0x184d2204:
		r, sums = lz4.NewReader(bytes.NewReader(frame)), frame[4]&lz4Checksums
	}
	few := size >= 0 && size/usual <= int64(len(frame))
	if r == nil {
		if !few {
			return errFrameSize
		}
		return nil
	}
	if sums == 0 && few {
		return nil
	}
	switch n, err := io.Copy(io.Discard, r); {
	case err != nil:
		return fmt.Errorf("%w: %w", errFrame, err)
	case n != size:
		return errFrameSize
	}
	return nil
}

// checkFrames checks the frames of an Arrow file, whose messages stand one after the other
// behind its mark.
func checkFrames(file io.ReaderAt, size int64) error {
	a := &arrowFrames{}
	at := int64(8)
	for at < size {
		a.r, a.plain = io.NewSectionReader(file, at, size-at), 0
		if err := a.next(); err != nil {
			return err
		}
		if a.plain < 0 {
			return nil
		}
		at += int64(a.held.Len()) + a.plain
		a.held.Reset()
	}
	return nil
}
