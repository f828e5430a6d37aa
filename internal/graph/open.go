package graph

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weftgraph/weft/internal/vfs"
)

// mapping is an open graph file.
type mapping struct {
	path string // for errors
	data []byte
	free func([]byte) error
	secs map[uint32]section

	checked time.Duration // time that verifying took

	mu      sync.Mutex
	file    vfs.File // tells whether the file changes; nil where data are a copy
	version version
	changes error // the result of changed, once known
}

func (m *mapping) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, free, f := m.data, m.free, m.file
	m.data, m.file = nil, nil
	var errs []error
	if b != nil && free != nil {
		errs = append(errs, free(b))
	}
	if f != nil {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Unread tells the system that the process need not have these bytes of the graph's file in memory: callers have copied them. Bytes
// that are not of a mapped file stay. Whoever reads the bytes again gets them from the file.
func (g *Graph) Unread(b []byte) {
	if g.file == nil || !vfs.CanMap || len(b) == 0 {
		return
	}
	m := g.file
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.data) == 0 {
		return
	}
	page := uintptr(os.Getpagesize())
	from := uintptr(unsafe.Pointer(&b[0])) - uintptr(unsafe.Pointer(&m.data[0]))
	if from > uintptr(len(m.data)) || uintptr(len(b)) > uintptr(len(m.data))-from {
		return
	}
	lo, hi := (from+page-1)/page*page, (from+uintptr(len(b)))/page*page
	if lo < hi {
		dropPages(m.data[lo:hi])
	}
}

// smallFile is the size up to which no record is kept of a file: to verify it costs less
// than 20 ms.
const smallFile = 8 << 20

// tinyFile is the size up to which one goroutine checks sooner than several.
const tinyFile = 64 << 10

// OpenOptions say how Open opens a file.
type OpenOptions struct {
	Threads int    // 0: all cores
	Name    string // of the file in errors; "" is its path
	Cache   string // the folder of caches; "" is disk.CacheDir's
	Files   vfs.FS // nil: the system's
}

// Open maps a graph file. It verifies the whole file first, as Verify does, so a search only
// reads sections with right checksums and a sound structure. It keeps a record of a large file,
// so that opening the same version of the file again takes milliseconds.
//
// The file stays open. If it changes, or becomes shorter, while the graph is in use, Damage
// says so. A read of a missing part is a panic in goroutines that call debug.SetPanicOnFault.
func Open(ctx context.Context, path string, o OpenOptions) (g *Graph, err error) {
	fsys := vfs.Or(o.Files)
	f, err := vfs.Open(fsys, path)
	if err != nil {
		return nil, err
	}
	m := &mapping{path: cmp.Or(o.Name, path), file: f}
	defer func() {
		if err != nil {
			_ = m.close()
		}
	}()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: not a regular file", m.path, ErrNotGraph)
	}
	if st.Size() < headerBytes {
		var b [len(fileMagic)]byte
		if _, err := f.ReadAt(b[:], 0); err == nil && string(b[:]) == fileMagic {
			return nil, &CorruptError{m.path, "header", st.Size(), "the file ends in the header"}
		}
		return nil, fmt.Errorf("%s: %w", m.path, ErrNotGraph)
	}
	if st.Size() > math.MaxInt {
		return nil, fmt.Errorf("%s: %w", m.path, ErrTooLarge)
	}
	now := time.Now()
	if m.version, _, err = versionOf(f); err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	if m.data, m.free, err = fsys.Map(f, st.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	if !vfs.CanMap {
		m.file = nil
		_ = f.Close()
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if x := recover(); x != nil {
			if g, err = nil, m.damage(x); err == nil {
				panic(x)
			}
		}
	}()
	record := ""
	if m.file != nil && st.Size() > smallFile {
		record = recordPath(o.Cache, m.version)
	}
	known := hasRecord(fsys, record, m)
	// A program that had the file mapped before may change it without another version.
	settled := known || m.version.settled(now) && (record == "" || !hasWriter(f))
	if g, err = open(ctx, m, o.Threads, !known); err != nil {
		return nil, err
	}
	if known {
		return g, nil
	}
	if err := m.changed(); err != nil {
		return nil, err
	}
	if settled {
		putRecord(fsys, record, m)
	}
	return g, nil
}

// CheckTime is how long Open took to verify the graph's file. It is 0 for a small file, and
// where this version of the file was verified before.
func (g *Graph) CheckTime() time.Duration {
	if g.file == nil {
		return 0
	}
	return g.file.checked
}

// IsFile reports whether b begins like a graph file.
func IsFile(b []byte) bool {
	return len(b) >= len(fileMagic) && string(b[:len(fileMagic)]) == fileMagic
}

func (m *mapping) bad(section string, off uint64, format string, a ...any) error {
	return &CorruptError{m.path, section, int64(off), fmt.Sprintf(format, a...)}
}

// open makes a graph over the bytes of a file, which must be 8-byte aligned, and verifies
// it if it is to.
func open(ctx context.Context, m *mapping, threads int, verify bool) (*Graph, error) {
	if !littleEndian() {
		return nil, errBigEndian
	}
	b := m.data
	if !IsFile(b) {
		return nil, fmt.Errorf("%s: %w", m.path, ErrNotGraph)
	}
	if len(b) < headerBytes {
		return nil, m.bad("header", uint64(len(b)), "the file ends in the header")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != fileVersion {
		return nil, fmt.Errorf("%s: %w: %d, this program reads %d", m.path, ErrVersion, v, fileVersion)
	}
	count := binary.LittleEndian.Uint32(b[12:])
	size := binary.LittleEndian.Uint64(b[16:])
	n := binary.LittleEndian.Uint64(b[24:])
	flags := binary.LittleEndian.Uint64(b[32:])
	end := headerBytes + entryBytes*uint64(count)
	switch {
	case count > maxSections:
		return nil, m.bad("header", 12, "%d sections, at most %d", count, maxSections)
	case end > uint64(len(b)):
		return nil, m.bad("section table", uint64(len(b)), "the file ends in the section table")
	case headerSum(b[:end]) != binary.LittleEndian.Uint32(b[60:]):
		return nil, m.bad("header", 60, "wrong checksum of header and section table")
	case size != uint64(len(b)):
		return nil, m.bad("header", 16, "the file has %d bytes and should have %d: truncated or extended", len(b), size)
	case n > maxVertices:
		return nil, m.bad("header", 24, "%d vertices", n)
	case flags&^flagDirect != 0:
		return nil, m.bad("header", 32, "unknown flags %#x", flags)
	}
	m.secs = map[uint32]section{}
	for i := range uint64(count) {
		at := headerBytes + entryBytes*i
		var s section
		s.get(b[at:])
		switch {
		case s.kind == 0 || s.kind >= secEnd:
			return nil, m.bad("section table", at, "unknown section %d", s.kind)
		case m.secs[s.kind].kind != 0:
			return nil, m.bad("section table", at, "two sections %q", sectionName(s.kind))
		case s.off%sectionPad != 0 || s.off < end || s.off > size || s.length > size-s.off:
			return nil, m.bad("section table", at, "section %q at %d with %d bytes is not inside the file of %d", sectionName(s.kind), s.off, s.length, size)
		}
		end = s.off + s.length
		m.secs[s.kind] = s
	}
	g := &Graph{Directed: flags&flagDirect != 0, file: m}
	if err := m.load(g, n); err != nil {
		return nil, err
	}
	if verify {
		if len(b) <= tinyFile {
			threads = 1
		}
		var first []uint64
		if len(b) <= smallFile {
			first = make([]uint64, n)
		}
		begun := time.Now()
		if err := g.verify(ctx, threads, first); err != nil {
			return nil, err
		}
		if first == nil {
			m.checked = time.Since(begun)
		}
		if g.above.first = first; first == nil {
			g.IDs.lookup.drop() // many queries do without
		}
	}
	return g, nil
}

func (m *mapping) bytes(kind uint32) []byte {
	s := m.secs[kind]
	return m.data[s.off : s.off+s.length : s.off+s.length]
}

// words returns a section as numbers; want is how many, or anyLength.
func words[T word](m *mapping, kind uint32, want uint64) ([]T, error) {
	s, ok := m.secs[kind]
	if !ok {
		return nil, m.bad("section table", headerBytes, "section %q is missing", sectionName(kind))
	}
	var z T
	w := uint64(unsafe.Sizeof(z))
	if s.length%w != 0 || want != anyLength && s.length/w != want {
		return nil, m.bad(sectionName(kind), s.off, "%d bytes do not fit the graph", s.length)
	}
	b := m.bytes(kind)
	if len(b) == 0 {
		return []T{}, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), s.length/w), nil
}

const anyLength = ^uint64(0)

func (m *mapping) load(g *Graph, n uint64) (err error) {
	if g.Out, err = m.csr(secOutOff, secOutAdj, n); err != nil {
		return err
	}
	g.In = g.Out
	if g.Directed {
		if g.In, err = m.csr(secInOff, secInAdj, n); err != nil {
			return err
		}
	}
	if _, ok := m.secs[secIDNum]; ok {
		g.IDs.Num, err = words[int64](m, secIDNum, n)
	} else if g.IDs.StrOff, err = words[uint64](m, secIDStrOff, n+1); err == nil {
		g.IDs.StrBytes, err = words[uint8](m, secIDStrBytes, anyLength)
		if err == nil && (g.IDs.StrOff[0] != 0 || g.IDs.StrOff[n] != uint64(len(g.IDs.StrBytes))) {
			err = m.bad("id offsets", m.secs[secIDStrOff].off, "they do not cover the id bytes")
		}
	}
	if err != nil {
		return err
	}
	if err := m.meta(g, n); err != nil {
		return err
	}
	if err := m.edges(g, n); err != nil {
		return err
	}
	if _, ok := m.secs[secVertexProps]; ok {
		if g.VertexProps, err = m.record(secVertexProps, n); err != nil {
			return err
		}
	}
	if _, ok := m.secs[secStats]; ok {
		b, err := m.summed(secStats)
		if err != nil {
			return err
		}
		s := &Stats{}
		if err := json.Unmarshal(b, s); err != nil {
			return m.bad("statistics", m.secs[secStats].off, "%v", err)
		}
		g.stat.set(s)
	}
	return nil
}

func (m *mapping) csr(off, adj uint32, n uint64) (c CSR, err error) {
	if c.Off, err = words[uint64](m, off, n+1); err != nil {
		return c, err
	}
	if c.Adj, err = words[uint32](m, adj, anyLength); err != nil {
		return c, err
	}
	if c.Off[0] != 0 || c.Off[n] != uint64(len(c.Adj)) {
		return c, m.bad(sectionName(off), m.secs[off].off, "they do not cover the %d neighbours", len(c.Adj))
	}
	return c, nil
}

// summed returns a section's bytes if its checksum is right.
func (m *mapping) summed(kind uint32) ([]byte, error) {
	s, ok := m.secs[kind]
	if !ok {
		return nil, m.bad("section table", headerBytes, "section %q is missing", sectionName(kind))
	}
	b := m.bytes(kind)
	if crc32.Checksum(b, castagnoli) != s.crc {
		return nil, m.bad(sectionName(kind), s.off, "wrong checksum")
	}
	return b, nil
}

func (m *mapping) meta(g *Graph, n uint64) error {
	b, err := m.summed(secMeta)
	if err != nil {
		return err
	}
	at := m.secs[secMeta].off
	var f fileMeta
	if err := json.Unmarshal(b, &f); err != nil {
		return m.bad("metadata", at, "%v", err)
	}
	g.VertexLabels, g.EdgeLabels, g.Read = toStrings(f.VertexLabels), toStrings(f.EdgeLabels), f.Read
	g.Read.Converted = true
	for _, l := range [][]string{g.VertexLabels, g.EdgeLabels} {
		if !slices.IsSortedFunc(l, compareLabels) {
			return m.bad("metadata", at, "label names are not in order")
		}
	}
	next := uint32(0)
	for i, c := range f.Classes {
		if c.First != next || c.End < c.First || c.End == c.First && n > 0 {
			return m.bad("metadata", at, "class %d is %d … %d after %d", i, c.First, c.End, next)
		}
		for j, l := range c.Labels {
			if int(l) >= len(g.VertexLabels) || j > 0 && c.Labels[j-1] >= l {
				return m.bad("metadata", at, "class %d has a bad label %d", i, l)
			}
		}
		next = c.End
		g.Classes = append(g.Classes, Class(c))
	}
	if uint64(next) != n || len(g.Classes) == 0 {
		return m.bad("metadata", at, "classes cover %d of %d vertices", next, n)
	}
	return nil
}

func (m *mapping) edges(g *Graph, n uint64) (err error) {
	if _, ok := m.secs[secEdgeOff]; !ok {
		return nil
	}
	t := &EdgeTable{}
	if t.Off, err = words[uint64](m, secEdgeOff, n+1); err != nil {
		return err
	}
	if t.Dst, err = words[uint32](m, secEdgeDst, anyLength); err != nil {
		return err
	}
	rows := uint64(len(t.Dst))
	if t.Off[0] != 0 || t.Off[n] != rows {
		return m.bad("edge offsets", m.secs[secEdgeOff].off, "they do not cover the %d rows", rows)
	}
	if t.Src, err = words[uint32](m, secEdgeSrc, rows); err != nil {
		return err
	}
	if _, ok := m.secs[secEdgeLabel]; ok {
		if t.Label, err = words[uint32](m, secEdgeLabel, rows); err != nil {
			return err
		}
	}
	if _, ok := m.secs[secEdgeTime]; ok {
		if t.Time, err = words[int64](m, secEdgeTime, rows); err != nil {
			return err
		}
	}
	if _, ok := m.secs[secEdgeProps]; ok {
		if t.Props, err = m.record(secEdgeProps, rows); err != nil {
			return err
		}
	}
	g.Edges = t
	return nil
}

// record decodes an Arrow IPC file of one record, whose columns stay in the
// mapping. The decoder panics on some bad input.
func (m *mapping) record(kind uint32, rows uint64) (r arrow.RecordBatch, err error) {
	at := m.secs[kind].off
	defer func() {
		if x := recover(); x != nil {
			r, err = nil, m.bad(sectionName(kind), at, "not an Arrow file: %v", x)
		}
	}()
	b, s := m.bytes(kind), m.secs[kind]
	if c, ok := s.headSum(b); !ok || s.head == 0 || c != s.headCRC {
		return nil, m.bad(sectionName(kind), at, "wrong checksum of the Arrow schema")
	}
	if err := arrowGuard(b); err != nil {
		return nil, m.bad(sectionName(kind), at, "%v", err)
	}
	f, err := ipc.NewMappedFileReader(b)
	if err != nil {
		return nil, m.bad(sectionName(kind), at, "not an Arrow file: %v", err)
	}
	if f.NumRecords() != 1 {
		return nil, m.bad(sectionName(kind), at, "%d records, want 1", f.NumRecords())
	}
	if r, err = f.RecordBatch(0); err != nil {
		return nil, m.bad(sectionName(kind), at, "%v", err)
	}
	if uint64(r.NumRows()) != rows {
		return nil, m.bad(sectionName(kind), at, "%d rows, want %d", r.NumRows(), rows)
	}
	if err := array.ValidateRecord(r); err != nil {
		return nil, m.bad(sectionName(kind), at, "%v", err)
	}
	r.Retain()
	return r, nil
}
