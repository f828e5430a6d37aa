package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/vfs"
)

// output is where data goes: standard output, or a file that appears under its
// name when it is complete.
type output struct {
	ctx     context.Context // within which it is written
	timeout time.Duration   // of one write; 0: none
	pipe    *ctxio.Writer

	w    io.Writer // the target of pipe
	zip  io.Closer // a compressor before the file
	file *disk.File
}

// open opens the output. A write that has no reader, and the wait for the first reader
// of a FIFO, end after the timeout.
func (a *app) open(name string, timeout time.Duration) (*output, error) {
	out := &output{ctx: a.ctx, timeout: timeout}
	out.w = unpackedOutput{out}
	if name == "" || name == "-" {
		out.pipe = ctxio.NewWriter(a.stdout)
		return out, nil
	}
	ctx, cancel := out.within()
	defer cancel()
	f, err := disk.Create(ctx, vfs.From(a.ctx), name)
	if err != nil {
		return nil, err
	}
	out.file, out.pipe = f, ctxio.NewWriter(f)
	z, err := packer(name, out.w)
	if err != nil {
		f.Abort()
		return nil, err
	}
	if z != nil {
		out.w, out.zip = z, z
	}
	return out, nil
}

// within is the context of one write.
func (o *output) within() (context.Context, context.CancelFunc) {
	if o.timeout == 0 {
		return o.ctx, func() {}
	}
	return context.WithTimeoutCause(o.ctx, o.timeout, errTimeout)
}

// unpackedOutput writes to an output as it is.
type unpackedOutput struct{ o *output }

func (u unpackedOutput) Write(b []byte) (int, error) {
	ctx, cancel := u.o.within()
	defer cancel()
	return u.o.pipe.WriteWithin(ctx, b)
}

// flush writes the bytes that a compressor holds.
func (o *output) flush() error {
	if o.zip == nil {
		return nil
	}
	return o.zip.Close()
}

// Write writes to the file, or to standard output.
func (o *output) Write(b []byte) (int, error) { return o.w.Write(b) }

// finish gives a complete file its name. After an error nothing is left of it.
func (o *output) finish(err error) error {
	if o.file == nil {
		return err
	}
	if err == nil {
		err = o.flush()
	}
	if err != nil {
		o.file.Abort()
		return err
	}
	return o.file.Commit()
}

// partial keeps the written part under the name with ".partial" added, which it returns. It
// returns "" if the output is not a file.
func (o *output) partial() (string, error) {
	if o.file == nil {
		return "", nil
	}
	if err := o.flush(); err != nil {
		o.file.Abort()
		return "", err
	}
	return o.file.CommitPart()
}

// jsonWriter writes values as they come: a line each, or one document, which is
// a list where there may be many.
type jsonWriter struct {
	w       io.Writer
	to      string // json or ndjson; others are not for it
	many    bool
	written int
}

// takes reports whether the format is one of JSON.
func (w *jsonWriter) takes() bool { return w.to == "json" || w.to == "ndjson" }

func (w *jsonWriter) add(x any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // the arrows of queries stay arrows
	if w.to == "json" {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(x); err != nil {
		return err
	}
	if w.to == "ndjson" {
		_, err := w.w.Write(text.Bytes())
		return err
	}
	before, after := "", "\n"
	if w.many {
		before, after = "[\n", ""
		if w.written > 0 {
			before = ",\n"
		}
	}
	w.written++
	_, err := fmt.Fprintf(w.w, "%s%s%s", before, bytes.TrimSpace(text.Bytes()), after)
	return err
}

// close ends a list.
func (w *jsonWriter) close() error {
	if w.to != "json" || !w.many {
		return nil
	}
	end := "\n]\n"
	if w.written == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(w.w, end)
	return err
}

// writeRows writes a table of n rows.
func writeRows(w io.Writer, format string, n int, cols []sink.Column) error {
	out, err := sink.New(w, sink.Options{Format: format, Columns: cols})
	if err != nil {
		return err
	}
	b := sink.Rows(0, n)
	if err := out.Emit(0, b); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// streamRows writes a table to an output as its rows come. make makes them: it calls upTo when all rows below n are there, and stops at
// its error. The columns are over row numbers, as those of writeRows.
func (a *app) streamRows(name, format string, timeout time.Duration, cols []sink.Column, make func(upTo func(n int) error) error) error {
	out, err := a.open(name, timeout)
	if err != nil {
		return err
	}
	rows, err := sink.New(out, sink.Options{Format: format, Columns: cols})
	if err != nil {
		return out.finish(err)
	}
	written := 0
	err = make(func(n int) error {
		b := sink.Rows(written, n-written)
		written = n
		return cmp.Or(rows.Emit(0, b), rows.Flush())
	})
	return out.finish(cmp.Or(err, rows.Close()))
}

var _ engine.Sink = (*sink.Writer)(nil)

// column is a column of writeRows.
func column(name string, t sink.Type, value func(i int) any) sink.Column {
	return sink.Value(name, t, func(m []uint32, _ []uint64) any { return value(int(m[0])) })
}
