package sink

import (
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/engine"
)

// tableHead is how many rows set the widths of a table's columns; later rows
// are written as they come, in these widths.
const tableHead = 500

// table is the target for people: aligned columns under a head.
type table struct {
	w    io.Writer
	cols []Column
	// widths is nil until the head is written. Until then cells holds the cells
	// of the first rows, row after row.
	widths atomic.Pointer[[]int]
	cells  [][]byte
}

func newTable(w io.Writer, cols []Column) *table {
	t := &table{w: w, cols: cols}
	for _, c := range cols {
		t.cells = append(t.cells, []byte(c.Name))
	}
	return t
}

func (t *table) encoder() encoder { return &tableEncoder{t: t} }

func (t *table) close() error { return t.writeHead() }

// writeHead sets the widths and writes the rows that waited for them.
func (t *table) writeHead() error {
	if t.widths.Load() != nil {
		return nil
	}
	widths := make([]int, len(t.cols))
	for i, cell := range t.cells {
		w := &widths[i%len(widths)]
		*w = max(*w, utf8.RuneCount(cell))
	}
	t.widths.Store(&widths)
	out := t.lines(nil, t.cells, widths)
	t.cells = nil
	_, err := t.w.Write(out)
	return err
}

// lines appends whole rows of cells.
func (t *table) lines(b []byte, cells [][]byte, widths []int) []byte {
	for i, cell := range cells {
		start := len(b)
		b = t.align(append(b, cell...), start, i%len(widths), widths)
	}
	return b
}

// align pads the cell that begins at start, of column i, with blanks: numbers on
// the left. The last cell ends the line, without blanks at its end.
func (t *table) align(b []byte, start, i int, widths []int) []byte {
	end, n := len(b), widths[i]-utf8.RuneCount(b[start:])
	for range n {
		b = append(b, ' ')
	}
	if typ := t.cols[i].Type; n > 0 && (typ == Int || typ == Float || typ == Count) {
		copy(b[start+n:], b[start:end])
		for k := range n {
			b[start+k] = ' '
		}
	}
	if i+1 < len(widths) {
		return append(b, ' ', ' ')
	}
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return append(b, '\n')
}

// tableEncoder gathers cells while the widths are open, and lines from then on.
type tableEncoder struct {
	t     *table
	cells [][]byte
	buf   []byte
}

func (e *tableEncoder) add(b *engine.Batch) (bool, error) {
	t, buf := e.t, e.buf
	var widths []int
	if w := t.widths.Load(); w != nil {
		widths = *w
	}
	for i := range b.Rows {
		m, edges := row(b, i)
		for j := range t.cols {
			start := len(buf)
			buf = appendCell(buf, &t.cols[j], m, edges)
			if widths != nil {
				buf = t.align(buf, start, j, widths)
			} else {
				e.cells = append(e.cells, slices.Clone(buf[start:]))
				buf = buf[:start]
			}
		}
	}
	e.buf = buf
	return len(buf) >= bufferSize || len(e.cells) >= tableHead*len(t.cols), nil
}

func (e *tableEncoder) flush() error {
	t := e.t
	if len(e.cells) > 0 {
		if w := t.widths.Load(); w != nil {
			e.buf = t.lines(e.buf, e.cells, *w)
		} else if t.cells = append(t.cells, e.cells...); len(t.cells) > tableHead*len(t.cols) {
			if err := t.writeHead(); err != nil {
				return err
			}
		}
		e.cells = nil
	}
	if len(e.buf) == 0 {
		return nil
	}
	_, err := t.w.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}

// appendCell writes a value for people: a missing one is -, and control characters are
// shown as blanks.
func appendCell(b []byte, c *Column, m []uint32, e []uint64) []byte {
	start := len(b)
	switch c.source {
	case fromVertex:
		if c.Type == Int {
			return appendInt(b, c.g.IDs.Int(m[c.index]))
		}
		b = appendText(b, c.g.IDs.String(m[c.index]))
	case fromEdge:
		b = appendJSON(b, edgeValue{c, e[c.index : c.index+1]})
	default:
		switch x := c.value(m, e).(type) {
		case nil:
			return append(b, '-')
		case string:
			if c.data {
				b = appendText(b, x)
			} else {
				b = append(b, x...)
			}
		default:
			return appendCSV(b, x)
		}
	}
	for _, c := range b[start:] {
		if c < ' ' || c >= utf8.RuneSelf {
			return append(b[:start], printable(string(b[start:]))...)
		}
	}
	return b
}

// appendText quotes text that would be taken for a missing value or for nothing.
func appendText(b []byte, s string) []byte {
	if s == "-" || strings.TrimSpace(s) == "" {
		return append(append(append(b, '"'), s...), '"')
	}
	return append(b, s...)
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}
