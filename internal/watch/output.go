package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"syscall"

	"github.com/weftgraph/weft/internal/ctxio"
	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
	"github.com/weftgraph/weft/internal/vfs"
)

// Formats are the formats of changes.
var Formats = []string{"ndjson", "csv", "arrow", "table"}

// encoder writes changes in a format.
type encoder interface {
	change(c *Change) error
	// flush writes all changes so far.
	flush() error
	// close writes the end of the format.
	close() error
}

// newEncoder returns an encoder of a format. labels says that an edge without a label has a null for it. resumed leaves out the part that comes before all changes, which the output has already.
func newEncoder(w io.Writer, format string, qs []*Query, text, labels, resumed bool) (encoder, error) {
	if format == "ndjson" {
		return newLines(w, qs, labels), nil
	}
	t := &rows{qs: qs, w: w, labels: labels}
	if resumed {
		t.w = &withoutHead{w: w, format: format}
	}
	cols := []sink.Column{
		t.column("seq", sink.Int, func(r *row) any { return int64(r.seq) }),
		t.column("query", sink.String, func(r *row) any { return qs[r.query].Name }),
		t.column("op", sink.String, func(r *row) any { return sign(r.added) }),
	}
	if len(qs) == 1 {
		for i, f := range qs[0].Fields {
			typ := sink.String
			if f.Edge < 0 && !text {
				typ = sink.Int
			}
			cols = append(cols, t.column(f.Name, typ, func(r *row) any { return r.values[i] }))
		}
	} else { // of several shapes
		cols = append(cols, t.column("match", sink.String, func(r *row) any { return r.values[0] }))
	}
	var err error
	t.out, err = sink.New(t.w, sink.Options{Format: format, Columns: cols, Interval: math.MaxInt64})
	return t, err
}

func sign(added bool) string {
	if added {
		return "+"
	}
	return "-"
}

// lines writes NDJSON: {"seq":1,"query":"ring","op":"+","match":{"a":1,"b":2}}.
type lines struct {
	w     io.Writer
	buf   []byte
	names [][]byte   // `,"query":"ring","op":"`, by query
	keys  [][][]byte // `"a":`, by query and field
	// labels: an edge without a label has a null for it.
	labels bool
}

// bufferSize is the number of bytes that an encoder keeps.
const bufferSize = 64 << 10

func newLines(w io.Writer, qs []*Query, labels bool) *lines {
	l := &lines{w: w, labels: labels}
	for _, q := range qs {
		l.names = append(l.names, append(sink.AppendJSON([]byte(`,"query":`), q.Name), `,"op":"`...))
		var keys [][]byte
		for _, f := range q.Fields {
			keys = append(keys, append(sink.AppendJSON(nil, f.Name), ':'))
		}
		l.keys = append(l.keys, keys)
	}
	return l
}

func (l *lines) change(c *Change) error {
	b := strconv.AppendUint(append(l.buf, `{"seq":`...), c.Seq, 10)
	b = append(b, l.names[c.Number]...)
	b = append(append(b, sign(c.Added)...), `","match":{`...)
	b = appendFields(b, c, l.keys[c.Number], l.labels)
	l.buf = append(b, "}}\n"...)
	if len(l.buf) >= bufferSize {
		return l.flush()
	}
	return nil
}

// appendFields appends the fields of a change, with commas between them.
func appendFields(b []byte, c *Change, keys [][]byte, labels bool) []byte {
	for i := range c.Query.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, keys[i]...)
		if f := &c.Query.Fields[i]; f.Edge >= 0 {
			b = c.Edges[f.Edge].appendJSON(b, labels)
		} else {
			b = appendID(b, c.IDs[f.Vertex])
		}
	}
	return b
}

func appendID(b []byte, id dynamic.ID) []byte {
	if x, ok := id.Number(); ok {
		return strconv.AppendUint(b, x, 10)
	}
	return sink.AppendJSON(b, id.String())
}

func (e *Edge) appendJSON(b []byte, labels bool) []byte {
	b = appendID(append(b, `{"src":`...), e.Src)
	b = appendID(append(b, `,"dst":`...), e.Dst)
	if e.Label != "" {
		b = sink.AppendJSON(append(b, `,"label":`...), e.Label)
	} else if labels {
		b = append(b, `,"label":null`...)
	}
	switch {
	case e.HasTime && e.Unit > 0:
		b = append(pattern.AppendTimestamp(append(b, `,"time":"`...), e.Time, e.Unit), '"')
	case e.HasTime:
		b = strconv.AppendInt(append(b, `,"time":`...), e.Time, 10)
	}
	return append(b, '}')
}

func (l *lines) flush() error {
	if len(l.buf) == 0 {
		return nil
	}
	_, err := l.w.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

func (l *lines) close() error { return l.flush() }

// rows writes changes by package sink.
type rows struct {
	qs     []*Query
	w      io.Writer
	out    *sink.Writer
	rows   []row
	keys   [][][]byte // as those of lines
	labels bool
}

// row is a change that waits to be written.
type row struct {
	seq    uint64
	query  int
	added  bool
	values []any
}

// mostRows is the number of changes that wait.
const mostRows = 4096

func (t *rows) column(name string, typ sink.Type, value func(r *row) any) sink.Column {
	return sink.Value(name, typ, func(m []uint32, _ []uint64) any { return value(&t.rows[m[0]]) })
}

func (t *rows) change(c *Change) error {
	r := row{seq: c.Seq, query: c.Number, added: c.Added}
	if len(t.qs) > 1 {
		if t.keys == nil {
			t.keys = newLines(nil, t.qs, t.labels).keys
		}
		r.values = []any{string(append(appendFields([]byte{'{'}, c, t.keys[c.Number], t.labels), '}'))}
	} else {
		for i := range c.Query.Fields {
			f := &c.Query.Fields[i]
			if f.Edge >= 0 {
				r.values = append(r.values, string(c.Edges[f.Edge].appendJSON(nil, t.labels)))
			} else if n, ok := c.IDs[f.Vertex].Number(); ok {
				r.values = append(r.values, int64(n))
			} else {
				r.values = append(r.values, c.IDs[f.Vertex].String())
			}
		}
	}
	t.rows = append(t.rows, r)
	if len(t.rows) == mostRows {
		return t.emit()
	}
	return nil
}

func (t *rows) emit() error {
	err := t.out.Emit(0, sink.Rows(0, len(t.rows)))
	t.rows = t.rows[:0]
	return err
}

func (t *rows) flush() error {
	if err := t.emit(); err != nil {
		return err
	}
	return t.out.Flush()
}

func (t *rows) close() error {
	err := t.emit()
	if closed := t.out.Close(); err == nil {
		err = closed
	}
	return err
}

// withoutHead drops the part of an output that comes before all changes: the header of CSV and of a table, and the schema of Arrow.
type withoutHead struct {
	w      io.Writer
	format string
	head   []byte // what was dropped of an Arrow stream so far
	done   bool
}

func (x *withoutHead) Write(b []byte) (int, error) {
	n := len(b)
	if !x.done && x.format == "arrow" {
		x.head = append(x.head, b...)
		size, whole := messageSize(x.head)
		if !whole {
			return n, nil
		}
		x.done = true
		b = x.head[size:]
		x.head = nil
	} else if !x.done {
		i := bytes.IndexByte(b, '\n')
		x.done = i >= 0
		if !x.done {
			return n, nil
		}
		b = b[i+1:]
	}
	if len(b) > 0 {
		if _, err := x.w.Write(b); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// messageSize returns the size of the message of an Arrow stream at the beginning of b, which has no body. whole is false if b is only a
// part of it.
func messageSize(b []byte) (size int, whole bool) {
	if len(b) < 8 {
		return 0, false
	}
	size = 8 + (int(b[4]) | int(b[5])<<8 | int(b[6])<<16 | int(b[7])<<24) // after the mark of a message
	return size, len(b) >= size
}

// file is an output file that is written in place, so that it can be read while it grows, and cut to the length of a checkpoint.
type file struct {
	ctx    context.Context // within which it is written
	f      vfs.File
	w      *ctxio.Writer
	name   string
	length int64
}

// openFile opens an output file and cuts it to a length.
func openFile(ctx context.Context, files vfs.FS, name string, length int64) (*file, error) {
	if err := disk.Check(files, name); err != nil {
		return nil, err
	}
	f, err := ctxio.OpenFile(ctx, files, name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	o := &file{ctx, f, ctxio.NewWriter(f), name, length}
	if err := o.begin(); err != nil {
		_ = o.close()
		return nil, err
	}
	return o, nil
}

func (o *file) close() error {
	o.w.Close()
	if err := o.f.Close(); err != nil {
		return &disk.Error{Name: o.name, Err: pathless(err)}
	}
	return nil
}

func (o *file) begin() error {
	st, err := o.f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return nil
	}
	if st.Size() < o.length {
		return fmt.Errorf("%w: the output %s is shorter than it was, so that changes are lost; remove the folder of state to begin anew", ErrCheckpoint, o.name)
	}
	if err := o.f.Truncate(o.length); err != nil {
		return err
	}
	_, err = o.f.Seek(o.length, io.SeekStart)
	return err
}

func (o *file) Write(b []byte) (int, error) {
	n, err := o.w.WriteWithin(o.ctx, b)
	o.length += int64(n)
	if err != nil && o.ctx.Err() == nil {
		err = &disk.Error{Name: o.name, Err: pathless(err)}
	}
	return n, err
}

// sync brings the file to the disk.
func (o *file) sync() error {
	if err := o.f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return &disk.Error{Name: o.name, Err: pathless(err)}
	}
	return nil // not every file can
}

// pathless is an error of the file system without the name of the file.
func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
