package sink

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/engine"
)

// tableHead is how many rows set the widths of a table's columns; later rows
// are written as they come, in these widths.
const tableHead = 500

// table is the target for people: aligned columns under a head.
type table struct {
	w      io.Writer
	cols   []Column
	widths []int // nil until the head is written
	rows   [][]string
}

func newTable(w io.Writer, cols []Column) *table { return &table{w: w, cols: cols} }

func (t *table) encoder() encoder { return &tableEncoder{t: t} }

func (t *table) close() error { return t.writeHead() }

// take writes rows, or keeps them while the widths are open.
func (t *table) take(rows [][]string) error {
	if t.widths != nil {
		return t.write(rows)
	}
	t.rows = append(t.rows, rows...)
	if len(t.rows) < tableHead {
		return nil
	}
	return t.writeHead()
}

func (t *table) writeHead() error {
	if t.widths != nil {
		return nil
	}
	head := make([]string, len(t.cols))
	t.widths = make([]int, len(t.cols))
	for i, c := range t.cols {
		head[i] = c.Name
	}
	rows := append([][]string{head}, t.rows...)
	for _, r := range rows {
		for i, cell := range r {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	t.rows = nil
	return t.write(rows)
}

func (t *table) write(rows [][]string) error {
	var b, line strings.Builder
	for _, r := range rows {
		line.Reset()
		for i, cell := range r {
			pad := strings.Repeat(" ", max(t.widths[i]-utf8.RuneCountInString(cell), 0))
			right := t.cols[i].Type == Int || t.cols[i].Type == Float
			switch {
			case right:
				line.WriteString(pad + cell)
			default:
				line.WriteString(cell + pad)
			}
			line.WriteString("  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

type tableEncoder struct {
	t    *table
	rows [][]string
}

func (e *tableEncoder) add(b *engine.Batch) (bool, error) {
	for i := range b.Rows {
		m, edges := row(b, i)
		cells := make([]string, len(e.t.cols))
		for j := range cells {
			cells[j] = cell(&e.t.cols[j], m, edges)
		}
		e.rows = append(e.rows, cells)
	}
	return len(e.rows) >= tableHead, nil
}

func (e *tableEncoder) flush() error {
	if len(e.rows) == 0 {
		return nil
	}
	err := e.t.take(e.rows)
	e.rows = nil
	return err
}

// cell writes a value for people: control characters are shown as blanks.
func cell(c *Column, m []uint32, e []uint64) string {
	var s string
	switch c.source {
	case fromVertex:
		s = c.g.IDs.String(m[c.index])
	case fromEdge:
		s = string(appendJSON(nil, edgeValue{c, e[c.index : c.index+1]}))
	default:
		x := c.value(m, e)
		if str, ok := x.(string); ok {
			s = str
		} else if x != nil {
			s = string(appendCSV(nil, x))
		} else {
			s = "-"
		}
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}
