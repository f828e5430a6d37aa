package ctxio

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// Grace is the total time for which a Writer still waits for a reader after its context ended.
// It is long enough for an active reader to get the remaining bytes.
const Grace = time.Second

// Writer writes to a file whose reader may be slow, or stop reading. It is not safe for
// concurrent use.
type Writer struct {
	w     io.Writer
	asked chan []byte   // nil: w never waits
	sent  *atomic.Int64 // bytes of the write under way
	wrote chan result
	stuck bool // a write was given up
	buf   []byte
	ended context.Context // the last that a write met ended
	left  time.Duration   // of its grace
}

type result struct {
	n   int
	err error
}

// NewWriter returns a Writer to w. An *os.File that is not a regular file may wait, and
// a w whose method Waits says so; to anything else it writes directly. Close the Writer
// in the end.
func NewWriter(w io.Writer) *Writer {
	out := &Writer{w: w}
	switch f := w.(type) {
	case *os.File:
		if st, err := f.Stat(); err != nil || st.Mode().IsRegular() {
			return out
		}
	case interface{ Waits() bool }:
		if !f.Waits() {
			return out
		}
	default:
		return out
	}
	asked, wrote, sent := make(chan []byte), make(chan result, 1), &atomic.Int64{}
	go func() { // it may begin after Close
		for b := range asked {
			wrote <- inPieces(w, b, sent)
		}
	}()
	out.asked, out.wrote, out.sent = asked, wrote, sent
	return out
}

// atomicSize is a number of bytes that a pipe takes whole or not at all.
const atomicSize = 4096

// inPieces writes b, and counts in sent what w has of it.
func inPieces(w io.Writer, b []byte, sent *atomic.Int64) (r result) {
	for len(b) > 0 && r.err == nil {
		var n int
		part := b[:min(len(b), atomicSize)]
		if n, r.err = w.Write(part); n < len(part) && r.err == nil {
			r.err = io.ErrShortWrite
		}
		r.n += n
		sent.Store(int64(r.n))
		b = b[n:]
	}
	return r
}

// Waits reports whether a write may have to wait for a reader.
func (w *Writer) Waits() bool { return w.asked != nil }

// WriteWithin writes b. When ctx has ended, or ends while the reader does not read, the
// write may take Grace; then the error is the cause, and nothing can be written any
// more. The number of bytes is then that of whole pieces which the file had by then; it
// may get the next piece when the reader goes on.
func (w *Writer) WriteWithin(ctx context.Context, b []byte) (int, error) {
	if w.asked == nil {
		return w.w.Write(b)
	}
	if w.stuck {
		return 0, os.ErrClosed
	}
	if len(b) == 0 {
		return 0, nil
	}
	w.buf = append(w.buf[:0], b...) // the caller may use b again where this is given up
	w.sent.Store(0)
	w.asked <- w.buf
	select {
	case r := <-w.wrote:
		return r.n, r.err
	case <-ctx.Done():
	}
	if w.ended != ctx {
		w.ended, w.left = ctx, Grace
	}
	began := time.Now()
	timer := time.NewTimer(w.left)
	defer timer.Stop()
	select {
	case r := <-w.wrote:
		w.left -= time.Since(began)
		return r.n, r.err
	case <-timer.C:
	}
	select {
	case r := <-w.wrote: // no later than the timer
		w.left = 0
		return r.n, r.err
	default:
		w.stuck = true
		return int(w.sent.Load()), context.Cause(ctx)
	}
}

// Close ends the writer, and leaves the file open.
func (w *Writer) Close() {
	if w.asked != nil {
		close(w.asked)
		w.asked, w.stuck = make(chan []byte), true
	}
}
