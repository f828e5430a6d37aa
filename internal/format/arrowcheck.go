package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// arrow-go trusts the number of fields in a schema, and allocates memory for that number. The
// functions here check these numbers first, so that a few bytes of a hostile file cannot take
// all memory.

var errArrowSchema = errors.New("the schema's tables point outside it")

// flat is a flatbuffer: tables, and vectors of offsets to tables.
type flat struct {
	b    []byte
	left int // tables that may still be visited
}

// at reads a 32-bit number, and panics with errArrowSchema outside the buffer.
func (f *flat) at(i int64) int64 {
	if i < 0 || i+4 > int64(len(f.b)) {
		panic(errArrowSchema)
	}
	return int64(binary.LittleEndian.Uint32(f.b[i:]))
}

// at64 reads a 64-bit number in the same way.
func (f *flat) at64(i int64) int64 { return f.at(i) | f.at(i+4)<<32 }

// slot returns where slot n of the table at pos points, 0 when it is empty.
func (f *flat) slot(pos int64, n int64) int64 {
	p := f.inline(pos, n)
	if p == 0 {
		return 0
	}
	return p + f.at(p)
}

// inline returns where the value in slot n of the table at pos stands, 0 when it is empty.
func (f *flat) inline(pos int64, n int64) int64 {
	vt := pos - int64(int32(f.at(pos)))
	size := f.at(vt) & 0xffff
	if 4+2*n+2 > size {
		return 0
	}
	if vt+4+2*n+2 > int64(len(f.b)) {
		panic(errArrowSchema)
	}
	off := int64(binary.LittleEndian.Uint16(f.b[vt+4+2*n:]))
	if off == 0 {
		return 0
	}
	return pos + off
}

// vector checks the length of the vector at pos and returns it.
func (f *flat) vector(pos int64) int64 {
	n := f.at(pos)
	if n > (int64(len(f.b))-pos)/4 {
		panic(errArrowSchema)
	}
	return n
}

// fields checks the vector of fields in a slot, and their children.
func (f *flat) fields(table, slot int64, depth int) {
	pos := f.slot(table, slot)
	if pos == 0 {
		return
	}
	n := f.vector(pos)
	for i := range n {
		if f.left--; f.left < 0 || depth > 64 {
			panic(errArrowSchema)
		}
		p := pos + 4 + 4*i
		field := p + f.at(p)
		f.fields(field, 5, depth+1)
		f.pairs(field, 6)
	}
}

func (f *flat) pairs(table, slot int64) {
	if pos := f.slot(table, slot); pos != 0 {
		f.vector(pos)
	}
}

// checkSchema checks a Message (or a Footer) and the schema in it.
func checkSchema(b []byte, footer bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errArrowSchema
		}
	}()
	f := &flat{b: b, left: 1 << 16}
	root := f.at(0)
	slot := int64(2)
	if footer {
		slot = 1
	}
	schema := f.slot(root, slot)
	if schema == 0 {
		return errArrowSchema
	}
	f.fields(schema, 1, 0)
	f.pairs(schema, 2)
	if footer {
		f.pairs(root, 2)
		f.pairs(root, 3)
	}
	return nil
}

// checkedStream returns the stream again after looking at its first message.
func checkedStream(r io.Reader) (io.Reader, error) {
	const most = 64 << 20
	var h [8]byte
	if n, err := readFill(r, h[:]); n < len(h) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(h[4:]))
	seen := h[:]
	skip := 8
	if binary.LittleEndian.Uint32(h[:]) != 0xffffffff { // before Arrow 0.15: no mark
		n, skip = int64(binary.LittleEndian.Uint32(h[:])), 4
	}
	if n > most || n < 8 {
		return nil, errArrowSchema
	}
	rest, err := io.ReadAll(io.LimitReader(r, n-int64(8-skip)))
	if err != nil {
		return nil, err
	}
	seen = append(seen, rest...)
	if int64(len(seen)) < n+int64(skip) {
		return nil, io.ErrUnexpectedEOF
	}
	if err := checkSchema(seen[skip:], false); err != nil {
		return nil, err
	}
	return io.MultiReader(bytes.NewReader(seen), r), nil
}

// checkFooter looks at the footer of an Arrow file.
func checkFooter(f io.ReaderAt, size int64) error {
	var t [10]byte
	if size < 24 {
		return io.ErrUnexpectedEOF
	}
	if _, err := f.ReadAt(t[:], size-10); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(t[:]))
	if n < 8 || n > size-18 || n > 1<<30 {
		return errArrowSchema
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, size-10-n); err != nil {
		return err
	}
	return checkSchema(b, true)
}
