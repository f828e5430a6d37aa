// Package packstream writes and reads PackStream v1, the encoding of values in Bolt messages.
//
// It knows the markers and the structures of values. It must not know messages, connections or
// graphs.
package packstream

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// The first bytes of values.
const (
	markTinyString = 0x80
	markTinyList   = 0x90
	markTinyMap    = 0xA0
	markTinyStruct = 0xB0
	markNull       = 0xC0
	markFloat      = 0xC1
	markFalse      = 0xC2
	markTrue       = 0xC3
	markInt8       = 0xC8
	markInt16      = 0xC9
	markInt32      = 0xCA
	markInt64      = 0xCB
	markBytes8     = 0xCC
	markBytes32    = 0xCE
	markString8    = 0xD0
	markString32   = 0xD2
	markList8      = 0xD4
	markList32     = 0xD6
	markMap8       = 0xD8
	markMap32      = 0xDA
)

// Tags of structures that are values.
const (
	TagNode          = 'N'
	TagRelationship  = 'R'
	TagUnbound       = 'r'
	TagPath          = 'P'
	TagDate          = 'D'
	TagTime          = 'T'
	TagLocalTime     = 't'
	TagDateTime      = 'I' // with an offset; seconds are in UTC since Bolt 5.0
	TagDateTimeZone  = 'i' // with the name of a zone
	TagOldDateTime   = 'F' // of Bolt 4, seconds in local time
	TagOldZone       = 'f'
	TagLocalDateTime = 'd'
	TagDuration      = 'E'
	TagPoint2D       = 'X'
	TagPoint3D       = 'Y'
)

// Encoder appends values to Bytes. The zero value is ready.
type Encoder struct{ Bytes []byte }

// Null appends NULL.
func (e *Encoder) Null() { e.Bytes = append(e.Bytes, markNull) }

// Bool appends a truth value.
func (e *Encoder) Bool(b bool) {
	if b {
		e.Bytes = append(e.Bytes, markTrue)
	} else {
		e.Bytes = append(e.Bytes, markFalse)
	}
}

// Int appends an integer in its shortest form.
func (e *Encoder) Int(n int64) {
	switch {
	case n >= -16 && n <= math.MaxInt8:
		e.Bytes = append(e.Bytes, byte(n))
	case n >= math.MinInt8 && n < 0:
		e.Bytes = append(e.Bytes, markInt8, byte(n))
	case n >= math.MinInt16 && n <= math.MaxInt16:
		e.Bytes = binary.BigEndian.AppendUint16(append(e.Bytes, markInt16), uint16(n))
	case n >= math.MinInt32 && n <= math.MaxInt32:
		e.Bytes = binary.BigEndian.AppendUint32(append(e.Bytes, markInt32), uint32(n))
	default:
		e.Bytes = binary.BigEndian.AppendUint64(append(e.Bytes, markInt64), uint64(n))
	}
}

// Float appends a floating-point number.
func (e *Encoder) Float(x float64) {
	e.Bytes = binary.BigEndian.AppendUint64(append(e.Bytes, markFloat), math.Float64bits(x))
}

// String appends a text.
func (e *Encoder) String(s string) {
	e.head(markTinyString, markString8, len(s))
	e.Bytes = append(e.Bytes, s...)
}

// Binary appends bytes.
func (e *Encoder) Binary(b []byte) {
	e.head(0, markBytes8, len(b))
	e.Bytes = append(e.Bytes, b...)
}

// List begins a list of n values, which the caller appends.
func (e *Encoder) List(n int) { e.head(markTinyList, markList8, n) }

// Map begins a map of n entries. The caller appends a String and a value for each.
func (e *Encoder) Map(n int) { e.head(markTinyMap, markMap8, n) }

// Struct begins a structure of n fields, at most 15, which the caller appends.
func (e *Encoder) Struct(tag byte, n int) {
	e.Bytes = append(e.Bytes, markTinyStruct|byte(n&15), tag)
}

// head appends a marker with a length: tiny with up to 15 if there is such a form, or long and the next two with 1, 2
// and 4 bytes.
func (e *Encoder) head(tiny, long byte, n int) {
	switch {
	case n < 16 && tiny != 0:
		e.Bytes = append(e.Bytes, tiny|byte(n))
	case n <= math.MaxUint8:
		e.Bytes = append(e.Bytes, long, byte(n))
	case n <= math.MaxUint16:
		e.Bytes = binary.BigEndian.AppendUint16(append(e.Bytes, long+1), uint16(n))
	default:
		e.Bytes = binary.BigEndian.AppendUint32(append(e.Bytes, long+2), uint32(n))
	}
}

// Time appends a moment as a DateTime with its offset from UTC.
func (e *Encoder) Time(t time.Time) {
	_, offset := t.Zone()
	e.Struct(TagDateTime, 3)
	e.Int(t.Unix())
	e.Int(int64(t.Nanosecond()))
	e.Int(int64(offset))
}

// Duration appends a Duration without months and days, whose length varies.
func (e *Encoder) Duration(d time.Duration) {
	seconds, nanos := int64(d/time.Second), int64(d%time.Second)
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+int64(time.Second)
	}
	e.Struct(TagDuration, 4)
	e.Int(0)
	e.Int(0)
	e.Int(seconds)
	e.Int(nanos)
}

// Value appends a value of a type that Decoder.Value returns, an int, a []string, a time.Time or a
// time.Duration. It panics on another type, which is a mistake of the caller.
func (e *Encoder) Value(x any) {
	switch x := x.(type) {
	case nil:
		e.Null()
	case bool:
		e.Bool(x)
	case int:
		e.Int(int64(x))
	case int64:
		e.Int(x)
	case float64:
		e.Float(x)
	case string:
		e.String(x)
	case []byte:
		e.Binary(x)
	case time.Time:
		e.Time(x)
	case time.Duration:
		e.Duration(x)
	case []string:
		e.List(len(x))
		for _, s := range x {
			e.String(s)
		}
	case []any:
		e.List(len(x))
		for _, y := range x {
			e.Value(y)
		}
	case map[string]any:
		e.Map(len(x))
		for k, y := range x {
			e.String(k)
			e.Value(y)
		}
	case Structure:
		e.Struct(x.Tag, len(x.Fields))
		for _, y := range x.Fields {
			e.Value(y)
		}
	default:
		panic(fmt.Sprintf("packstream: a value of type %T", x))
	}
}

// Name is the name of a structure's type in an error, with its article.
func Name(tag byte) string {
	switch tag {
	case TagNode:
		return "a Node"
	case TagRelationship, TagUnbound:
		return "a Relationship"
	case TagPath:
		return "a Path"
	case TagDate:
		return "a Date"
	case TagTime:
		return "a Time"
	case TagLocalTime:
		return "a LocalTime"
	case TagDateTime, TagDateTimeZone, TagOldDateTime, TagOldZone:
		return "a DateTime"
	case TagLocalDateTime:
		return "a LocalDateTime"
	case TagDuration:
		return "a Duration"
	case TagPoint2D, TagPoint3D:
		return "a Point"
	}
	return "a structure"
}

// Resize gives the map that begins at a place of Bytes, which was begun with Map(0) and has its entries behind it, n entries.
func (e *Encoder) Resize(at, n int) {
	if n < 16 {
		e.Bytes[at] = markTinyMap | byte(n)
		return
	}
	var head Encoder
	head.Map(n)
	entries := len(e.Bytes) - at - 1
	e.Bytes = append(e.Bytes, head.Bytes[1:]...) // room
	copy(e.Bytes[at+len(head.Bytes):], e.Bytes[at+1:at+1+entries])
	copy(e.Bytes[at:], head.Bytes)
}
