package sink

import (
	"io"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/engine"
)

// bufferSize is how much text a worker gathers before it is written.
const bufferSize = 128 << 10

// style is how a text format writes a row: before[i] comes before the value of
// column i.
type style struct {
	begin, end string   // of the whole output
	empty      string   // closing text if there is no row
	first      string   // before the first row
	between    string   // between rows
	before     []string // before each value
	after      string   // after the last value
	value      func(b []byte, x any) []byte
	str        func(b, s []byte) []byte
}

func csvStyle(cols []Column) style {
	s := style{after: "\n", value: appendCSV, str: appendCSVString}
	var head []byte
	for i, c := range cols {
		sep := ""
		if i > 0 {
			sep = ","
		}
		s.before = append(s.before, sep)
		head = appendCSVString(append(head, sep...), []byte(c.Name))
	}
	s.begin = string(head) + "\n"
	if len(cols) == 1 {
		s.value = appendOnlyCSV
	}
	return s
}

func ndjsonStyle(cols []Column) style {
	s := style{after: "}\n", value: appendJSON, str: appendJSONString}
	for i, c := range cols {
		sep := "{"
		if i > 0 {
			sep = ","
		}
		s.before = append(s.before, string(appendJSONString([]byte(sep), []byte(c.Name)))+":")
	}
	return s
}

// jsonStyle is one array of objects.
func jsonStyle(cols []Column) style {
	s := ndjsonStyle(cols)
	s.begin, s.first, s.between, s.after, s.end, s.empty = "[", "\n", ",\n", "}", "\n]\n", "]\n"
	return s
}

// text is the target of the text formats.
type text struct {
	w    io.Writer
	cols []Column
	style
	rows bool // whether a row has been written
}

func newText(w io.Writer, cols []Column, s style) (*text, error) {
	_, err := io.WriteString(w, s.begin)
	return &text{w: w, cols: cols, style: s}, err
}

func (t *text) encoder() encoder { return &textEncoder{t: t, buf: make([]byte, 0, bufferSize+4096)} }

func (t *text) close() error {
	end := t.end
	if !t.rows {
		end = t.empty
	}
	_, err := io.WriteString(t.w, end)
	return err
}

type textEncoder struct {
	t   *text
	buf []byte
}

func (e *textEncoder) add(b *engine.Batch) (bool, error) {
	t, buf := e.t, e.buf
	for i := range b.Rows {
		m, edges := row(b, i)
		if t.between != "" {
			buf = append(buf, t.between...)
		}
		for j := range t.cols {
			c := &t.cols[j]
			buf = append(buf, t.before[j]...)
			switch {
			case c.source == fromVertex && c.Type == Int:
				buf = appendInt(buf, c.g.IDs.Int(m[c.index]))
			case c.source == fromVertex:
				v := m[c.index]
				ids := &c.g.IDs
				buf = t.str(buf, ids.StrBytes[ids.StrOff[v]:ids.StrOff[v+1]])
			case c.source == fromEdge:
				buf = t.value(buf, edgeValue{c, edges[c.index : c.index+1]})
			case c.ints && int64(edges[c.index]) != NoInt:
				buf = appendInt(buf, int64(edges[c.index]))
			default:
				buf = t.value(buf, c.value(m, edges))
			}
		}
		buf = append(buf, t.after...)
	}
	e.buf = buf
	return len(buf) >= bufferSize, nil
}

func (e *textEncoder) flush() error {
	if len(e.buf) == 0 {
		return nil
	}
	out := e.buf
	if !e.t.rows {
		out = out[len(e.t.between):]
		e.t.rows = true
		if _, err := io.WriteString(e.t.w, e.t.first); err != nil {
			return err
		}
	}
	_, err := e.t.w.Write(out)
	e.buf = e.buf[:0]
	return err
}

// edgeValue is an edge to be written as an object.
type edgeValue struct {
	c  *Column
	id []uint64
}

// maxNumber is the largest count that JSON has as a number.
var maxNumber = new(big.Int).Lsh(big.NewInt(1), 53)

// AppendJSON appends a number, a text, a truth value or nil as JSON has it.
func AppendJSON(b []byte, x any) []byte { return appendJSON(b, x) }

// appendJSON writes a value. A number that JSON cannot write becomes null.
func appendJSON(b []byte, x any) []byte {
	switch x := x.(type) {
	case int64:
		return appendInt(b, x)
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return append(b, "null"...)
		}
		return strconv.AppendFloat(b, x, 'g', -1, 64)
	case bool:
		return strconv.AppendBool(b, x)
	case string:
		return appendJSONString(b, []byte(x))
	case Instant:
		return append(x.append(append(b, '"')), '"')
	case Span:
		return append(x.append(append(b, '"')), '"')
	case *big.Int:
		// Readers may keep numbers as floats, which are exact up to 2^53.
		if x.CmpAbs(maxNumber) <= 0 {
			return x.Append(b, 10)
		}
		return append(x.Append(append(b, '"'), 10), '"')
	case edgeValue:
		for i := range x.c.fields {
			f := &x.c.fields[i]
			if i == 0 {
				b = append(b, '{')
			} else {
				b = append(b, ',')
			}
			b = append(appendJSONString(b, []byte(f.Name)), ':')
			b = appendJSON(b, f.value(nil, x.id))
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

const hex = "0123456789abcdef"

// appendJSONString quotes s. Bytes that are not UTF-8 become the replacement character.
func appendJSONString(b, s []byte) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRune(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			b = append(append(b, s[from:i]...), "\ufffd"...)
		} else {
			b = append(b, s[from:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// appendCSV writes a value as a field; null is empty, an edge is JSON.
func appendCSV(b []byte, x any) []byte {
	switch x := x.(type) {
	case nil:
		return b
	case string:
		return appendCSVString(b, []byte(x))
	case float64:
		return strconv.AppendFloat(b, x, 'g', -1, 64)
	case *big.Int:
		return x.Append(b, 10)
	case Instant:
		return x.append(b)
	case Span:
		return x.append(b)
	case edgeValue:
		return appendCSVString(b, appendJSON(nil, x))
	}
	return appendJSON(b, x)
}

// appendOnlyCSV is appendCSV for the only field of a row: readers skip empty lines, so
// that null is written as empty text.
func appendOnlyCSV(b []byte, x any) []byte {
	if x == nil {
		return append(b, `""`...)
	}
	return appendCSV(b, x)
}

// appendCSVString quotes s as RFC 4180 does if it must. It also quotes if a reader could trim
// blanks at an end, or could take the row for a comment.
func appendCSVString(b, s []byte) []byte {
	quote := len(s) == 0 || s[0] <= ' ' || s[len(s)-1] <= ' ' || s[0] == '#'
	for _, c := range s {
		quote = quote || c == ',' || c == '"' || c == '\n' || c == '\r'
	}
	if !quote {
		return append(b, s...)
	}
	b = append(b, '"')
	for _, c := range s {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}
