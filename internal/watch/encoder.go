package watch

import (
	"bytes"
	"io"
	"math"
	"strconv"

	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/sink"
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
func newEncoder(w io.Writer, format string, b *Beginning, resumed bool) (encoder, error) {
	if format == "ndjson" {
		return newLines(w, b.Labels), nil
	}
	t := &rows{w: w, labels: b.Labels}
	if len(b.Queries) == 1 && !b.Open {
		t.only = b.Queries[0]
	}
	if resumed {
		t.w = &withoutHead{w: w, format: format}
	}
	cols := []sink.Column{
		t.column("seq", sink.Int, func(r *row) any { return int64(r.seq) }),
		t.column("query", sink.String, func(r *row) any { return r.query }),
		t.column("op", sink.String, func(r *row) any { return sign(r.added) }),
	}
	if t.only != nil {
		for i, f := range t.only.Fields {
			typ := sink.String
			if f.Kind == VertexField && !b.Text {
				typ = sink.Int
			}
			c := t.column(f.Name, typ, func(r *row) any { return r.values[i] })
			if f.Kind == ValueField {
				c = t.only.values[f.At].column.Like(func(m []uint32, _ []uint64) any { return t.rows[m[0]].values[i] })
			}
			cols = append(cols, c)
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

func newLines(w io.Writer, labels bool) *lines { return &lines{w: w, labels: labels} }

// learn makes the texts of a change's query.
func (l *lines) learn(c *Change) {
	if c.Number < len(l.names) && l.names[c.Number] != nil {
		return
	}
	for len(l.names) <= c.Number {
		l.names, l.keys = append(l.names, nil), append(l.keys, nil)
	}
	l.names[c.Number] = append(sink.AppendJSON([]byte(`,"query":`), c.Query.Name), `,"op":"`...)
	for _, f := range c.Query.Fields {
		l.keys[c.Number] = append(l.keys[c.Number], append(sink.AppendJSON(nil, f.Name), ':'))
	}
}

func (l *lines) change(c *Change) error {
	if l.line(c); len(l.buf) >= bufferSize {
		return l.flush()
	}
	return nil
}

// line adds the line of a change to the buffer, and returns the buffer.
func (l *lines) line(c *Change) []byte {
	l.learn(c)
	b := strconv.AppendUint(append(l.buf, `{"seq":`...), c.Seq, 10)
	b = append(b, l.names[c.Number]...)
	b = append(append(b, sign(c.Added)...), `","match":{`...)
	b = appendFields(b, c, l.keys[c.Number], l.labels)
	l.buf = append(b, "}}\n"...)
	return l.buf
}

// appendFields appends the fields of a change, with commas between them.
func appendFields(b []byte, c *Change, keys [][]byte, labels bool) []byte {
	for i := range c.Query.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, keys[i]...)
		switch f := &c.Query.Fields[i]; f.Kind {
		case VertexField:
			b = appendID(b, c.IDs[f.At])
		case EdgeField:
			b = c.Edges[f.At].appendJSON(b, labels)
		case ValueField:
			b = sink.AppendJSON(b, c.Values[f.At])
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
	only   *Query // whose fields are columns; nil: one column has all fields
	w      io.Writer
	out    *sink.Writer
	rows   []row
	lines  lines // their keys
	labels bool
}

// row is a change that waits to be written.
type row struct {
	seq    uint64
	query  string
	added  bool
	values []any
}

// mostRows is the number of changes that wait.
const mostRows = 4096

func (t *rows) column(name string, typ sink.Type, value func(r *row) any) sink.Column {
	return sink.Value(name, typ, func(m []uint32, _ []uint64) any { return value(&t.rows[m[0]]) })
}

func (t *rows) change(c *Change) error {
	r := row{seq: c.Seq, query: c.Query.Name, added: c.Added}
	if t.only == nil {
		t.lines.learn(c)
		r.values = []any{string(append(appendFields([]byte{'{'}, c, t.lines.keys[c.Number], t.labels), '}'))}
	} else {
		for i := range c.Query.Fields {
			f := &c.Query.Fields[i]
			switch f.Kind {
			case VertexField:
				if n, ok := c.IDs[f.At].Number(); ok {
					r.values = append(r.values, int64(n))
				} else {
					r.values = append(r.values, c.IDs[f.At].String())
				}
			case EdgeField:
				r.values = append(r.values, string(c.Edges[f.At].appendJSON(nil, t.labels)))
			case ValueField:
				r.values = append(r.values, c.Query.values[f.At].typed(c.Values[f.At]))
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
