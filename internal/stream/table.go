package stream

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/format"
)

// table reads updates from the rows of a table. It writes each row as objects of NDJSON, which the decoder reads, so that rows and objects have the
// same rules.
type table struct {
	rows  *format.Rows
	names []string
	kinds []format.ColumnKind
	cols  [format.PropertyColumn + 1]int // the first column of a kind, or -1
	types func(edge bool, property string) arrow.DataType

	text  []byte // the lines of the row
	ends  []int  // of lines in text
	given int    // lines of the row that were given
	spans []span // of the line that is given
	all   [][]span
}

// span is where a line has the value of a column.
type span struct{ from, to, col int }

// rowOp is what a row makes.
type rowOp uint8

const (
	rowAdd rowOp = iota
	rowRemove
	rowSet    // changes what is there
	rowUpsert // adds what is missing, and changes the rest
)

// rowOps are names of operations, in lower case and without blanks, _ and -. "vertex", "node" or "edge" may follow.
var rowOps = map[string]rowOp{
	"+": rowAdd, "1": rowAdd, "+1": rowAdd, "add": rowAdd, "added": rowAdd, "insert": rowAdd, "inserted": rowAdd, "create": rowAdd, "created": rowAdd,
	"append": rowAdd, "i": rowAdd, "+i": rowAdd, "c": rowAdd, "r": rowAdd,
	"-": rowRemove, "-1": rowRemove, "delete": rowRemove, "deleted": rowRemove, "remove": rowRemove, "removed": rowRemove, "del": rowRemove,
	"d": rowRemove, "-d": rowRemove,
	"=": rowSet, "set": rowSet, "update": rowSet, "updated": rowSet, "change": rowSet, "changed": rowSet, "u": rowSet,
	"upsert": rowUpsert, "upserted": rowUpsert, "merge": rowUpsert, "+u": rowUpsert,
}

var (
	errOp     = errors.New("what happens is +, -, =, insert, delete, update or upsert, for a vertex +v, -v or =v")
	errNoEnds = errors.New("the row has neither both ends of an edge nor the id of a vertex")
	errNoSet  = errors.New("the row changes nothing: each of its properties and labels is null")
)

// openTable finds the columns of a table.
func openTable(rows *format.Rows, o *Options) (t *table, notes []string, err error) {
	t = &table{rows: rows, types: o.Types}
	var more []string
	if t.kinds, more, err = rows.UpdateColumns(); err != nil {
		return nil, nil, err
	}
	for i := range t.cols {
		t.cols[i] = slices.Index(t.kinds, format.ColumnKind(i))
	}
	for _, f := range rows.Schema().Fields() {
		t.names = append(t.names, f.Name)
	}
	for _, n := range slices.Concat(rows.Notes(), more) {
		notes = append(notes, rows.Name()+": "+n)
	}
	if t.cols[format.OpColumn] < 0 {
		notes = append(notes, rows.Name()+": no column says what happens (op, operation, action …), so each row adds an edge or a vertex")
	}
	return t, notes, nil
}

// next returns the next line. The error is a mistake in a row, or of the table.
func (t *table) next() ([]byte, error) {
	for t.given == len(t.ends) {
		if err := t.rows.Next(); err != nil {
			return nil, err
		}
		t.text, t.ends, t.all, t.given = t.text[:0], t.ends[:0], t.all[:0], 0
		if err := t.row(); err != nil {
			t.text, t.ends = t.text[:0], t.ends[:0]
			return nil, err
		}
	}
	from := 0
	if t.given > 0 {
		from = t.ends[t.given-1]
	}
	t.spans = t.all[t.given]
	line := t.text[from:t.ends[t.given]]
	t.given++
	return line, nil
}

// position returns the number of rows so far, and of updates of the last one if more follow.
func (t *table) position() (rows, updates int64) {
	if t.given < len(t.ends) {
		updates = int64(t.given)
	}
	return t.rows.Row(), updates
}

// wrong makes a mistake of an error about a column, which is -1 if it is about the row. excerpt may be "".
func (t *table) wrong(col int, excerpt string, err error) error {
	k := kindOf(err)
	if k == Malformed && col >= 0 {
		switch t.kinds[col] {
		case format.SrcColumn, format.DstColumn, format.IDColumn:
			k = BadID
		case format.TimeColumn:
			k = BadTime
		}
	}
	where := fmt.Sprintf("row %d", t.rows.Row())
	if col >= 0 {
		where += ", column " + t.names[col]
	}
	return &InputError{k, &format.Error{File: t.rows.Name(), Offset: -1, Excerpt: excerpt, Cause: fmt.Errorf("%s: %w", where, err)}}
}

// place makes a mistake of an error of the decoder about the line that was given last.
func (t *table) place(line []byte, err error) error {
	at := new(format.Error)
	if !errors.As(format.Place("", line, err), &at) {
		return t.wrong(-1, "", err)
	}
	for _, s := range t.spans {
		if at.Column > s.from && at.Column <= s.to {
			return t.wrong(s.col, at.Excerpt, at.Cause)
		}
	}
	return t.wrong(-1, "", at.Cause) // the line is not the user's
}

// has reports whether the row has a value of a kind of column.
func (t *table) has(k format.ColumnKind) bool { return t.cols[k] >= 0 && !t.rows.Null(t.cols[k]) }

// op reads what the row does. named says that it names a vertex or an edge, which vertex tells.
func (t *table) op() (op rowOp, vertex, named bool, err error) {
	col := t.cols[format.OpColumn]
	if col < 0 {
		return rowAdd, false, false, nil
	}
	c, err := t.rows.Cell(col)
	if err != nil {
		return 0, false, false, t.wrong(col, "", err)
	}
	var text []byte
	switch c.Kind {
	case format.TextCell:
		text = c.Text
	case format.IntCell:
		text = strconv.AppendInt(nil, c.Int, 10)
	}
	name := strings.ToLower(strings.TrimSpace(string(text)))
	if name == "+v" || name == "-v" || name == "=v" {
		return rowOps[name[:1]], true, true, nil
	}
	if len(name) > 2 {
		name = strings.NewReplacer(" ", "", "_", "", "-", "").Replace(name)
		for _, suffix := range []string{"vertex", "node", "edge"} {
			if rest, ok := strings.CutSuffix(name, suffix); ok {
				name, vertex, named = rest, suffix != "edge", true
				break
			}
		}
	}
	op, ok := rowOps[name]
	if !ok {
		return 0, false, false, t.wrong(col, format.Excerpt(text), errOp)
	}
	return op, vertex, named, nil
}

// row writes the lines of the row.
func (t *table) row() (err error) {
	defer t.rows.Guard(&err)
	op, vertex, named, err := t.op()
	if err != nil {
		return err
	}
	ends := t.has(format.SrcColumn) || t.has(format.DstColumn)
	if !named {
		vertex = !ends && t.has(format.IDColumn)
	}
	id := t.cols[format.IDColumn]
	switch {
	case vertex && !t.has(format.IDColumn) && t.has(format.SrcColumn) && !t.has(format.DstColumn):
		id = t.cols[format.SrcColumn] // as in +v id
	case vertex && !t.has(format.IDColumn), !vertex && !ends:
		return t.wrong(-1, "", &kinded{BadID, errNoEnds})
	}
	x := rowWriter{t: t, vertex: vertex, id: id}
	var properties []int
	if op != rowRemove {
		for i, k := range t.kinds {
			own := k == format.PropertyColumn || k == format.IDColumn && !vertex
			if own && !t.rows.Null(i) {
				properties = append(properties, i)
			}
		}
	}
	labels := -1
	if vertex {
		for _, k := range []format.ColumnKind{format.LabelColumn, format.LabelsColumn} {
			if t.has(k) {
				labels = t.cols[k]
			}
		}
	}
	sign := func(edge, ofVertex string) string {
		if vertex {
			return ofVertex
		}
		return edge
	}
	switch op {
	case rowRemove:
		return x.line(sign("-", "-v"), -1, nil)
	case rowAdd, rowUpsert:
		if err := x.line(sign("+", "+v"), labels, properties); err != nil || op == rowAdd {
			return err
		}
	case rowSet:
		if labels < 0 && len(properties) == 0 {
			return t.wrong(-1, "", errNoSet)
		}
	}
	if labels >= 0 {
		if err := x.line("=v", labels, nil); err != nil {
			return err
		}
	}
	for i := range properties {
		if err := x.line(sign("=", "=v"), -1, properties[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// rowWriter writes updates of a row as objects.
type rowWriter struct {
	t      *table
	vertex bool
	id     int // the column of a vertex
	start  int // of the line
	spans  []span
}

// line writes an update. labels is the column of a vertex's labels, or -1.
func (x *rowWriter) line(op string, labels int, properties []int) error {
	t := x.t
	x.start, x.spans = len(t.text), nil
	t.text = append(append(append(t.text, `{"op":"`...), op...), '"')
	if x.vertex {
		if err := x.value(`,"id":`, x.id, x.idOf); err != nil {
			return err
		}
		if labels >= 0 {
			if err := x.value(`,"labels":`, labels, x.labels); err != nil {
				return err
			}
		}
	} else {
		if err := x.value(`,"u":`, t.cols[format.SrcColumn], x.idOf); err != nil {
			return err
		}
		if err := x.value(`,"v":`, t.cols[format.DstColumn], x.idOf); err != nil {
			return err
		}
		if t.has(format.LabelColumn) {
			if err := x.value(`,"label":`, t.cols[format.LabelColumn], x.label); err != nil {
				return err
			}
		}
	}
	if t.has(format.TimeColumn) {
		if err := x.value(`,"time":`, t.cols[format.TimeColumn], x.time); err != nil {
			return err
		}
	}
	for i, col := range properties {
		before := `,"properties":{`
		if i > 0 {
			before = ","
		}
		before = string(append(appendText([]byte(before), t.names[col]), ':'))
		if err := x.value(before, col, x.property); err != nil {
			return err
		}
	}
	if len(properties) > 0 {
		t.text = append(t.text, '}')
	}
	t.text = append(t.text, '}')
	t.ends, t.all = append(t.ends, len(t.text)), append(t.all, x.spans)
	return nil
}

// value writes the value of a column, after a text.
func (x *rowWriter) value(before string, col int, put func(col int, c *format.Cell) error) error {
	t := x.t
	c, err := t.rows.Cell(col)
	if err == nil {
		t.text = append(t.text, before...)
		from := len(t.text) - x.start
		err = put(col, &c)
		x.spans = append(x.spans, span{from, len(t.text) - x.start, col})
	}
	if err != nil {
		return t.wrong(col, "", err)
	}
	return nil
}

var errCell = errors.New("a value of this type cannot stand here")

func (x *rowWriter) idOf(_ int, c *format.Cell) error {
	t := x.t
	switch {
	case c.Kind == format.NullCell:
		return errNone
	case c.Kind == format.IntCell:
		t.text = strconv.AppendInt(t.text, c.Int, 10)
	case c.Kind == format.FloatCell && c.Float == math.Trunc(c.Float) && math.Abs(c.Float) <= 1<<53: // as tables have where some ids are null
		t.text = strconv.AppendFloat(t.text, c.Float, 'f', -1, 64)
	case c.Kind == format.TextCell:
		t.text = appendText(t.text, string(c.Text))
	default:
		return errors.New("a vertex id is a whole number or a text")
	}
	return nil
}

func (x *rowWriter) label(_ int, c *format.Cell) error {
	t := x.t
	switch c.Kind {
	case format.IntCell:
		t.text = strconv.AppendInt(t.text, c.Int, 10)
	case format.TextCell:
		t.text = appendText(t.text, string(c.Text))
	case format.BoolCell:
		t.text = appendText(t.text, strconv.FormatBool(c.Int == 1))
	default:
		return fmt.Errorf("%w: a label is a text or a whole number", errCell)
	}
	return nil
}

func (x *rowWriter) labels(col int, c *format.Cell) error {
	t := x.t
	t.text = append(t.text, '[')
	put := func(label string) {
		if label = strings.TrimSpace(label); label == "" {
			return
		}
		if t.text[len(t.text)-1] != '[' {
			t.text = append(t.text, ',')
		}
		t.text = appendText(t.text, label)
	}
	switch c.Kind {
	case format.TextsCell:
		for _, l := range c.Texts {
			put(l)
		}
	case format.TextCell:
		for l := range bytes.SplitSeq(c.Text, []byte{';'}) {
			put(string(l))
		}
	default:
		if err := x.label(col, c); err != nil {
			return err
		}
	}
	t.text = append(t.text, ']')
	return nil
}

func (x *rowWriter) time(_ int, c *format.Cell) error {
	t := x.t
	switch c.Kind {
	case format.IntCell:
		t.text = strconv.AppendInt(t.text, c.Int, 10)
	case format.FloatCell:
		if math.IsNaN(c.Float) || math.IsInf(c.Float, 0) {
			return format.ErrNumber
		}
		t.text = strconv.AppendFloat(t.text, c.Float, 'f', -1, 64)
	case format.TextCell:
		t.text = appendText(t.text, string(c.Text))
	case format.InstantCell:
		t.text = appendInstant(t.text, c.Time)
	default:
		return fmt.Errorf("a time: %w", errCell)
	}
	return nil
}

func appendInstant(b []byte, at time.Time) []byte {
	return append(at.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

func (x *rowWriter) property(col int, c *format.Cell) error {
	t := x.t
	switch c.Kind {
	case format.IntCell:
		t.text = strconv.AppendInt(t.text, c.Int, 10)
	case format.FloatCell:
		if math.IsNaN(c.Float) || math.IsInf(c.Float, 0) {
			return fmt.Errorf("%w: %v", format.ErrNumber, c.Float)
		}
		n := len(t.text)
		if t.text = strconv.AppendFloat(t.text, c.Float, 'g', -1, 64); !bytes.ContainsAny(t.text[n:], ".e") {
			t.text = append(t.text, ".0"...)
		}
	case format.BoolCell:
		t.text = strconv.AppendBool(t.text, c.Int == 1)
	case format.TextCell:
		t.text = appendText(t.text, string(c.Text))
	case format.TextsCell:
		t.text = appendText(t.text, strings.Join(c.Texts, ";"))
	case format.InstantCell, format.SpanCell:
		return x.clock(col, c)
	}
	return nil
}

// clock writes a property that is a time or a span of time: in the unit that the graph's property has, else as a date or a number.
func (x *rowWriter) clock(col int, c *format.Cell) error {
	t := x.t
	var have arrow.DataType
	if t.types != nil {
		have = t.types(!x.vertex, t.names[col])
	}
	n, unit, to := c.Int, c.Unit, int64(0)
	switch d := have.(type) {
	case *arrow.TimestampType:
		if c.Kind == format.InstantCell {
			to = int64(d.Unit.Multiplier())
		}
	case *arrow.DurationType:
		if c.Kind == format.SpanCell {
			to = int64(d.Unit.Multiplier())
		}
	}
	switch {
	case to > 0 && c.Kind == format.InstantCell:
		sec, ns := c.Time.Unix(), int64(c.Time.Nanosecond())
		per := int64(time.Second) / to
		if ns%to != 0 || sec > math.MaxInt64/per-1 || sec < math.MinInt64/per+1 {
			return fmt.Errorf("%w: the graph's property has the type %s", format.ErrOverflow, have)
		}
		n = sec*per + ns/to
	case to > 0:
		var ok bool
		if n, ok = format.Units(n, unit, to); !ok {
			return fmt.Errorf("%w: the graph's property has the type %s", format.ErrOverflow, have)
		}
	case c.Kind == format.InstantCell:
		t.text = appendInstant(t.text, c.Time)
		return nil
	}
	t.text = strconv.AppendInt(t.text, n, 10)
	return nil
}
