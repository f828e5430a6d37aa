package stream

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/timetext"
)

// Format is a form of updates.
type Format string

// Formats. docs/formats.md describes them.
const (
	Auto      Format = "auto"      // by the first update
	Lines     Format = "text"      // + u v [label] [time]
	RapidFlow Format = "rapidflow" // e u v label
	NDJSON    Format = "ndjson"    // {"op":"+","u":1,"v":2}
	Arrow     Format = "arrow"     // a table with an update in each row
	Parquet   Format = "parquet"   // the same
)

// Formats returns the names of all formats that can be read.
func Formats() []string {
	return []string{string(Auto), string(Lines), string(RapidFlow), string(NDJSON), string(Arrow), string(Parquet)}
}

// OfTable reports whether updates of the format are rows of a table, and not lines.
func (f Format) OfTable() bool { return f == Arrow || f == Parquet }

// ParseFormat returns the format with a name. "" is Auto. The error names the formats.
func ParseFormat(name string) (Format, error) {
	if name == "" {
		return Auto, nil
	}
	if !slices.Contains(Formats(), name) {
		return "", fmt.Errorf("updates have no format %q; formats are %s", name, strings.Join(Formats(), ", "))
	}
	return Format(name), nil
}

// Options say how updates are read.
type Options struct {
	Format Format // "" is Auto
	// TextIDs makes vertex ids texts, not numbers, as those of the graph are.
	TextIDs bool
	Times   Times
	// Lateness is how much earlier than the latest time before it an update's time may be, in the graph's unit of times. If it
	// is negative, times are in any order. The times of edges that are removed or changed, which name the edge, are always so.
	Lateness int64
	// Types returns the type of a property of the graph, or nil. Tables have times of a property in other units perhaps. It may be nil.
	Types func(edge bool, property string) arrow.DataType
}

// Times is the unit of a graph's times.
type Times struct {
	// Unit is its length in nanoseconds. 0 means that it is not known: numbers are taken as they are, and dates in microseconds
	// since 1970.
	Unit int64
	// Digits is the number of decimal digits of a unit that the graph's times have: they are integers of 10^-Digits units.
	Digits int
	// Nanoseconds makes times nanoseconds, of which Unit and Digits say nothing then. Numbers are in the unit in which the first one
	// looks like a Unix time, else in seconds.
	Nanoseconds bool
}

// InNanoseconds returns the Times that make times of a unit nanoseconds. The unit is s, ms, us or ns. The error names them.
func InNanoseconds(unit string) (Times, error) {
	for digits, name := range map[int]string{9: "s", 6: "ms", 3: "us", 0: "ns"} {
		if name == unit {
			return Times{Unit: int64(math.Pow10(digits)), Digits: digits}, nil
		}
	}
	return Times{}, fmt.Errorf("%q is not s, ms, us or ns", unit)
}

// Decoder reads updates from lines. The zero value is not usable. It is not safe for concurrent use.
type Decoder struct {
	o      Options
	fields format.Fields
	texts  texts
	json   json
	form   timeForm
	unit   string // that guess found
	latest int64
	timed  bool // latest is a time
}

// timeForm is how a stream writes its times, if their unit is not known.
type timeForm uint8

const (
	noTimes timeForm = iota
	numbers
	dates
)

// NewDecoder returns a decoder of lines in a format, or of the format of the first update.
func NewDecoder(o Options) *Decoder {
	if o.Format == "" {
		o.Format = Auto
	}
	return &Decoder{o: o}
}

// Decode reads the update of a line, which has no line end, into u. The slices of u are used again, and nothing of u refers to the
// line. ok is false for a blank line and a comment. The error is an *InputError, which names the file name and the byte of the line, from 1.
func (d *Decoder) Decode(name string, line []byte, u *Update) (ok bool, err error) {
	ok, err = d.decode(line, u)
	if err != nil {
		return false, &InputError{kindOf(err), format.Place(name, line, err)}
	}
	return ok, nil
}

// decode is Decode with errors of format.At.
func (d *Decoder) decode(line []byte, u *Update) (bool, error) {
	u.reset()
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	end := len(line)
	for end > i && (line[end-1] == '\r' || line[end-1] == ' ') {
		end--
	}
	line = line[:end]
	if i == len(line) || line[i] == '#' || line[i] == '%' {
		return false, nil
	}
	var err error
	switch {
	case d.o.Format == NDJSON, d.o.Format == Auto && line[i] == '{':
		err = d.object(line, i, u)
		if err == nil {
			d.o.Format = NDJSON
		}
	default:
		err = d.line(line, i, u)
	}
	if err != nil {
		return false, err
	}
	return true, d.order(u)
}

// State is what a reader knows of the updates before a position, so that another can go on from there.
type State struct {
	Format Format `json:"format,omitempty"` // which the first update decided
	Form   uint8  `json:"form,omitempty"`   // of times whose unit is not known
	// Latest is the latest time, if Timed is set.
	Latest int64 `json:"latest,omitempty"`
	Timed  bool  `json:"timed,omitempty"`
}

// See takes note of the time of an update.
func (s *State) See(u *Update) {
	if orders(u) && (!s.Timed || u.Time > s.Latest) {
		s.Latest, s.Timed = u.Time, true
	}
}

// State returns the state after the last update.
func (d *Decoder) State() State { return State{d.o.Format, uint8(d.form), d.latest, d.timed} }

// SetState makes the decoder go on from a state.
func (d *Decoder) SetState(s State) {
	d.o.Format, d.form, d.latest, d.timed = cmp.Or(s.Format, d.o.Format), timeForm(s.Form), s.Latest, s.Timed
}

// orders reports whether an update has a time that those after it are compared with. The time of an edge that is removed or changed is a part
// of its name.
func orders(u *Update) bool { return u.HasTime && u.Op != RemoveEdge && u.Op != SetEdgeProperty }

// order tests the time of an update against the latest before it.
func (d *Decoder) order(u *Update) error {
	if !orders(u) {
		return nil
	}
	if !d.timed || u.Time > d.latest {
		d.latest, d.timed = u.Time, true
		return nil
	}
	if d.o.Lateness >= 0 && uint64(d.latest)-uint64(u.Time) > uint64(d.o.Lateness) {
		return format.At(0, nil, &kinded{Late, d.late(u.Time)})
	}
	return nil
}

// late describes a time that comes later than the lateness allows: as a date, if the unit of times is known.
func (d *Decoder) late(t int64) error {
	var when, behind, most any = t, uint64(d.latest) - uint64(t), d.o.Lateness
	fits := func(x int64, unit int64) bool { return -math.MaxInt64/unit <= x && x <= math.MaxInt64/unit }
	if unit := d.nanoseconds(); unit > 0 && fits(t, unit) && fits(d.latest, unit) && d.latest-t >= 0 && fits(d.latest-t, unit) && fits(d.o.Lateness, unit) {
		when = time.Unix(0, t*unit).UTC().Format(time.RFC3339Nano)
		behind, most = time.Duration((d.latest-t)*unit), time.Duration(d.o.Lateness*unit)
	}
	return fmt.Errorf("the time %v is %v before the latest time, and at most %v are allowed", when, behind, most)
}

// nanoseconds returns how many of them the integer 1 is as a time, or 0 if that is not known.
func (d *Decoder) nanoseconds() int64 {
	switch t := d.o.Times; {
	case t.Nanoseconds:
		return 1
	case t.Unit > 0 && t.Digits < 10 && t.Unit%int64(math.Pow10(t.Digits)) == 0:
		return t.Unit / int64(math.Pow10(t.Digits))
	case t.Unit == 0 && d.form == dates:
		return int64(time.Microsecond)
	}
	return 0
}

// words are the words that lines begin with.
var words = map[string]struct {
	op     Op
	format Format // Auto: of both
}{
	"+": {AddEdge, Lines}, "-": {RemoveEdge, Lines}, "+v": {AddVertex, Lines}, "=v": {SetLabels, Lines},
	"e": {AddEdge, RapidFlow}, "-e": {RemoveEdge, RapidFlow}, "v": {AddVertex, RapidFlow},
	"-v": {RemoveVertex, Auto},
}

var (
	errWord = errors.New("an update begins with +, -, +v, -v or =v, or in RapidFlow's format with e, -e, v or -v, or is a JSON object")
	errSign = errors.New("the sign is a field of its own, as in: + 1 2")
	errNone = errors.New("an empty vertex id")
)

// line reads an update that is a line of fields.
func (d *Decoder) line(line []byte, i int, u *Update) error {
	n := i
	for n < len(line) && line[n] != ' ' && line[n] != '\t' && line[n] != ',' {
		n++
	}
	word, ok := words[string(line[i:n])]
	if !ok {
		if err := format.CheckText(line[i:n], i); err != nil {
			return err
		}
		err := errWord
		if line[i] == '+' || line[i] == '-' {
			err = errSign
		}
		return format.At(i, line[i:n], err)
	}
	f := word.format
	switch {
	case d.o.Format == Auto || f == Auto || f == d.o.Format:
	default:
		return format.At(i, line[i:n], fmt.Errorf("this update is not of the format %s, which the others are of", d.o.Format))
	}
	u.Op = word.op
	var sep byte
	if n < len(line) && line[n] != ' ' {
		sep = line[n]
	}
	x := &d.fields
	if n < len(line) {
		n++
	}
	if err := x.Split(line, n, sep); err != nil {
		return err
	}
	ends, most := 1, 3 // id [labels] [time]
	if word.op.OfEdge() {
		ends, most = 2, 4 // u v [label] [time]
	}
	if f == RapidFlow {
		most--
	}
	if x.Len() < ends || x.Len() > most {
		return format.Wrong(line[i:], i, &kinded{Malformed, fmt.Errorf("%w: %d after the sign, where there are %d to %d", format.ErrRagged, x.Len(), ends, most)})
	}
	var err error
	if u.U, err = d.id(x.At(0)); err != nil {
		return err
	}
	if ends == 2 {
		if u.V, err = d.id(x.At(1)); err != nil {
			return err
		}
	}
	if label, pos, ok := d.field(ends, sep); ok {
		if err := format.CheckText(label, pos); err != nil {
			return err
		}
		switch u.Op {
		case AddVertex, SetLabels:
			d.labels(label, u)
		case AddEdge, RemoveEdge:
			u.Label = d.texts.of(label)
		}
	}
	if text, pos, ok := d.field(ends+1, sep); ok {
		if u.Time, err = d.time(text, pos); err != nil {
			return err
		}
		u.HasTime = true
	}
	if f != Auto {
		d.o.Format = f
	}
	return nil
}

// field returns an optional field of the line. ok is false if it is missing or empty. Where blanks separate fields, _ is empty.
func (d *Decoder) field(i int, sep byte) (b []byte, pos int, ok bool) {
	if i >= d.fields.Len() {
		return nil, 0, false
	}
	b, pos = d.fields.At(i)
	return b, pos, len(b) > 0 && (sep != 0 || len(b) > 1 || b[0] != '_')
}

// labels reads the labels of a vertex, with semicolons between them.
func (d *Decoder) labels(b []byte, u *Update) {
	for len(b) > 0 {
		part := b
		if i := bytes.IndexByte(b, ';'); i >= 0 {
			part, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		if part = bytes.TrimSpace(part); len(part) > 0 {
			u.Labels = append(u.Labels, d.texts.of(part))
		}
	}
}

// id reads a vertex id.
func (d *Decoder) id(b []byte, pos int) (dynamic.ID, error) {
	if d.o.TextIDs {
		if len(b) == 0 {
			return dynamic.ID{}, format.At(pos, nil, &kinded{BadID, errNone})
		}
		if err := format.CheckText(b, pos); err != nil {
			return dynamic.ID{}, err
		}
		return dynamic.Text(d.texts.of(b)), nil
	}
	if len(b) == 0 || len(b) > 18 || b[0] == '0' && len(b) > 1 {
		return longID(b, pos)
	}
	var x uint64
	for _, c := range b {
		if c -= '0'; c > 9 {
			return longID(b, pos)
		}
		x = x*10 + uint64(c)
	}
	return dynamic.Num(x), nil
}

// longID reads a number of 19 digits or more, and explains what is not a number.
func longID(b []byte, pos int) (dynamic.ID, error) {
	wrong := func(kind error, text string) (dynamic.ID, error) {
		return dynamic.ID{}, format.Wrong(b, pos, &kinded{BadID, fmt.Errorf("%w: %s", kind, text)})
	}
	if len(b) == 0 {
		return dynamic.ID{}, format.At(pos, nil, &kinded{BadID, errNone})
	}
	digits := b
	if b[0] == '-' {
		digits = b[1:]
	}
	var x uint64
	over := false
	for _, c := range digits {
		if c -= '0'; c > 9 {
			return wrong(format.ErrNumber, "the graph's vertex ids are numbers")
		}
		if over = over || x > (1<<63-1)/10; !over {
			x = x*10 + uint64(c)
		}
	}
	switch {
	case len(digits) == 0:
		return wrong(format.ErrNumber, "the graph's vertex ids are numbers")
	case b[0] == '-':
		return wrong(format.ErrNegative, "ids are 0 … 2^63-1")
	case over || x >= 1<<63:
		return wrong(format.ErrOverflow, "ids are below 2^63")
	case b[0] == '0' && len(b) > 1:
		return wrong(format.ErrIDs, "an id that begins with a zero is a text, and the graph's vertex ids are numbers")
	}
	return dynamic.Num(x), nil
}

// time reads a time: a number, or a date.
func (d *Decoder) time(b []byte, pos int) (int64, error) {
	wrong := func(err error) (int64, error) { return 0, format.Wrong(b, pos, &kinded{BadTime, err}) }
	if d.o.Times.Nanoseconds {
		d.guess(b)
	}
	scale := d.o.Times.Digits
	t, digits, err := format.ParseFixed(b, scale)
	if err == nil {
		switch {
		case digits > scale:
			return wrong(fmt.Errorf("%w: a time with %d digits after the point, where the graph's have at most %d", format.ErrNumber, digits, scale))
		case d.o.Times.Unit == 0 && d.form == dates:
			return wrong(fmt.Errorf("%w: a number where the times before are dates", format.ErrNumber))
		}
		d.form = numbers
		return t, nil
	}
	day, ok := timetext.Parse(unsafe.String(unsafe.SliceData(b), len(b)))
	if !ok {
		if err == format.ErrNumber {
			err = fmt.Errorf("%w, and not a date such as 2024-01-31T12:00:00Z", err)
		}
		return wrong(fmt.Errorf("a time: %w", err))
	}
	if d.o.Times.Unit == 0 && (d.form == numbers || scale > 0) {
		return wrong(fmt.Errorf("%w: a date where the times before are numbers without a unit", format.ErrNumber))
	}
	d.form = dates
	return d.date(day, wrong)
}

// guess decides the unit of the times by the first one.
func (d *Decoder) guess(b []byte) {
	whole, _, _ := bytes.Cut(b, []byte{'.'})
	unit := "s"
	if x, _, err := format.ParseFixed(whole, 0); err == nil {
		unit = cmp.Or(format.UnixUnit(x), unit)
		d.unit = unit
	}
	d.o.Times, _ = InNanoseconds(unit)
}

// TimeUnit returns the unit of numbers that the first of them decided, or "".
func (d *Decoder) TimeUnit() string { return d.unit }

// date returns a date in the graph's unit of times.
func (d *Decoder) date(day time.Time, wrong func(error) (int64, error)) (int64, error) {
	unit, ticks := d.o.Times.Unit, int64(1) // a unit has so many ticks
	if unit == 0 {
		unit = int64(time.Microsecond)
	}
	for range d.o.Times.Digits {
		if unit%10 == 0 {
			unit /= 10
		} else {
			ticks *= 10
		}
	}
	// Seconds and nanoseconds apart: the nanoseconds since 1970 have 64 bits for 292 years alone.
	sec, ns := day.Unix(), int64(day.Nanosecond())
	const second = int64(time.Second)
	var t, rest int64
	switch {
	case ticks > 1:
		return wrong(fmt.Errorf("%w: a date in a graph whose times are finer than a nanosecond", format.ErrNumber))
	case unit <= second && second%unit == 0:
		t, rest = sec*(second/unit)+ns/unit, ns%unit
		if day.Year() < -290000 || sec != 0 && (t-ns/unit)/sec != second/unit {
			return wrong(fmt.Errorf("a time: %w", format.ErrOverflow))
		}
	case unit%second == 0:
		per := unit / second
		t, rest = sec/per, sec%per
		if rest == 0 {
			rest = ns
		}
	default:
		return wrong(fmt.Errorf("%w: the graph's unit of times does not divide a second", format.ErrNumber))
	}
	if rest != 0 {
		return wrong(fmt.Errorf("%w: a date finer than the graph's unit of times", format.ErrNumber))
	}
	return t, nil
}
