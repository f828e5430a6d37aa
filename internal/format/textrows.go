package format

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/timetext"
)

// field is one field of a line and where it begins in the block.
type field struct {
	b   []byte
	pos int
}

// fields is a line split at its separators.
type fields struct {
	at []field
	n  int
	// comments is how many of the lines were comments.
	comments uint64
}

// split cuts the line b[i:] up; a blank line or a comment has no fields.
func (f *fields) split(b []byte, i int, sep byte) error {
	f.n = 0
	f.at = f.at[:0]
	end := len(b)
	for end > i && (b[end-1] == '\r' || b[end-1] == ' ') {
		end--
	}
	if sep != '\t' {
		for end > i && (b[end-1] == '\t' || b[end-1] == '\r' || b[end-1] == ' ') {
			end--
		}
	}
	for i < end && (b[i] == ' ' || b[i] == '\t' && sep != '\t') {
		i++
	}
	if i == end {
		return nil
	}
	if b[i] == '#' || b[i] == '%' {
		f.comments++
		return nil
	}
	if sep == 0 {
		for {
			for i < end && (b[i] == ' ' || b[i] == '\t') {
				i++
			}
			if i == end {
				break
			}
			s := i
			for i < end && b[i] != ' ' && b[i] != '\t' {
				i++
			}
			f.at = append(f.at, field{b[s:i], s})
		}
		f.n = len(f.at)
		return nil
	}
	for {
		for i < end && b[i] == ' ' {
			i++
		}
		if i < end && b[i] == '"' {
			v, rest, ok := unquote(b[i:end])
			if !ok {
				return &spot{pos: i, field: b[i:end], err: wrapf(ErrColumns, "a quoted field does not end on its line")}
			}
			f.at = append(f.at, field{v, i + 1})
			if len(rest) == 0 {
				break
			}
			if rest[0] != sep {
				return &spot{pos: end - len(rest), field: rest, err: wrapf(ErrColumns, "text after a closing quote")}
			}
			i = end - len(rest) + 1
			continue
		}
		s := i
		k := bytes.IndexByte(b[i:end], sep)
		e := end
		if k >= 0 {
			e = i + k
		}
		i = e + 1
		for e > s && (b[e-1] == ' ' || b[e-1] == '\t' && sep != '\t') {
			e--
		}
		f.at = append(f.at, field{b[s:e], s})
		if k < 0 {
			break
		}
	}
	f.n = len(f.at)
	return nil
}

func raggedError(line []byte, pos, have, want int) error {
	plural := "s"
	if have == 1 {
		plural = ""
	}
	if i := binaryByte(line); i >= 0 {
		return notText(line, pos, i)
	}
	return &spot{pos: pos, field: line, err: wrapf(ErrRagged, "%d field%s where %d are expected", have, plural, want)}
}

func binaryByte(b []byte) int {
	for i, c := range b {
		if c < ' ' && c != '\t' && c != '\r' || c == 0x7f {
			return i
		}
	}
	return -1
}

func notText(b []byte, pos, i int) error {
	return &spot{pos: pos + i, field: b[i:], err: wrapf(ErrNotText, "byte 0x%02x", b[i])}
}

// parseID reads a whole field as a vertex id.
func parseID(v []byte, pos int, sp *textSpec) (uint64, error) {
	fail := func(err error) (uint64, error) {
		if i := binaryByte(v); i >= 0 {
			return 0, notText(v, pos, i)
		}
		return 0, &spot{pos: pos, field: v, err: err}
	}
	if len(v) == 0 {
		return fail(wrapf(ErrColumns, "an empty vertex id"))
	}
	if v[0] == '-' && isInt(v) {
		return fail(wrapf(ErrNegative, "ids are 0 … 2^63-1 (text ids: --columns src:string,dst,…)"))
	}
	var x uint64
	for _, c := range v {
		if c -= '0'; c > 9 {
			return fail(wrapf(ErrNumber, "vertex ids are numbers here (text ids: --columns src:string,dst,…)"))
		} else if x > (1<<63-1)/10 {
			return fail(wrapf(ErrOverflow, "ids are below 2^63 (text ids: --columns src:string,dst,…)"))
		} else {
			x = x*10 + uint64(c)
		}
	}
	if x >= 1<<63 {
		return fail(wrapf(ErrOverflow, "ids are below 2^63 (text ids: --columns src:string,dst,…)"))
	}
	if len(v) > 1 && v[0] == '0' && !sp.padded {
		return 0, &widen{ids: true, spot: &spot{pos: pos, field: v,
			err: wrapf(ErrIDs, "an id that begins with a zero after ids that do not (--columns src:string,dst,… keeps 01 and 1 apart, src:int,dst:int,… makes them one)")}}
	}
	if x-sp.lo >= sp.span {
		return fail(wrapf(ErrRange, "ids are %d … %d here", sp.lo, sp.lo+sp.span-1))
	}
	return x, nil
}

// isPadded reports whether an id is digits after a zero: as a number it would be the
// same as others.
func isPadded(v []byte) bool { return len(v) > 1 && v[0] == '0' && isInt(v) }

// bstr views bytes as a string for a call that does not keep it.
func bstr(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

var errISO = errors.New("not a time such as 2024-01-31T12:00:00Z")

// parseISO reads an ISO 8601 date and time as microseconds since 1970, UTC
// where it names no zone.
func parseISO(v []byte) (int64, error) {
	t, ok := timetext.Parse(bstr(v))
	switch {
	case !ok:
		return 0, errISO
	case t.Nanosecond()%1000 != 0:
		return 0, wrapf(ErrNumber, "finer than a microsecond")
	}
	return t.UnixMicro(), nil
}

// widen asks for the file to be read again, with a wider type of a column.
type widen struct {
	col   int
	typ   propType
	scale int
	ids   bool // ids are text
	spot  error
	// against is column.against.
	against string
}

func (w *widen) Error() string { return w.spot.Error() }
func (w *widen) Unwrap() error { return w.spot }

// rows is one worker's state on the general path.
type rows struct {
	sp     *textSpec
	f      fields
	n      uint64
	src    []uint64
	dst    []uint64
	srcS   *graph.StringColumn
	dstS   *graph.StringColumn
	label  *graph.StringColumn
	labels [][]string // of vertices
	times  []int64
	props  []array.Builder
	schema *arrow.Schema
	role   role
	missed missed // words read as missing values
	kept   missed // such words in columns of texts
}

func (sp *textSpec) propSchema() *arrow.Schema {
	var fs []arrow.Field
	for _, c := range sp.cols {
		if c.kind != colProp {
			continue
		}
		fs = append(fs, arrow.Field{Name: c.name, Type: arrowTypes[c.typ], Nullable: true})
	}
	if fs == nil {
		return nil
	}
	return arrow.NewSchema(fs, nil)
}

var arrowTypes = [...]arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Timestamp_us}

func newRows(sp *textSpec, r role) *rows {
	w := &rows{sp: sp, role: r, schema: sp.propSchema()}
	for _, c := range sp.cols {
		if c.kind == colProp {
			w.props = append(w.props, array.NewBuilder(memory.DefaultAllocator, arrowTypes[c.typ]))
		}
	}
	return w
}

func putString(c **graph.StringColumn, v []byte) {
	if *c == nil {
		*c = &graph.StringColumn{Off: []uint32{0}}
	}
	(*c).Bytes = append((*c).Bytes, v...)
	(*c).Off = append((*c).Off, uint32(len((*c).Bytes)))
}

func (w *rows) reset() {
	w.n = 0
	w.src, w.dst, w.times = w.src[:0], w.dst[:0], w.times[:0]
	w.srcS, w.dstS, w.label, w.labels = nil, nil, nil, nil
	for _, p := range w.props { // drop the rest of a failed block
		if p.Len() > 0 {
			p.NewArray().Release()
		}
	}
}

// parse reads the lines of a block.
func (w *rows) parse(blk []byte) error {
	w.reset()
	sp, empty := w.sp, 0
	for i := 0; i < len(blk); {
		k := bytes.IndexByte(blk[i:], '\n')
		stop := len(blk)
		if k >= 0 {
			stop = i + k
		}
		if stop-i > maxLine {
			return &spot{pos: i, field: blk[i:stop], err: ErrLongLine}
		}
		if err := w.f.split(blk[:stop], i, sp.sep); err != nil {
			return err
		}
		if w.f.n > 0 {
			if w.f.n < len(sp.cols) || w.f.n > len(sp.cols) && !sp.extra {
				if !(w.f.n == len(sp.cols)+1 && len(w.f.at[w.f.n-1].b) == 0) {
					return raggedError(blk[i:stop], i, w.f.n, len(sp.cols))
				}
			}
			if err := w.line(); err != nil {
				return err
			}
			w.n++
		} else {
			empty++
		}
		i = stop + 1
	}
	return allLines(blk, int(w.n)+empty)
}

func text(f field) error {
	if i := binaryByte(f.b); i >= 0 {
		return notText(f.b, f.pos, i)
	}
	if !utf8.Valid(f.b) {
		i := 0
		for i < len(f.b) {
			r, n := utf8.DecodeRune(f.b[i:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			i += n
		}
		return &spot{pos: f.pos + i, field: f.b, err: ErrUTF8}
	}
	return nil
}

func (w *rows) line() error {
	sp := w.sp
	prop := 0
	for k := range sp.cols {
		c, f := &sp.cols[k], w.f.at[k]
		switch c.kind {
		case colSrc, colDst, colID:
			if sp.stringIDs {
				if len(f.b) == 0 {
					return &spot{pos: f.pos, err: wrapf(ErrColumns, "an empty vertex id")}
				}
				if err := text(f); err != nil {
					return err
				}
				if c.kind == colDst {
					putString(&w.dstS, f.b)
				} else {
					putString(&w.srcS, f.b)
				}
				continue
			}
			x, err := parseID(f.b, f.pos, sp)
			if err != nil {
				return err
			}
			if c.kind == colDst {
				w.dst = append(w.dst, x)
			} else {
				w.src = append(w.src, x)
			}
		case colLabel:
			if err := text(f); err != nil {
				return err
			}
			if w.role == vertexRole {
				w.vertexLabel(f.b)
			} else {
				putString(&w.label, f.b)
			}
		case colDirection:
			if directionWord(f.b) != sp.direction {
				return &spot{pos: f.pos, field: f.b, err: wrapf(ErrColumns, "edges of both kinds, directed and undirected: --columns says which column to skip, as _, and --directed how to read them")}
			}
		case colTime:
			t, err := sp.time(f, k)
			if err != nil {
				return err
			}
			w.times = append(w.times, t)
		case colProp:
			if err := w.appendProp(w.props[prop], c, k, f); err != nil {
				return err
			}
			prop++
		}
	}
	if w.role == vertexRole && len(w.labels) > 0 && uint64(len(w.labels)) == w.n {
		w.labels = append(w.labels, nil)
	}
	return nil
}

// vertexLabel adds the labels of a cell, several ones between semicolons, to
// the current row.
func (w *rows) vertexLabel(v []byte) {
	for uint64(len(w.labels)) <= w.n {
		w.labels = append(w.labels, nil)
	}
	for part := range bytes.SplitSeq(v, []byte{';'}) {
		if part = bytes.TrimSpace(part); len(part) > 0 {
			w.labels[w.n] = append(w.labels[w.n], string(part))
		}
	}
}

func (sp *textSpec) time(f field, col int) (int64, error) {
	if sp.iso {
		t, err := parseISO(f.b)
		if err != nil {
			return 0, &spot{pos: f.pos, field: f.b, err: err}
		}
		return t, nil
	}
	t, digits, err := parseFixed(f.b, sp.scale)
	if err != nil {
		if i := binaryByte(f.b); i >= 0 {
			return 0, notText(f.b, f.pos, i)
		}
		if err == ErrNumber {
			err = fmt.Errorf("%w, and not a date such as 2024-01-31T12:00:00Z", err)
		}
		return 0, &spot{pos: f.pos, field: f.b, err: fmt.Errorf("a time: %w", err)}
	}
	if digits > sp.scale {
		s := &spot{pos: f.pos, field: f.b, err: wrapf(ErrNumber, "a time with %d digits after the point, where the first lines have at most %d", digits, sp.scale)}
		if digits > 18 {
			s.err = wrapf(ErrOverflow, "a time with %d digits after the point", digits)
			return 0, s
		}
		return 0, &widen{col: col, scale: roundScale(digits), spot: s}
	}
	return t, nil
}

// appendProp adds the value f of property column c, the col-th of the line.
func (w *rows) appendProp(b array.Builder, c *column, col int, f field) error {
	if len(f.b) == 0 {
		b.AppendNull()
		return nil
	}
	wrong := func(cause error) error {
		// A word that the file itself declares a number is one: NaN in a fixed column is not a
		// missing value.
		if w.sp.missing.is(f.b, c.typ) {
			w.missed.add(col, f.b)
			b.AppendNull()
			return nil
		}
		s := &spot{pos: f.pos, field: f.b, err: wrapf(ErrNumber, "column %s is %s", c.name, propNames[c.typ])}
		if i := binaryByte(f.b); i >= 0 {
			return notText(f.b, f.pos, i)
		}
		if errors.Is(cause, errISO) || c.typ == propTimestamp {
			s.err = fmt.Errorf("column %s: %w", c.name, cause)
		}
		if errors.Is(cause, errRounded) {
			s.err = wrapf(ErrNumber, "column %s is float, which would round this whole number (%s:string keeps it)", c.name, c.name)
		}
		if c.fixed {
			return s
		}
		to := widen{col: col, typ: c.typ.wider(), spot: s}
		switch {
		case errors.Is(cause, errRounded):
			to.against = string(f.b)
			return &to
		case errors.Is(cause, errPadded):
			to.typ, to.against = propString, string(f.b)
			return &to
		case commaNumber().Match(f.b):
			to.typ, to.against = propString, string(f.b)
		}
		if _, truth := parseTruth(f.b); truth && c.unseen {
			to.typ = propBool
		}
		s.err = wrapf(ErrNumber, "column %s is %s in the first lines (--columns name:type says otherwise)", c.name, propNames[c.typ])
		return &to
	}
	switch b := b.(type) {
	case *array.Int64Builder:
		x, err := strconv.ParseInt(bstr(f.b), 10, 64)
		if !c.fixed && isPadded(f.b) {
			err = errPadded
		}
		if err != nil {
			return wrong(err)
		}
		b.Append(x)
	case *array.Float64Builder:
		x, err := parseFloat(f.b)
		if !c.fixed && isPadded(f.b) {
			err = errPadded
		}
		if err != nil || x != x && !c.fixed {
			return wrong(err)
		}
		b.Append(x)
	case *array.BooleanBuilder:
		x, ok := parseTruth(f.b)
		if one := string(f.b); !ok && (one == "1" || one == "0") {
			x, ok = one == "1", true
		}
		if !ok {
			return wrong(ErrNumber)
		}
		b.Append(x)
	case *array.TimestampBuilder:
		x, err := parseISO(f.b)
		if err != nil {
			return wrong(err)
		}
		b.Append(arrow.Timestamp(x))
	case *array.StringBuilder:
		if w.sp.missing.is(f.b, propString) {
			w.missed.add(col, f.b)
			b.AppendNull()
			return nil
		}
		if err := text(f); err != nil {
			return err
		}
		if !c.fixed && w.sp.missing.is(f.b, propInt) {
			w.kept.add(col, f.b)
		}
		b.BinaryBuilder.Append(f.b)
	}
	return nil
}

// batch takes the properties of the block as a record.
func (w *rows) batch() arrow.RecordBatch {
	if w.schema == nil {
		return nil
	}
	cols := make([]arrow.Array, len(w.props))
	for i, p := range w.props {
		cols[i] = p.NewArray()
	}
	return array.NewRecordBatch(w.schema, cols, int64(w.n))
}
