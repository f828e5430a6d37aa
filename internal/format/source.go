package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/vfs"
)

// Progress is told how many stored bytes have been read, of how many (-1:
// unknown). It is called from one goroutine at a time.
type Progress func(done, total int64)

// source is an input: a file, plain or compressed, which can be opened again
// and again, or a stream (the standard input, a pipe), which is read once.
type source struct {
	ctx  context.Context
	fsys vfs.FS
	name string
	size int64  // as stored; -1: unknown
	zip  string // "", "gzip", "zstd": by the first bytes, not by the name
	once *onceStream

	mu       sync.Mutex
	done     int64
	progress Progress
}

// onceStream is an input that can be read only once.
type onceStream struct {
	raw    io.Reader
	closer io.Closer
	live   io.Reader // decompressed, after head
	head   []byte
	taken  bool
}

// headSize is how much of the (decompressed) input detection looks at.
const headSize = 256 << 10

func openSource(ctx context.Context, fsys vfs.FS, path string, stdin io.Reader, progress Progress) (*source, error) {
	s := &source{ctx: ctx, fsys: fsys, name: path, size: -1, progress: progress}
	if path == "-" {
		if stdin == nil {
			stdin = os.Stdin
		}
		return s, s.stream(stdin, nil)
	}
	f, err := ctxio.Open(ctx, fsys, path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = &os.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return s, s.stream(f, f)
	}
	s.size = st.Size()
	first := make([]byte, 4)
	n, err := io.ReadFull(f, first)
	f.Close()
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, err
	case int64(n) < min(s.size, int64(len(first))):
		return nil, s.shorter(int64(n))
	}
	s.zip = zipKind(first[:n])
	return s, nil
}

// stream makes s a source that reads in once, and closes it with closer, which may be nil.
func (s *source) stream(in io.Reader, closer io.Closer) error {
	s.once = &onceStream{raw: ctxio.NewReader(s.ctx, in), closer: closer}
	first := make([]byte, 4)
	n, err := io.ReadFull(s.once.raw, first)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		s.close()
		return fmt.Errorf("%s: %w", s.name, err)
	}
	s.once.raw = io.MultiReader(bytes.NewReader(first[:n]), s.once.raw)
	s.zip = zipKind(first[:n])
	return nil
}

func zipKind(first []byte) string {
	switch {
	case bytes.HasPrefix(first, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(first, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

// plainFile reports whether the bytes can be read at any place.
func (s *source) plainFile() bool { return s.once == nil && s.zip == "" }

// most is the largest number of lines of `line` bytes that the file can have. The last line may
// lack its end. Without a known size any number is possible.
func (s *source) most(line uint64) uint64 {
	if !s.plainFile() || s.size < 0 {
		return ^uint64(0)
	}
	return (uint64(s.size) + 1) / line
}

// again reports whether open may be called once more after it was called.
func (s *source) again() bool { return s.once == nil }

// close releases a stream that was not read to the end.
func (s *source) close() {
	if s.once != nil && s.once.closer != nil {
		s.once.closer.Close()
	}
}

func (s *source) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += int64(n)
	if s.progress != nil {
		s.progress(s.done, s.size)
	}
}

func (s *source) rewind() {
	s.mu.Lock()
	s.done = 0
	s.mu.Unlock()
}

// countReader counts stored bytes. A file that ends before its size is an error: formats that are a list of lines
// would not notice.
type countReader struct {
	s    *source
	r    io.Reader
	left int64 // bytes that must come yet
}

func (c *countReader) Read(p []byte) (int, error) {
	if err := c.s.ctx.Err(); err != nil {
		return 0, err
	}
	if len(p) > 1<<20 {
		p = p[:1<<20]
	}
	n, err := c.r.Read(p)
	if n > 0 {
		c.s.count(n)
	}
	if c.left -= int64(n); err == io.EOF && c.left > 0 {
		err = c.s.shorter(-1)
	}
	return n, err
}

// shorter is the error of a file that ends at byte off, -1 being unknown, and had more bytes when it was opened.
func (s *source) shorter(off int64) error {
	return &Error{File: s.name, Offset: off, Cause: wrapf(ErrTruncated, "it became shorter while it was read")}
}

type readCloser struct {
	io.Reader
	close []func()
}

func (s *readCloser) Close() error {
	for i := len(s.close) - 1; i >= 0; i-- {
		s.close[i]()
	}
	return nil
}

// open returns the decompressed bytes from the start.
func (s *source) open() (io.ReadCloser, error) {
	if o := s.once; o != nil {
		if o.taken {
			return nil, fmt.Errorf("%s: can be read only once", s.name)
		}
		o.taken = true
		if o.live == nil {
			r, err := s.decompress(o.raw)
			return r, err
		}
		return &readCloser{Reader: io.MultiReader(bytes.NewReader(o.head), o.live)}, nil
	}
	f, err := vfs.Open(s.fsys, s.name)
	if err != nil {
		return nil, err
	}
	r, err := s.decompress(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.close = append([]func(){func() { f.Close() }}, r.close...)
	return r, nil
}

func (s *source) decompress(raw io.Reader) (*readCloser, error) {
	r := &readCloser{Reader: &countReader{s, raw, s.size}}
	switch s.zip {
	case "gzip":
		z, err := gzip.NewReader(r.Reader)
		if err != nil {
			return nil, s.readError(err, 0)
		}
		r.Reader = z
	case "zstd":
		z, err := zstd.NewReader(r.Reader, zstd.WithDecoderMaxWindow(1<<31))
		if err != nil {
			return nil, s.readError(err, 0)
		}
		r.Reader = z
		r.close = append(r.close, z.Close)
	}
	return r, nil
}

// readError explains a failure of the decompressor or of the disk after off
// decompressed bytes.
func (s *source) readError(err error, off int64) error {
	var pe *os.PathError
	var fe *Error
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case errors.As(err, &fe):
		return err
	case s.zip == "" || errors.As(err, &pe):
		return fmt.Errorf("%s: %w", s.name, err)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		err = wrapf(ErrTruncated, "the %s stream ends early", s.zip)
	default:
		err = fmt.Errorf("damaged %s stream: %w", s.zip, err)
	}
	return &Error{File: s.name, Offset: off, Cause: err}
}

// head returns the first bytes, up to headSize, and whether they are all.
func (s *source) head() (b []byte, whole bool, err error) {
	r, err := s.open()
	if err != nil {
		return nil, false, err
	}
	b = make([]byte, headSize)
	n := 0
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	if s.once != nil {
		s.once.head, s.once.live, s.once.taken = b[:n], r, false
	} else {
		r.Close()
		s.rewind()
	}
	if err != nil && err != io.EOF {
		return nil, false, s.readError(err, int64(n))
	}
	return b[:n], err == io.EOF, nil
}

// readFill reads until p is full or the input ends, and tells the input's end
// (io.EOF) from a failure, which io.ReadFull mixes up.
func readFill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = r.Read(p[n:])
		n += k
	}
	return n, err
}
