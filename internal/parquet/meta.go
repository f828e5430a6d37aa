package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Physical types.
const (
	physBool   = 0
	physInt32  = 1
	physInt64  = 2
	physInt96  = 3
	physFloat  = 4
	physDouble = 5
	physBytes  = 6
	physFixed  = 7
)

var physNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// Repetitions of a schema's element.
const (
	required = 0
	optional = 1
	repeated = 2
)

// Encodings of values and levels.
const (
	encPlain          = 0
	encPlainDict      = 2
	encRLE            = 3
	encDelta          = 5
	encDeltaLength    = 6
	encDeltaBytes     = 7
	encRLEDict        = 8
	encByteStream     = 9
	pageData          = 0
	pageDict          = 2
	pageDataV2        = 3
	codecUncompressed = 0
	codecSnappy       = 1
	codecGzip         = 2
	codecBrotli       = 4
	codecZstd         = 6
	codecLZ4Raw       = 7
)

// Converted types, of which logical types are the newer form.
const (
	convUTF8      = 0
	convList      = 3
	convDecimal   = 5
	convDate      = 6
	convMillis    = 9
	convMicros    = 10
	convUint8     = 11
	convUint64    = 14
	convInterval  = 21
	convUndefined = -1
)

// logical is the meaning of a column's values.
type logical uint8

const (
	logicalNone logical = iota
	logicalDecimal
	logicalDate
	logicalMillis
	logicalMicros
	logicalNanos
	logicalUnsigned
)

// element is a node of the schema, which the footer has in depth-first order.
type element struct {
	phys, repetition, children, converted int32
	name                                  string
	logical                               logical
}

// chunk is one column of one row group.
type chunk struct {
	codec           int32
	values          int64
	size            int64 // of the compressed pages with their headers
	data, dict      int64 // offsets of the first page of each kind
	elsewhere       bool  // in another file
	encrypted, seen bool
}

type rowGroup struct {
	rows   int64
	chunks []chunk
}

// footer is the metadata of a file.
type footer struct {
	rows      int64
	elements  []element
	groups    []rowGroup
	keys      map[string]string
	encrypted bool
}

const magic = "PAR1"

// mostFooter is the largest footer that is read, in bytes.
const mostFooter = 1 << 30

func readFooter(r io.ReaderAt, size int64) (*footer, error) {
	var tail [8]byte
	if size < 12 {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) == "PARE" {
		return nil, errors.New("the file is encrypted")
	}
	if string(tail[4:]) != magic {
		return nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 || n > mostFooter {
		return nil, fmt.Errorf("the footer has %d bytes, and the file %d", n, size)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-8-n); err != nil {
		return nil, err
	}
	t := &thriftReader{r: bytes.NewReader(b), left: n}
	f := &footer{keys: map[string]string{}}
	f.read(t)
	if t.err != nil {
		return nil, fmt.Errorf("the footer at byte %d: %w", size-8-n, t.err)
	}
	if f.encrypted {
		return nil, errors.New("the file is encrypted")
	}
	return f, nil
}

func (f *footer) read(t *thriftReader) {
	t.fields(func(id int, typ byte) {
		switch {
		case id == 2 && t.want(typ, tList):
			t.list(func(byte) { f.elements = append(f.elements, readElement(t)) })
		case id == 3 && t.want(typ, tI64):
			f.rows = t.int()
		case id == 4 && t.want(typ, tList):
			t.list(func(byte) { f.groups = append(f.groups, readGroup(t)) })
		case id == 5 && t.want(typ, tList):
			t.list(func(byte) {
				var k, v string
				t.fields(func(id int, typ byte) {
					switch {
					case id == 1 && typ == tBinary:
						k = string(t.binary())
					case id == 2 && typ == tBinary:
						v = string(t.binary())
					default:
						t.skip(typ)
					}
				})
				f.keys[k] = v
			})
		case id == 8:
			f.encrypted = true
			t.skip(typ)
		case id != 2 && id != 3 && id != 4 && id != 5:
			t.skip(typ)
		}
	})
}

func readElement(t *thriftReader) element {
	e := element{phys: -1, converted: convUndefined}
	ints := map[int]*int32{1: &e.phys, 3: &e.repetition, 5: &e.children, 6: &e.converted}
	t.fields(func(id int, typ byte) {
		switch {
		case ints[id] != nil && typ == tI32:
			*ints[id] = t.i32()
		case id == 4 && typ == tBinary:
			e.name = string(t.binary())
		case id == 10 && typ == tStruct:
			e.logical = readLogical(t)
		default:
			t.skip(typ)
		}
	})
	if e.logical == logicalNone {
		switch c := e.converted; {
		case c == convDecimal:
			e.logical = logicalDecimal
		case c == convDate:
			e.logical = logicalDate
		case c == convMillis:
			e.logical = logicalMillis
		case c == convMicros:
			e.logical = logicalMicros
		case c >= convUint8 && c <= convUint64:
			e.logical = logicalUnsigned
		}
	}
	return e
}

func readLogical(t *thriftReader) (l logical) {
	t.fields(func(id int, typ byte) {
		if typ != tStruct {
			t.skip(typ)
			return
		}
		switch id {
		case 5:
			l = logicalDecimal
		case 6:
			l = logicalDate
		}
		t.fields(func(sub int, typ byte) {
			switch {
			case id == 8 && sub == 2 && typ == tStruct: // the unit of a timestamp
				t.fields(func(unit int, typ byte) {
					if unit >= 1 && unit <= 3 {
						l = logicalMillis + logical(unit-1)
					}
					t.skip(typ)
				})
			case id == 10 && sub == 2: // whether an integer has a sign
				if typ == tFalse {
					l = logicalUnsigned
				}
				t.skip(typ)
			default:
				t.skip(typ)
			}
		})
	})
	return l
}

func readGroup(t *thriftReader) (g rowGroup) {
	t.fields(func(id int, typ byte) {
		switch {
		case id == 1 && typ == tList:
			t.list(func(byte) { g.chunks = append(g.chunks, readChunk(t)) })
		case id == 3 && typ == tI64:
			g.rows = t.int()
		default:
			t.skip(typ)
		}
	})
	return g
}

func readChunk(t *thriftReader) (c chunk) {
	t.fields(func(id int, typ byte) {
		switch {
		case id == 1 && typ == tBinary:
			c.elsewhere = len(t.binary()) > 0
		case id == 3 && typ == tStruct:
			c.seen = true
			ints := map[int]*int64{5: &c.values, 7: &c.size, 9: &c.data, 11: &c.dict}
			t.fields(func(id int, typ byte) {
				switch {
				case id == 4 && typ == tI32:
					c.codec = t.i32()
				case ints[id] != nil && typ == tI64:
					*ints[id] = t.int()
				default:
					t.skip(typ)
				}
			})
		case id == 8:
			c.encrypted = true
			t.skip(typ)
		default:
			t.skip(typ)
		}
	})
	return c
}

// pageHeader stands before each page.
type pageHeader struct {
	kind, raw, size int32 // raw is the size before compression
	crc             uint32
	checked         bool // whether crc is there
	values          int32
	encoding        int32
	levels          int32 // encoding of definition levels
	repLevels       int32
	// Version 2 only:
	defSize, repSize int32
	plain            bool // not compressed
}

func readPageHeader(t *thriftReader) (h pageHeader) {
	h.kind = -1
	ints := func(at map[int]*int32) {
		t.fields(func(id int, typ byte) {
			if p := at[id]; p != nil && typ == tI32 {
				*p = t.i32()
				return
			}
			h.plain = h.plain || id == 7 && typ == tFalse
			t.skip(typ)
		})
	}
	t.fields(func(id int, typ byte) {
		switch {
		case id == 1 && typ == tI32:
			h.kind = t.i32()
		case id == 2 && typ == tI32:
			h.raw = t.i32()
		case id == 3 && typ == tI32:
			h.size = t.i32()
		case id == 4 && typ == tI32:
			h.crc, h.checked = uint32(t.i32()), true
		case id == 5 && typ == tStruct:
			ints(map[int]*int32{1: &h.values, 2: &h.encoding, 3: &h.levels, 4: &h.repLevels})
		case id == 7 && typ == tStruct:
			ints(map[int]*int32{1: &h.values, 2: &h.encoding})
		case id == 8 && typ == tStruct:
			ints(map[int]*int32{1: &h.values, 4: &h.encoding, 5: &h.defSize, 6: &h.repSize})
		default:
			t.skip(typ)
		}
	})
	return h
}
