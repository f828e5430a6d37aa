package graph

import (
	"encoding/binary"
	"errors"
)

// The Arrow reader allocates the sizes that a file's metadata claims before it checks them, so
// a malicious file could ask for all memory. arrowGuard first walks the same flatbuffers and
// compares every count with the number of bytes in the file. It panics, as slices do, on
// offsets outside.

var errArrowMeta = errors.New("metadata of Arrow that cannot be true, or compressed columns")

// fbTable is a table of a flatbuffer: its bytes and its place in them.
type fbTable struct {
	b  []byte
	at int
}

// slot returns the place of a field's value, 0 when it is absent.
func (t fbTable) slot(i int) int {
	vt := t.at - int(int32(binary.LittleEndian.Uint32(t.b[t.at:])))
	if 4+2*i >= int(binary.LittleEndian.Uint16(t.b[vt:])) {
		return 0
	}
	if o := int(binary.LittleEndian.Uint16(t.b[vt+4+2*i:])); o != 0 {
		return t.at + o
	}
	return 0
}

// table follows a field to a table; vector to the length and first element of a
// vector.
func (t fbTable) table(i int) (fbTable, bool) {
	p := t.slot(i)
	if p == 0 {
		return fbTable{}, false
	}
	return fbTable{t.b, p + int(binary.LittleEndian.Uint32(t.b[p:]))}, true
}

func (t fbTable) vector(i int) (n uint64, first int) {
	v, ok := t.table(i)
	if !ok {
		return 0, 0
	}
	return uint64(binary.LittleEndian.Uint32(t.b[v.at:])), v.at + 4
}

func fbRoot(b []byte) fbTable { return fbTable{b, int(binary.LittleEndian.Uint32(b))} }

func arrowGuard(b []byte) error {
	const trailer = 10 // the footer's length and the magic number
	size := int(binary.LittleEndian.Uint32(b[len(b)-trailer:]))
	footer := b[len(b)-trailer-size : len(b)-trailer]
	root := fbRoot(footer)
	schema, ok := root.table(1)
	if !ok {
		return errArrowMeta
	}
	budget := uint64(len(footer)) / 4
	spend := func(n uint64) bool {
		if n > budget {
			return false
		}
		budget -= n
		return true
	}
	var fields func(t fbTable, slot, meta, depth int) bool
	fields = func(t fbTable, slot, meta, depth int) bool {
		n, first := t.vector(slot)
		m, _ := t.vector(meta)
		if depth > 64 || !spend(n) || !spend(m) {
			return false
		}
		for i := range int(n) {
			p := first + 4*i
			if !fields(fbTable{t.b, p + int(binary.LittleEndian.Uint32(t.b[p:]))}, 5, 6, depth+1) {
				return false
			}
		}
		return true
	}
	if !fields(schema, 1, 2, 0) {
		return errArrowMeta
	}
	for _, slot := range []int{2, 3} { // dictionaries, records
		n, first := root.vector(slot)
		if n > uint64(len(footer))/24 {
			return errArrowMeta
		}
		for i := range int(n) {
			at := binary.LittleEndian.Uint64(footer[first+24*i:])
			msg, ok := fbRoot(b[at+8:]).table(2)
			if slot == 2 && ok {
				msg, ok = msg.table(1)
			}
			if !ok || msg.slot(3) != 0 {
				return errArrowMeta
			}
		}
	}
	return nil
}
