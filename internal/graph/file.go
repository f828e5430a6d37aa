package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"
)

// The file form is described in docs/file-format.md. Everything is little
// endian, so that sections are used as they lie in memory.

const (
	fileMagic   = "\x89WEFT\r\n\x1a"
	fileVersion = 1
	headerBytes = 64
	entryBytes  = 40
	sectionPad  = 64
	flagDirect  = 1
	// maxSections bounds the table before anything is allocated.
	maxSections = 64
)

// Section kinds. Numbers are never used again for something else.
const (
	secOutOff uint32 = iota + 1
	secOutAdj
	secInOff
	secInAdj
	secIDNum
	secIDStrOff
	secIDStrBytes
	secMeta
	secEdgeOff
	secEdgeDst
	secEdgeSrc
	secEdgeLabel
	secEdgeTime
	secEdgeProps
	secVertexProps
	secStats
	secEnd // one more than the last
)

var sectionNames = [secEnd]string{
	secOutOff: "offsets", secOutAdj: "adjacency", secInOff: "in-offsets", secInAdj: "in-adjacency",
	secIDNum: "ids", secIDStrOff: "id offsets", secIDStrBytes: "id bytes", secMeta: "metadata",
	secEdgeOff: "edge offsets", secEdgeDst: "edge targets", secEdgeSrc: "edge sources", secEdgeLabel: "edge labels",
	secEdgeTime: "edge times", secEdgeProps: "edge properties", secVertexProps: "vertex properties", secStats: "statistics",
}

func sectionName(kind uint32) string {
	if kind < secEnd && sectionNames[kind] != "" {
		return sectionNames[kind]
	}
	return fmt.Sprintf("section %d", kind)
}

// ErrCorrupt is wrapped by every error about the content of a graph file.
var ErrCorrupt = errors.New("graph file is corrupt")

// ErrNotGraph is returned by Open for a file of another kind.
var ErrNotGraph = errors.New("not a weft graph file")

// ErrVersion is returned by Open for a file of a version that it does not know.
var ErrVersion = errors.New("unknown version of the graph file form")

// CorruptError says where a graph file is wrong.
type CorruptError struct {
	Path    string // may be empty
	Section string // "header", "section table" or a section's name
	Offset  int64  // in the file, bytes
	Msg     string
}

// Error describes the place and the fault.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: %s: offset %d (%s): %s", e.Path, ErrCorrupt, e.Offset, e.Section, e.Msg)
}

// Unwrap returns ErrCorrupt.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// section is one entry of the table.
type section struct {
	kind, crc   uint32
	off, length uint64
	// Of an Arrow section: how many bytes at its beginning and at its end are
	// not column data, and their checksum. The Arrow reader believes them, so
	// they are checked before it sees them, however large the columns are.
	head, tail, headCRC uint32
}

func (s *section) put(b []byte) {
	binary.LittleEndian.PutUint32(b, s.kind)
	binary.LittleEndian.PutUint32(b[4:], s.crc)
	binary.LittleEndian.PutUint64(b[8:], s.off)
	binary.LittleEndian.PutUint64(b[16:], s.length)
	binary.LittleEndian.PutUint32(b[24:], s.head)
	binary.LittleEndian.PutUint32(b[28:], s.tail)
	binary.LittleEndian.PutUint32(b[32:], s.headCRC)
	binary.LittleEndian.PutUint32(b[36:], 0)
}

func (s *section) get(b []byte) {
	s.kind = binary.LittleEndian.Uint32(b)
	s.crc = binary.LittleEndian.Uint32(b[4:])
	s.off = binary.LittleEndian.Uint64(b[8:])
	s.length = binary.LittleEndian.Uint64(b[16:])
	s.head = binary.LittleEndian.Uint32(b[24:])
	s.tail = binary.LittleEndian.Uint32(b[28:])
	s.headCRC = binary.LittleEndian.Uint32(b[32:])
}

// headSum is the checksum of the parts of an Arrow section that are not column
// data; false when they are not inside it.
func (s *section) headSum(b []byte) (uint32, bool) {
	if uint64(s.head)+uint64(s.tail) > uint64(len(b)) {
		return 0, false
	}
	c := crc32.Checksum(b[:s.head], castagnoli)
	return crc32.Update(c, castagnoli, b[len(b)-int(s.tail):]), true
}

// littleEndian reports whether this machine is.
func littleEndian() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}

var errBigEndian = errors.New("graph files are little endian and this machine is big endian: not supported")

// fileMeta is the metadata section, as JSON. Names are bytes, as they need not
// be UTF-8.
type fileMeta struct {
	VertexLabels [][]byte    `json:"vertex_labels,omitempty"`
	EdgeLabels   [][]byte    `json:"edge_labels,omitempty"`
	Classes      []fileClass `json:"classes"`
	Read         ReadStats   `json:"read"`
}

type fileClass struct {
	Labels []uint32 `json:"labels,omitempty"`
	First  uint32   `json:"first"`
	End    uint32   `json:"end"`
}

func toBytes(s []string) (r [][]byte) {
	for _, x := range s {
		r = append(r, []byte(x))
	}
	return r
}

func toStrings(s [][]byte) (r []string) {
	for _, x := range s {
		r = append(r, string(x))
	}
	return r
}
