package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph/dynamic"
)

// Writable returns the names of all formats that can be written.
func Writable() []string { return []string{string(Lines), string(RapidFlow), string(NDJSON)} }

// Encoder writes updates as lines. It is not safe for concurrent use.
type Encoder struct {
	w   io.Writer
	f   Format
	buf []byte
}

// NewEncoder returns an encoder of a format of Writable. It gives each update to w in one call.
func NewEncoder(w io.Writer, f Format) *Encoder { return &Encoder{w: w, f: f} }

// Encode writes an update. The error is w's, or wraps ErrLoss if the format cannot hold all of the update, and then nothing
// is written.
func (e *Encoder) Encode(u *Update) (err error) {
	if e.buf, err = Append(e.buf[:0], u, e.f); err == nil {
		_, err = e.w.Write(e.buf)
	}
	return err
}

// Append appends an update as a line of a format of Writable, with its line end. The error wraps ErrLoss if the format cannot
// hold all of the update.
func Append(b []byte, u *Update, f Format) ([]byte, error) {
	n := len(b)
	var err error
	switch f {
	case Lines:
		b, err = appendLine(b, u)
	case RapidFlow:
		b, err = appendRapidFlow(b, u)
	case NDJSON:
		b, err = appendObject(b, u)
	default:
		return b, fmt.Errorf("updates cannot be written in the format %q; formats are %s", f, strings.Join(Writable(), ", "))
	}
	if err != nil {
		return b[:n], err
	}
	return append(b, '\n'), nil
}

// ErrLoss means that a format cannot hold an update.
var ErrLoss = errors.New("the format cannot hold an update")

// loss returns the error of a format that cannot hold a part of an update.
func loss(f Format, part string) error {
	return fmt.Errorf("%w: %s cannot hold %s", ErrLoss, f, part)
}

// appendLine appends an update of the format Lines. Commas separate its fields if blanks cannot.
func appendLine(b []byte, u *Update) ([]byte, error) {
	if len(u.Properties) > 0 || u.Op == SetProperty || u.Op == SetEdgeProperty {
		return b, loss(Lines, "properties, which ndjson can")
	}
	var room [4][]byte
	var ids [2][20]byte
	fields := append(room[:0], appendID(ids[0][:0], u.U))
	if u.Op.OfEdge() {
		fields = append(fields, appendID(ids[1][:0], u.V), []byte(u.Label))
	} else {
		for _, l := range u.Labels {
			if l == "" || strings.Contains(l, ";") || strings.TrimSpace(l) != l {
				return b, loss(Lines, fmt.Sprintf("the vertex label %q", l))
			}
		}
		fields = append(fields, []byte(strings.Join(u.Labels, ";")))
	}
	var clock [20]byte
	if u.HasTime {
		fields = append(fields, strconv.AppendInt(clock[:0], u.Time, 10))
	} else if last := len(fields) - 1; len(fields[last]) == 0 {
		fields = fields[:last]
	}
	commas := false
	for i, x := range fields {
		if err := format.CheckText(x, 0); err != nil {
			return b, loss(Lines, "the text "+format.Excerpt(x))
		}
		commas = commas || mustQuote(x, i)
	}
	b = append(b, u.Op.String()...)
	for i, x := range fields {
		switch {
		case !commas && len(x) == 0:
			b = append(b, " _"...)
		case !commas:
			b = append(append(b, ' '), x...)
		case mustQuote(x, i):
			b = append(b, ',', '"')
			b = append(b, bytes.ReplaceAll(x, []byte(`"`), []byte(`""`))...)
			b = append(b, '"')
		default:
			b = append(append(b, ','), x...)
		}
	}
	return b, nil
}

// mustQuote reports whether the i-th field of an update needs double quotes.
func mustQuote(x []byte, i int) bool {
	return bytes.ContainsAny(x, " \t\r,\"") || string(x) == "_" || len(x) > 0 && (x[0] == '#' || x[0] == '%') && i == 0
}

// appendRapidFlow appends an update of the format RapidFlow. RapidFlow itself reads a missing label as 0.
func appendRapidFlow(b []byte, u *Update) ([]byte, error) {
	if u.HasTime {
		return b, loss(RapidFlow, "times")
	}
	if len(u.Properties) > 0 {
		return b, loss(RapidFlow, "properties")
	}
	label := u.Label
	if len(u.Labels) > 1 {
		return b, loss(RapidFlow, "several labels of a vertex")
	}
	if len(u.Labels) == 1 {
		label = u.Labels[0]
	}
	for _, id := range []dynamic.ID{u.U, u.V} { // V is the number 0 where there is none
		if _, ok := id.Number(); !ok {
			return b, loss(RapidFlow, fmt.Sprintf("%q, which is not a number", id))
		}
	}
	if strings.Trim(label, "0123456789") != "" {
		return b, loss(RapidFlow, fmt.Sprintf("%q, which is not a number", label))
	}
	switch u.Op {
	case AddEdge:
		b = append(b, "e "...)
	case RemoveEdge:
		b = append(b, "-e "...)
	case AddVertex:
		b = append(b, "v "...)
	case RemoveVertex:
		b = append(b, "-v "...)
	default:
		return b, loss(RapidFlow, "changes of labels and properties")
	}
	b = appendID(b, u.U)
	if u.Op.OfEdge() {
		b = appendID(append(b, ' '), u.V)
	}
	if label != "" {
		b = append(append(b, ' '), label...)
	}
	return b, nil
}

// appendObject appends an update of the format NDJSON.
func appendObject(b []byte, u *Update) ([]byte, error) {
	b = append(append(b, `{"op":"`...), u.Op.String()...)
	if u.Op.OfEdge() {
		b = appendJSONID(append(b, `","u":`...), u.U)
		b = appendJSONID(append(b, `,"v":`...), u.V)
		if u.Label != "" {
			b = appendText(append(b, `,"label":`...), u.Label)
		}
	} else {
		b = appendJSONID(append(b, `","id":`...), u.U)
		if len(u.Labels) > 0 || u.Op == SetLabels {
			b = append(b, `,"labels":[`...)
			for i, l := range u.Labels {
				if i > 0 {
					b = append(b, ',')
				}
				b = appendText(b, l)
			}
			b = append(b, ']')
		}
	}
	if u.HasTime {
		b = strconv.AppendInt(append(b, `,"time":`...), u.Time, 10)
	}
	if len(u.Properties) > 0 || u.Op == SetProperty || u.Op == SetEdgeProperty {
		b = append(b, `,"properties":{`...)
		for i, p := range u.Properties {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendValue(append(appendText(b, p.Name), ':'), p.Value); err != nil {
				return b, err
			}
		}
		b = append(b, '}')
	}
	b = append(b, '}')
	if !utf8.Valid(b) {
		return b, loss(NDJSON, "a text that is not UTF-8")
	}
	return b, nil
}

// appendValue appends a value of a property. A floating-point number has a point or an exponent, so that it stays one.
func appendValue(b []byte, v dynamic.Value) ([]byte, error) {
	switch v.Kind() {
	case dynamic.Int:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case dynamic.Unsigned:
		if v.Unsigned() > math.MaxInt64 {
			return b, loss(NDJSON, fmt.Sprintf("the number %d, which is not below 2^63", v.Unsigned()))
		}
		return strconv.AppendUint(b, v.Unsigned(), 10), nil
	case dynamic.Float:
		x, n := v.Float(), len(b)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return b, loss(NDJSON, fmt.Sprintf("the number %v", x))
		}
		if b = strconv.AppendFloat(b, x, 'g', -1, 64); !bytes.ContainsAny(b[n:], ".e") {
			b = append(b, ".0"...)
		}
		return b, nil
	case dynamic.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case dynamic.String:
		return appendText(b, v.Text()), nil
	}
	return append(b, "null"...), nil
}

// appendID appends a vertex id.
func appendID(b []byte, id dynamic.ID) []byte {
	if x, ok := id.Number(); ok {
		return strconv.AppendUint(b, x, 10)
	}
	return append(b, id.String()...)
}

// appendJSONID appends a vertex id, a text in double quotes.
func appendJSONID(b []byte, id dynamic.ID) []byte {
	if x, ok := id.Number(); ok {
		return strconv.AppendUint(b, x, 10)
	}
	return appendText(b, id.String())
}

// appendText appends a text of JSON.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
		if i < 0 {
			return append(append(b, s...), '"')
		}
		b = append(b, s[:i]...)
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
		s = s[i+1:]
	}
}

// ParseWritable returns the format to write that has a name. The error names the formats.
func ParseWritable(name string) (Format, error) {
	if !slices.Contains(Writable(), name) {
		return "", fmt.Errorf("updates cannot be written in the format %q; formats are %s", name, strings.Join(Writable(), ", "))
	}
	return Format(name), nil
}
