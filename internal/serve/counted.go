package serve

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
)

// counted is a writer that counts bytes and rows and keeps its first error.
//
// If it has a context, it writes nothing after the context's end.
type counted struct {
	ctx         context.Context
	w           io.Writer
	bytes, rows *atomic.Int64
	hands       func() (taken func()) // is called before each write, and taken after it; nil: nothing is
	err         error
}

// counts is a writer that counts for the run.
func (r *Run) counts(w io.Writer) *counted {
	return &counted{w: w, bytes: &r.sent, rows: &r.written}
}

// Wrote is for package sink, which knows the number of rows in the bytes.
func (c *counted) Wrote(rows int) { c.rows.Add(int64(rows)) }

func (c *counted) Write(b []byte) (int, error) {
	if c.ctx != nil && c.ctx.Err() != nil {
		if c.err == nil {
			c.err = context.Cause(c.ctx)
		}
		return 0, c.err
	}
	if c.hands != nil {
		defer c.hands()()
	}
	n, err := c.w.Write(b)
	c.bytes.Add(int64(n))
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("writing to the client: %w", err)
	}
	return n, err
}
