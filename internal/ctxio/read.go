package ctxio

import (
	"context"
	"errors"
	"io"
)

// ErrTooLong is the error of an input with more bytes than the caller allows.
var ErrTooLong = errors.New("too long")

// pieceSize is how many bytes are read at a time.
const pieceSize = 256 << 10

// NewReader returns a reader of r whose reads end with ctx. It reads ahead, on a
// goroutine that ends with r's end or with ctx. A read of r that blocks stays behind
// until r is closed.
func NewReader(ctx context.Context, r io.Reader) io.Reader {
	a := &reader{ctx: ctx, pieces: make(chan piece, 2)}
	go func() {
		for {
			b := make([]byte, pieceSize)
			n, err := r.Read(b)
			select {
			case a.pieces <- piece{b[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return a
}

type reader struct {
	ctx    context.Context
	pieces chan piece
	rest   []byte
	err    error
}

type piece struct {
	b   []byte
	err error
}

func (a *reader) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		select {
		case q := <-a.pieces:
			a.rest, a.err = q.b, q.err
		case <-a.ctx.Done():
			return 0, context.Cause(a.ctx)
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}
