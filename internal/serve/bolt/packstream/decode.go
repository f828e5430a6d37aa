package packstream

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// Limits bound what a Decoder accepts. A value of 0 means the default limit.
type Limits struct {
	Depth  int // of lists, maps and structures inside each other
	Values int // in a message, keys of maps included
}

// defaultLimits are enough for a list of half a million ids as a parameter.
var defaultLimits = Limits{Depth: 32, Values: 1 << 20}

// Structure is a structure as it came: a message, or a value such as a date.
type Structure struct {
	Tag    byte
	Fields []any
}

// Decoder reads the values of one message. It allocates no more than the message's bytes justify,
// whatever lengths the message claims.
type Decoder struct {
	data   []byte
	at     int
	depth  int
	values int
}

// NewDecoder returns a decoder of a message. It keeps no part of data in the values that it returns.
func NewDecoder(data []byte, l Limits) *Decoder {
	if l.Depth == 0 {
		l.Depth = defaultLimits.Depth
	}
	if l.Values == 0 {
		l.Values = defaultLimits.Values
	}
	return &Decoder{data: data, depth: l.Depth, values: l.Values}
}

// Error is a mistake in the bytes of a message.
type Error struct {
	Offset  int // in the message, from 0
	Message string
}

// Error returns the message with the place.
func (e *Error) Error() string { return fmt.Sprintf("byte %d of the message: %s", e.Offset, e.Message) }

func (d *Decoder) fail(at int, format string, args ...any) error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

// End returns an error if bytes follow the last value.
func (d *Decoder) End() error {
	if left := len(d.data) - d.at; left > 0 {
		return d.fail(d.at, "%d bytes follow the last value", left)
	}
	return nil
}

// take returns the next n bytes.
func (d *Decoder) take(n uint64) ([]byte, error) {
	if left := uint64(len(d.data) - d.at); n > left {
		return nil, d.fail(d.at, "a value needs %d bytes, and %d are left", n, left)
	}
	b := d.data[d.at : d.at+int(n)]
	d.at += int(n)
	return b, nil
}

// size reads a length of 1, 2 or 4 bytes.
func (d *Decoder) size(bytes uint64) (uint64, error) {
	b, err := d.take(bytes)
	if err != nil {
		return 0, err
	}
	switch bytes {
	case 1:
		return uint64(b[0]), nil
	case 2:
		return uint64(binary.BigEndian.Uint16(b)), nil
	}
	return uint64(binary.BigEndian.Uint32(b)), nil
}

// Value reads the next value: nil, bool, int64, float64, string, []byte, []any, map[string]any, or
// Structure.
func (d *Decoder) Value() (any, error) {
	start := d.at
	if d.values--; d.values < 0 {
		return nil, d.fail(start, "the message has too many values")
	}
	b, err := d.take(1)
	if err != nil {
		return nil, err
	}
	switch m := b[0]; {
	case m < 0x80:
		return int64(m), nil
	case m >= 0xF0:
		return int64(int8(m)), nil
	case m < 0x90:
		return d.text(uint64(m & 15))
	case m < 0xA0:
		return d.list(start, uint64(m&15))
	case m < 0xB0:
		return d.dictionary(start, uint64(m&15))
	case m < 0xC0:
		return d.structure(start, uint64(m&15))
	case m == markNull:
		return nil, nil
	case m == markFalse, m == markTrue:
		return m == markTrue, nil
	case m == markFloat:
		b, err := d.take(8)
		if err != nil {
			return nil, err
		}
		return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
	case m >= markInt8 && m <= markInt64:
		return d.integer(1 << (m - markInt8))
	case m >= markBytes8 && m <= markBytes32:
		n, err := d.size(1 << (m - markBytes8))
		if err != nil {
			return nil, err
		}
		b, err := d.take(n)
		if err != nil {
			return nil, err
		}
		return append(make([]byte, 0, len(b)), b...), nil
	case m >= markString8 && m <= markString32:
		n, err := d.size(1 << (m - markString8))
		if err != nil {
			return nil, err
		}
		return d.text(n)
	case m >= markList8 && m <= markList32:
		n, err := d.size(1 << (m - markList8))
		if err != nil {
			return nil, err
		}
		return d.list(start, n)
	case m >= markMap8 && m <= markMap32:
		n, err := d.size(1 << (m - markMap8))
		if err != nil {
			return nil, err
		}
		return d.dictionary(start, n)
	default:
		return nil, d.fail(start, "no value begins with the byte 0x%02X", m)
	}
}

func (d *Decoder) integer(bytes uint64) (any, error) {
	b, err := d.take(bytes)
	if err != nil {
		return nil, err
	}
	switch bytes {
	case 1:
		return int64(int8(b[0])), nil
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b))), nil
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

func (d *Decoder) text(n uint64) (any, error) {
	start := d.at
	b, err := d.take(n)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(b) {
		return nil, d.fail(start, "a text is not UTF-8")
	}
	return string(b), nil
}

// enter begins a value with n values inside, each of at least one byte.
func (d *Decoder) enter(start int, n uint64) error {
	if d.depth--; d.depth < 0 {
		return d.fail(start, "values lie too deep inside each other")
	}
	if left := uint64(len(d.data) - d.at); n > left {
		return d.fail(start, "%d values cannot be in the %d bytes that are left", n, left)
	}
	return nil
}

func (d *Decoder) items(start int, n uint64) ([]any, error) {
	if err := d.enter(start, n); err != nil {
		return nil, err
	}
	out := make([]any, 0, min(n, 16))
	for range n {
		x, err := d.Value()
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	d.depth++
	return out, nil
}

func (d *Decoder) list(start int, n uint64) (any, error) {
	items, err := d.items(start, n)
	if err != nil {
		return nil, err
	}
	return items, nil
}

func (d *Decoder) structure(start int, n uint64) (any, error) {
	tag, err := d.take(1)
	if err != nil {
		return nil, err
	}
	fields, err := d.items(start, n)
	if err != nil {
		return nil, err
	}
	return Structure{tag[0], fields}, nil
}

func (d *Decoder) dictionary(start int, n uint64) (any, error) {
	if n > math.MaxUint32 {
		return nil, d.fail(start, "a map is too long")
	}
	if err := d.enter(start, 2*n); err != nil {
		return nil, err
	}
	out := make(map[string]any, min(n, 16))
	for range n {
		at := d.at
		key, err := d.Value()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, d.fail(at, "a key of a map is not a text")
		}
		if _, ok := out[name]; ok {
			return nil, d.fail(at, "a map has the key %.40q twice", name)
		}
		if out[name], err = d.Value(); err != nil {
			return nil, err
		}
	}
	d.depth++
	return out, nil
}
