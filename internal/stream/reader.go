package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/vfs"
)

// Reader gives updates in their order.
type Reader interface {
	// Next reads the next update into u, whose slices it uses again. It returns io.EOF at the end. After an *InputError it goes on
	// with the next update; other errors end the stream.
	Next(u *Update) error
}

// File is a Reader of a file, plain or compressed, or of a pipe: of lines, or of the rows of an Arrow or Parquet table. It gives each update as soon as
// its line or its record is there. It is not safe for concurrent use.
type File struct {
	lines *format.Lines // nil of a table
	table *table        // nil of lines
	notes []string
	d     *Decoder
	line  []byte
}

// Open opens updates. A table is recognised by its first bytes, unless o has a format of lines. "-" is stdin, or the standard input if that is nil. The error is the file system's, or a *format.Error about
// a compressed stream. progress may be nil.
func Open(ctx context.Context, fsys vfs.FS, path string, stdin io.Reader, o Options, progress format.Progress) (*File, error) {
	if o.Format != "" && o.Format != Auto && !o.Format.OfTable() {
		lines, err := format.OpenLines(ctx, fsys, path, stdin, progress)
		if err != nil {
			return nil, err
		}
		return &File{lines: lines, d: NewDecoder(o)}, nil
	}
	lines, rows, err := format.OpenLinesOrRows(ctx, fsys, path, stdin, progress)
	if err != nil {
		return nil, err
	}
	if rows == nil && o.Format.OfTable() {
		lines.Close()
		return nil, &format.Error{File: path, Offset: -1, Cause: fmt.Errorf("%w: this is not a table of the format %s", format.ErrHeader, o.Format)}
	}
	if rows == nil {
		return &File{lines: lines, d: NewDecoder(o)}, nil
	}
	if o.Format.OfTable() && string(o.Format) != string(rows.Format()) {
		rows.Close()
		return nil, &format.Error{File: path, Offset: -1, Cause: fmt.Errorf("%w: this is a table of the format %s, and not %s", format.ErrHeader, rows.Format(), o.Format)}
	}
	f := &File{}
	if f.table, f.notes, err = openTable(rows, &o); err != nil {
		rows.Close()
		return nil, err
	}
	o.Format = NDJSON
	f.d = NewDecoder(o)
	return f, nil
}

// Notes say how a table is read.
func (f *File) Notes() []string { return f.notes }

// Whole makes Next leave a last line that has no line end, as if the file ended before it. A table has none.
func (f *File) Whole() {
	if f.lines != nil {
		f.lines.Whole()
	}
}

// Left returns the number of bytes that Whole made Next leave at the end.
func (f *File) Left() int64 {
	if f.table != nil {
		return 0
	}
	return f.lines.Left()
}

// Next reads the next update. It blocks until the update is there.
func (f *File) Next(u *Update) error {
	if f.table != nil {
		line, err := f.table.next()
		if err != nil {
			return err
		}
		if _, err := f.d.decode(line, u); err != nil {
			return f.table.place(line, err)
		}
		f.line = line
		return nil
	}
	for {
		line, err := f.lines.Next()
		if err != nil {
			if errors.Is(err, format.ErrLongLine) {
				return &InputError{BadText, err}
			}
			return err
		}
		ok, err := f.d.decode(line, u)
		if err != nil {
			return &InputError{kindOf(err), f.lines.Place(err)}
		}
		if ok {
			f.line = line
			return nil
		}
	}
}

// Line returns the line of the last update, without its line end, until the next call of Next. For a row it is an object of NDJSON.
func (f *File) Line() []byte { return f.line }

// TimeUnit returns the unit of numbers that the first time decided, if Times.Nanoseconds asks for it, or "".
func (f *File) TimeUnit() string { return f.d.TimeUnit() }

// Waiting reports whether Next has a line, or the end, without a wait for more input. If the lines that are there are blank, Next
// waits nevertheless.
func (f *File) Waiting() bool {
	if f.table != nil {
		return f.table.given < len(f.table.ends) || f.table.rows.Waiting()
	}
	return f.lines.Waiting()
}

// Position returns the number of lines that were read, and the byte of the decompressed text that follows them. For a table it returns the number of
// rows and, within a row of several updates, the number of those that were read.
func (f *File) Position() (lines, offset int64) {
	if f.table != nil {
		return f.table.position()
	}
	return f.lines.Position()
}

// Place returns where the last update is.
func (f *File) Place() Place {
	var p Place
	if f.table != nil {
		return Place{file: f.table.rows.Name(), row: f.table.rows.Row(), offset: -1}
	}
	p.file, p.line, p.offset = f.lines.Line()
	return p
}

// Place is where an update is.
type Place struct {
	file         string
	line, offset int64
	message      int64
	inMessage    bool
	row          int64 // of a table
}

// name returns the file, or the message.
func (p Place) name() string {
	if p.inMessage {
		return fmt.Sprintf("%s, message %d", p.file, p.message)
	}
	return p.file
}

// Wrong returns an error about the update there, with file, line and byte, or with file and row.
func (p Place) Wrong(err error) error {
	if p.row > 0 {
		return &format.Error{File: p.file, Offset: -1, Cause: fmt.Errorf("row %d: %w", p.row, err)}
	}
	return &format.Error{File: p.name(), Line: p.line, Column: 1, Offset: p.offset, Cause: err}
}

// Close closes the file.
func (f *File) Close() error {
	if f.table != nil {
		return f.table.rows.Close()
	}
	return f.lines.Close()
}

// Tolerant is a Reader that passes over the mistakes of another, and counts them.
type Tolerant struct {
	Reader Reader
	// Mistakes are the numbers of mistakes by Kind.
	Mistakes [Kinds]atomic.Uint64
	// Each, if it is not nil, is called with each mistake. Its error ends the stream.
	Each func(*InputError) error
}

// Next reads the next update without a mistake.
func (t *Tolerant) Next(u *Update) error {
	for {
		err := t.Reader.Next(u)
		if err == nil {
			return nil
		}
		var bad *InputError
		if !errors.As(err, &bad) {
			return err
		}
		t.Mistakes[bad.Kind].Add(1)
		if t.Each != nil {
			if err := t.Each(bad); err != nil {
				return err
			}
		}
	}
}

// Policy says what follows from a mistake in an update.
type Policy uint8

// Policies.
const (
	Fatal Policy = iota // the mistake ends the stream
	Skip                // it is counted, and the next update follows
)
