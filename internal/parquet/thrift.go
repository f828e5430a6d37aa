package parquet

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// Types of values in Thrift's compact protocol.
const (
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
)

var errThrift = errors.New("a header is not valid Thrift")

// byteReader is the source of a Thrift value.
type byteReader interface {
	io.Reader
	io.ByteReader
}

// thriftReader reads Thrift's compact protocol. After the first error, kept in err, it returns
// zero values only.
type thriftReader struct {
	r     byteReader
	left  int64 // number of bytes that may still be read
	depth int
	err   error
}

func (t *thriftReader) fail(err error) {
	if t.err == nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		t.err = err
	}
}

func (t *thriftReader) byte() byte {
	if t.err != nil {
		return 0
	}
	if t.left--; t.left < 0 {
		t.fail(errThrift)
		return 0
	}
	b, err := t.r.ReadByte()
	if err != nil {
		t.fail(err)
		return 0
	}
	return b
}

func (t *thriftReader) uvarint() uint64 {
	var x uint64
	for s := 0; s < 64; s += 7 {
		b := t.byte()
		x |= uint64(b&0x7f) << s
		if b < 0x80 {
			return x
		}
	}
	t.fail(errThrift)
	return 0
}

func (t *thriftReader) int() int64 {
	x := t.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

func (t *thriftReader) i32() int32 {
	x := t.int()
	if x < math.MinInt32 || x > math.MaxInt32 {
		t.fail(errThrift)
		return 0
	}
	return int32(x)
}

// binary reads a text, in parts, so that a length alone allocates little.
func (t *thriftReader) binary() []byte {
	n := t.uvarint()
	if t.err != nil {
		return nil
	}
	if n > uint64(t.left) {
		t.fail(errThrift)
		return nil
	}
	t.left -= int64(n)
	b, err := io.ReadAll(io.LimitReader(t.r, int64(n)))
	if err == nil && uint64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		t.fail(err)
		return nil
	}
	return b
}

// fields reads a struct: f is called with the number and the type of each field,
// and reads the field or skips it.
func (t *thriftReader) fields(f func(id int, typ byte)) {
	if t.depth++; t.depth > 32 {
		t.fail(errThrift)
	}
	id := 0
	for t.err == nil {
		b := t.byte()
		if b == 0 {
			break
		}
		if d := int(b >> 4); d != 0 {
			id += d
		} else {
			id = int(t.int())
		}
		f(id, b&0x0f)
	}
	t.depth--
}

// list reads a list or a set: f is called for each element.
func (t *thriftReader) list(f func(typ byte)) {
	b := t.byte()
	n := uint64(b >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && t.err == nil; n-- {
		f(b & 0x0f)
	}
}

// skip reads over a field's value.
func (t *thriftReader) skip(typ byte) {
	if typ != tTrue && typ != tFalse {
		t.skipElement(typ)
	}
}

// skipElement reads over a value in a list or a map, where a truth value has a byte.
func (t *thriftReader) skipElement(typ byte) {
	if t.depth++; t.depth > 32 {
		t.fail(errThrift)
	}
	switch typ {
	case tTrue, tFalse, tByte:
		t.byte()
	case tI16, tI32, tI64:
		t.uvarint()
	case tDouble:
		for range 8 {
			t.byte()
		}
	case tBinary:
		t.binary()
	case tList, tSet:
		t.list(t.skipElement)
	case tMap:
		if n := t.uvarint(); n > 0 {
			kv := t.byte()
			for ; n > 0 && t.err == nil; n-- {
				t.skipElement(kv >> 4)
				t.skipElement(kv & 0x0f)
			}
		}
	case tStruct:
		t.fields(func(_ int, typ byte) { t.skip(typ) })
	default:
		t.fail(errThrift)
	}
	t.depth--
}

// want skips a field whose type is not the expected one, and reports whether
// it is.
func (t *thriftReader) want(typ, expected byte) bool {
	if typ == expected {
		return true
	}
	t.skip(typ)
	return false
}

// thriftWriter appends values in Thrift's compact protocol.
type thriftWriter struct {
	b    []byte
	last []int // number of the last field, for each open struct
}

func (t *thriftWriter) open() { t.last = append(t.last, 0) }

func (t *thriftWriter) close() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thriftWriter) field(id int, typ byte) {
	top := &t.last[len(t.last)-1]
	t.b = append(t.b, byte(id-*top)<<4|typ) // fields are written in order, with small gaps
	*top = id
}

func (t *thriftWriter) varint(x int64) { t.b = binary.AppendVarint(t.b, x) }

func (t *thriftWriter) i32(id int, x int32) {
	t.field(id, tI32)
	t.varint(int64(x))
}

func (t *thriftWriter) i64(id int, x int64) {
	t.field(id, tI64)
	t.varint(x)
}

func (t *thriftWriter) bool(id int, x bool) {
	if x {
		t.field(id, tTrue)
	} else {
		t.field(id, tFalse)
	}
}

func (t *thriftWriter) text(s string) {
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

func (t *thriftWriter) binary(id int, s string) {
	t.field(id, tBinary)
	t.text(s)
}

func (t *thriftWriter) list(id int, typ byte, n int) {
	t.field(id, tList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|typ)
	} else {
		t.b = append(t.b, 0xf0|typ)
		t.b = binary.AppendUvarint(t.b, uint64(n))
	}
}

// structure writes a field that is a struct with the fields of f.
func (t *thriftWriter) structure(id int, f func()) {
	t.field(id, tStruct)
	t.open()
	f()
	t.close()
}
