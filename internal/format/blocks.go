package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/vfs"
)

const (
	blockSize = 1 << 18 // text is cut into blocks of about this size, at line ends
	maxLine   = 1 << 20
	slack     = 16 // readable bytes after a block's end, for 8-byte loads
)

// block is a run of whole lines. The last line of the last block may lack its
// line end: it is added.
type block struct {
	seq  uint64
	data []byte // cap(data) >= len(data)+slack
	off  int64  // in the decompressed file
	line int64  // lines before it; -1: not counted
	ends bool   // the file's last line lacked the line end that data has
}

// bytes is how much of the file the block holds.
func (b *block) bytes() int64 {
	if b.ends {
		return int64(len(b.data)) - 1
	}
	return int64(len(b.data))
}

// eachBlock hands the text from byte start on to work, in blocks, on several
// goroutines; worker numbers are 0 … threads-1. It returns the error of the
// earliest block that failed. A *spot is given its place in the file. Without an
// error, work was given every byte once.
func (s *source) eachBlock(ctx context.Context, start int64, threads int, work func(worker int, b *block) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu     sync.Mutex
		first  error
		at     = ^uint64(0)
		atomAt atomic.Uint64
		wg     sync.WaitGroup
		given  atomic.Int64 // bytes that work was given
		size   = s.size - start
	)
	atomAt.Store(at)
	fail := func(seq uint64, err error) {
		mu.Lock()
		if seq < at {
			at, first = seq, err
			atomAt.Store(seq)
		}
		mu.Unlock()
	}
	run := func(worker int, b *block) {
		given.Add(b.bytes())
		if err := work(worker, b); err != nil {
			fail(b.seq, s.place(err, b))
		}
	}
	if s.plainFile() {
		var next atomic.Uint64
		for w := range threads {
			wg.Add(1)
			go func() {
				defer wg.Done()
				f, err := vfs.Open(s.fsys, s.name)
				if err != nil {
					fail(0, err)
					return
				}
				defer f.Close()
				var buf []byte
				for ctx.Err() == nil {
					seq := next.Add(1) - 1
					lo := start + int64(seq)*blockSize
					if lo >= s.size || seq > atomAt.Load() {
						return
					}
					b, err := s.blockAt(f, &buf, start, lo)
					if err != nil {
						fail(seq, err)
						return
					}
					b.seq = seq
					s.count(int(min(blockSize, s.size-lo)))
					if len(b.data) > 0 {
						run(w, b)
					}
				}
			}()
		}
	} else {
		ch := make(chan *block, threads)
		pool := sync.Pool{New: func() any { b := make([]byte, 0, blockSize+slack); return &b }}
		for w := range threads {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for b := range ch {
					if b.seq <= atomAt.Load() && ctx.Err() == nil {
						run(w, b)
					}
					b.data = b.data[:0]
					pool.Put(&b.data)
				}
			}()
		}
		var seq uint64
		var err error
		size, err = s.cut(start, func() []byte { return *pool.Get().(*[]byte) }, func(b *block) bool {
			b.seq, seq = seq, seq+1
			select {
			case ch <- b:
				return atomAt.Load() == ^uint64(0)
			case <-ctx.Done():
				return false
			}
		})
		close(ch)
		if err != nil {
			fail(seq, err)
		}
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if n := given.Load(); first == nil && n != max(size, 0) {
		return fmt.Errorf("%s: internal error: %d of %d bytes were read; please report it with the file", s.name, n, size)
	}
	return first
}

// blockAt reads the lines that begin in [lo, lo+blockSize). The block's bytes are
// in *mem, which grows where it is too small.
func (s *source) blockAt(f vfs.File, mem *[]byte, start, lo int64) (*block, error) {
	from := lo
	if lo > start {
		from-- // the byte before tells whether a line begins at lo
	}
	end, ends := min(lo+blockSize, s.size), false
	want := int(end - from)
	ask := int(min(end+4096, s.size) - from)
	buf := (*mem)[:0]
	grow := func(n int) {
		if cap(buf) < n+slack+1 {
			b := make([]byte, len(buf), n+n/16+slack+1)
			copy(b, buf)
			buf, *mem = b, b
		}
	}
	grow(ask)
	if err := s.readAt(f, buf[:ask], from); err != nil {
		return nil, err
	}
	buf = buf[:ask]
	skip := 0
	if lo > start {
		i := bytes.IndexByte(buf[:want], '\n')
		skip = i + 1
		if i < 0 {
			skip = want
		}
	}
	if skip == want { // no line begins here
		return &block{data: buf[:0], off: end}, nil
	}
	// The last line that begins before end may go on after it.
	if want == 0 || buf[want-1] != '\n' {
		look := want
		for {
			if i := bytes.IndexByte(buf[look:], '\n'); i >= 0 {
				want = look + i + 1
				break
			}
			have := from + int64(len(buf))
			if have == s.size {
				buf = append(buf, '\n')
				want, ends = len(buf), true
				break
			}
			last := bytes.LastIndexByte(buf[:want], '\n') + 1
			if len(buf)-last > maxLine {
				return nil, s.longLine(buf[last:], from+int64(last), -1)
			}
			look = len(buf)
			more := int(min(64<<10, s.size-have))
			grow(look + more)
			if err := s.readAt(f, buf[look:look+more], have); err != nil {
				return nil, err
			}
			buf = buf[:look+more]
		}
	}
	grow(len(buf))
	return &block{data: buf[skip:want], off: from + int64(skip), line: -1, ends: ends}, nil
}

// readAt reads a part of the file that was there when the file was opened.
func (s *source) readAt(f vfs.File, p []byte, off int64) error {
	n, err := f.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return s.shorter(off + int64(n))
	}
	return err
}

func (s *source) longLine(text []byte, off, line int64) error {
	return s.place(&spot{field: text, err: ErrLongLine}, &block{off: off, data: text, line: line})
}

// cut reads the stream in one goroutine and emits blocks of whole lines until
// emit says stop. It returns how many bytes there are after start.
func (s *source) cut(start int64, get func() []byte, emit func(*block) bool) (int64, error) {
	r, err := s.open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var lines lineCounter
	if n, err := io.CopyN(&lines, r, start); err != nil && err != io.EOF {
		return 0, s.readError(err, n)
	}
	off, line := start, int64(lines)
	var carry []byte
	size := int64(0)
	for {
		buf := get()
		need := len(carry) + blockSize
		if cap(buf) < need+slack+1 {
			buf = make([]byte, 0, need+slack+1)
		}
		buf = append(buf, carry...)
		n, err := readFill(r, buf[len(buf):need])
		buf = buf[:len(buf)+n]
		size += int64(n)
		if err != nil && err != io.EOF {
			return 0, s.readError(err, off+int64(len(buf)))
		}
		if err == io.EOF {
			if len(buf) > 0 {
				ends := buf[len(buf)-1] != '\n'
				if ends {
					buf = append(buf, '\n')
				}
				emit(&block{data: buf, off: off, line: line, ends: ends})
			}
			return size, nil
		}
		i := bytes.LastIndexByte(buf, '\n') + 1
		if len(buf)-i > maxLine {
			return 0, s.longLine(buf[i:], off+int64(i), line+int64(bytes.Count(buf[:i], newline)))
		}
		carry = append(carry[:0], buf[i:]...)
		if i == 0 { // a line longer than a block: its end is to come
			continue
		}
		n = bytes.Count(buf[:i], newline)
		if !emit(&block{data: buf[:i], off: off, line: line}) {
			return size, nil
		}
		off += int64(i)
		line += int64(n)
	}
}

// place turns a spot in a block into an Error with line and column.
func (s *source) place(err error, b *block) error {
	var w *widen
	if errors.As(err, &w) {
		c := *w
		c.spot = s.place(w.spot, b)
		return &c
	}
	var sp *spot
	if !errors.As(err, &sp) {
		return err
	}
	e := &Error{File: s.name, Offset: b.off + int64(sp.pos), Excerpt: excerpt(sp.field), Cause: sp.err}
	if sp.field == nil {
		e.Excerpt = ""
	}
	line := bytes.LastIndexByte(b.data[:min(sp.pos, len(b.data))], '\n') + 1
	e.Column = sp.pos - line + 1
	before, ok := b.line, true
	if before < 0 {
		before, ok = s.linesBefore(b.off)
	}
	if ok {
		e.Line = before + int64(bytes.Count(b.data[:min(sp.pos, len(b.data))], newline)) + 1
	}
	return e
}

var newline = []byte{'\n'}

type lineCounter int64

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, newline))
	return len(p), nil
}

// linesBefore counts the line ends before byte off of a plain file, by reading
// it again. It is called only when something is wrong.
func (s *source) linesBefore(off int64) (int64, bool) {
	if off == 0 {
		return 0, true
	}
	f, err := vfs.Open(s.fsys, s.name)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var n lineCounter
	_, err = io.CopyN(&n, f, off)
	return int64(n), err == nil
}
