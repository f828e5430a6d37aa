package layout

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"sync"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// A file of partitions stands next to the graph file. It is 8 bytes that name it, arrays of
// 32-bit numbers, a table with an entry of 48 bytes for each partition, and a trailer of 40
// bytes. Everything is little endian and has a checksum (CRC-32C).
const (
	fileMagic   = "\x89WEFTLP\n"
	fileVersion = 1
	entrySize   = 48
	trailerSize = 40
)

// sideOld marks the entry of Renumbering.Old.
const sideOld = Side(255)

// FileName returns the name of the file of partitions of a kind that stands next to a graph file.
func FileName(graphFile string, kind Kind) string { return graphFile + "." + kind.String() }

// ErrDamaged is wrapped by errors about the content of a file of partitions.
var ErrDamaged = errors.New("the file of label partitions is damaged")

// ErrForeign says that a file of partitions was made of another graph, or by another version of weft.
var ErrForeign = errors.New("the file of label partitions is not of this graph")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entry is where the arrays of a partition are.
type entry struct {
	key     partKey
	crc     uint32
	at      uint64    // in the file, bytes
	len     [4]uint32 // of each array, in numbers
	buckets uint32
}

func (e *entry) numbers() (n uint64) {
	for _, l := range e.len {
		n += uint64(l)
	}
	return n
}

func (e *entry) append(b []byte) []byte {
	for _, x := range []uint32{e.key.label, uint32(e.key.side), e.crc, e.buckets} {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	b = binary.LittleEndian.AppendUint64(b, e.at)
	for _, x := range e.len {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return append(b, make([]byte, 8)...)
}

func (e *entry) read(b []byte) {
	le := binary.LittleEndian
	e.key = partKey{le.Uint32(b), Side(le.Uint32(b[4:]))}
	e.crc, e.buckets, e.at = le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint64(b[16:])
	for i := range e.len {
		e.len[i] = le.Uint32(b[24+4*i:])
	}
}

// file is an open file of partitions.
type file struct {
	fsys    vfs.FS
	name    string
	n       uint32 // vertices
	kind    Kind
	entries map[partKey]entry
}

// Open returns the partitions of a graph that was opened from a file: from the file of partitions
// next to it, or made now and written there. The warning says why a file that is there was
// not used, or could not be written; that is not an error, as partitions can be made at
// any time. A graph that is not from a file, or an empty name, has no such file.
func Open(ctx context.Context, fsys vfs.FS, graphFile string, g *graph.Graph, kind Kind, load, threads int) (l *Labels, warning string, err error) {
	fsys = vfs.Or(fsys)
	if _, ok := g.Fingerprint(); !ok || graphFile == "" {
		l, err = Make(ctx, g, kind, load, threads)
		return l, "", err
	}
	name := FileName(graphFile, kind)
	l, err = Read(ctx, fsys, name, g, kind, load, threads)
	switch {
	case err == nil:
		return l, "", nil
	case ctx.Err() != nil:
		return nil, "", err
	case !errors.Is(err, fs.ErrNotExist):
		warning = err.Error() + "; it is made anew"
	}
	if l, err = Make(ctx, g, kind, load, threads); err != nil {
		return nil, warning, err
	}
	if err := l.Write(ctx, fsys, name); err != nil {
		if ctx.Err() != nil {
			return nil, warning, err
		}
		warning = fmt.Sprintf("label partitions are not kept: %v", err)
	}
	return l, warning, nil
}

// Write makes all partitions and writes them to a file, whole or not at all.
func (l *Labels) Write(ctx context.Context, fsys vfs.FS, name string) error {
	sum, ok := l.g.Fingerprint()
	if !ok {
		return errors.New("the graph is not from a file")
	}
	f, err := disk.Create(ctx, vfs.Or(fsys), name)
	if err != nil {
		return err
	}
	defer f.Abort()
	rows := RowsByLabel(l.g)
	count := rows.Labels() * len(rows.Sides())
	if l.Renumbering != nil {
		count++
	}
	w := bufio.NewWriterSize(f, 1<<20)
	at := uint64(len(fileMagic))
	if _, err := w.WriteString(fileMagic); err != nil {
		return err
	}
	var entries []entry
	var mu sync.Mutex
	add := func(e entry, arrays ...[]uint32) error {
		var parts [][]byte
		for i, a := range arrays {
			b := bytesOf(a)
			e.len[i] = uint32(len(a))
			e.crc = crc32.Update(e.crc, castagnoli, b)
			parts = append(parts, b)
		}
		mu.Lock()
		defer mu.Unlock()
		e.at = at
		for _, b := range parts {
			if _, err := w.Write(b); err != nil {
				return err
			}
			at += uint64(len(b))
		}
		entries = append(entries, e)
		return nil
	}
	if l.Renumbering != nil {
		if err := add(entry{key: partKey{side: sideOld}}, l.Old); err != nil {
			return err
		}
	}
	err = l.All(ctx, func(label uint32, side Side, p Partition) error {
		e := entry{key: partKey{label, side}}
		switch p := p.(type) {
		case *Interval:
			return add(e, p.First, p.Row, p.Off, p.Adj)
		case *Hashed:
			e.buckets = p.Buckets
			return add(e, p.Groups, p.Adj)
		}
		panic("layout: a partition of an unknown kind")
	})
	if err != nil {
		return err
	}
	if len(entries) != count {
		return fmt.Errorf("%d partitions were made of %d", len(entries), count)
	}
	var b []byte
	for i := range entries {
		b = entries[i].append(b)
	}
	le := binary.LittleEndian
	for _, x := range []uint32{fileVersion, uint32(l.Kind), uint32(l.Load), uint32(l.g.NumVertices())} {
		b = le.AppendUint32(b, x)
	}
	b = le.AppendUint64(b, sum)
	b = le.AppendUint64(b, at+uint64(count*entrySize+trailerSize))
	b = le.AppendUint32(b, uint32(count))
	b = le.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := w.Write(b); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Commit()
}

// Read opens a file of partitions. Errors wrap fs.ErrNotExist, ErrDamaged or ErrForeign.
// Load is what the caller asked for; 0 takes what the file has.
func Read(ctx context.Context, fsys vfs.FS, name string, g *graph.Graph, kind Kind, load, threads int) (*Labels, error) {
	fsys = vfs.Or(fsys)
	f, err := vfs.Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%s: %w: %s", name, ErrDamaged, fmt.Sprintf(format, a...))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := uint64(info.Size())
	magic, trailer := make([]byte, len(fileMagic)), make([]byte, trailerSize)
	if size < uint64(len(magic)+len(trailer)) {
		return nil, bad("it has %d bytes", size)
	}
	if err := readAt(f, magic, 0); err != nil {
		return nil, bad("%v", err)
	}
	if err := readAt(f, trailer, size-trailerSize); err != nil {
		return nil, bad("%v", err)
	}
	le := binary.LittleEndian
	count := le.Uint32(trailer[32:])
	switch {
	case string(magic) != fileMagic:
		return nil, bad("it does not begin as one")
	case le.Uint64(trailer[24:]) != size, uint64(count)*entrySize > size-uint64(len(magic)+len(trailer)):
		return nil, bad("it has %d bytes, and should have %d", size, le.Uint64(trailer[24:]))
	}
	table := make([]byte, count*entrySize)
	if err := readAt(f, table, size-trailerSize-uint64(len(table))); err != nil {
		return nil, bad("%v", err)
	}
	if crc32.Update(crc32.Checksum(table, castagnoli), castagnoli, trailer[:36]) != le.Uint32(trailer[36:]) {
		return nil, bad("wrong checksum of its table")
	}
	sum, _ := g.Fingerprint()
	fileLoad := int(le.Uint32(trailer[8:]))
	switch {
	case le.Uint32(trailer) != fileVersion:
		return nil, fmt.Errorf("%s: %w: version %d", name, ErrForeign, le.Uint32(trailer))
	case le.Uint64(trailer[16:]) != sum, le.Uint32(trailer[12:]) != uint32(g.NumVertices()):
		return nil, fmt.Errorf("%s: %w", name, ErrForeign)
	case Kind(le.Uint32(trailer[4:])) != kind, kind == Hashes && load != 0 && load != fileLoad:
		return nil, fmt.Errorf("%s: %w: its partitions are of another kind or load", name, ErrForeign)
	}
	x := &file{fsys: fsys, name: name, n: uint32(g.NumVertices()), kind: kind, entries: map[partKey]entry{}}
	for i := range int(count) {
		var e entry
		e.read(table[i*entrySize:])
		if e.at > size || e.numbers() > (size-e.at)/4 {
			return nil, bad("entry %d is not inside it", i)
		}
		x.entries[e.key] = e
	}
	l := &Labels{Kind: kind, Load: fileLoad, g: g, threads: threads, file: x, parts: map[partKey]*part{}}
	if kind == Intervals {
		arrays, err := x.arrays(f, partKey{side: sideOld})
		if err != nil {
			return nil, err
		}
		if l.Renumbering, err = invert(ctx, arrays[0], g); err != nil {
			return nil, bad("%v", err)
		}
	}
	return l, ctx.Err()
}

// invert returns the renumbering of which old is one half. It fails where old is not a
// permutation that keeps each class.
func invert(ctx context.Context, old []uint32, g *graph.Graph) (*Renumbering, error) {
	n := g.NumVertices()
	if len(old) != n {
		return nil, fmt.Errorf("it numbers %d vertices of %d", len(old), n)
	}
	re := &Renumbering{New: make([]uint32, n), Old: old}
	for i := range re.New {
		re.New[i] = None
	}
	for _, c := range g.Classes {
		for i := c.First; i < c.End; i++ {
			v := old[i]
			if v < c.First || v >= c.End || re.New[v] != None {
				return nil, fmt.Errorf("new id %d is given wrongly", i)
			}
			re.New[v] = i
		}
	}
	return re, ctx.Err()
}

// arrays reads the arrays of one entry and checks them against their sum.
func (x *file) arrays(f io.ReaderAt, key partKey) (arrays [4][]uint32, err error) {
	e, ok := x.entries[key]
	if !ok {
		return arrays, fmt.Errorf("%s: %w: a partition is missing", x.name, ErrDamaged)
	}
	at, sum := e.at, uint32(0)
	for i, n := range e.len {
		b := make([]byte, 4*uint64(n))
		if err := readAt(f, b, at); err != nil {
			return arrays, fmt.Errorf("%s: %w: %v", x.name, ErrDamaged, err)
		}
		sum = crc32.Update(sum, castagnoli, b)
		at += uint64(len(b))
		arrays[i] = numbersOf(b)
	}
	if sum != e.crc {
		return arrays, fmt.Errorf("%s: %w: wrong checksum of a partition", x.name, ErrDamaged)
	}
	return arrays, nil
}

// partition reads one partition.
func (x *file) partition(key partKey) (Partition, error) {
	f, err := vfs.Open(x.fsys, x.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := x.arrays(f, key)
	if err != nil {
		return nil, err
	}
	var p interface {
		Partition
		check(n uint32) error
	}
	if x.kind == Hashes {
		p = &Hashed{Groups: a[0], Adj: a[1], Buckets: x.entries[key].buckets}
	} else {
		p = &Interval{First: a[0], Row: a[1], Off: a[2], Adj: a[3]}
	}
	if err := p.check(x.n); err != nil {
		return nil, fmt.Errorf("%s: %w: %v", x.name, ErrDamaged, err)
	}
	return p, nil
}

// check looks at all that List relies on, for a graph of n vertices.
func (x *Interval) check(n uint32) error {
	if len(x.Row) != len(x.First)+1 || len(x.Off) == 0 || x.Row[0] != 0 || uint64(x.Row[len(x.First)])+1 != uint64(len(x.Off)) {
		return errors.New("its runs and its rows differ")
	}
	for i, first := range x.First {
		rows := uint64(x.Row[i+1]) - uint64(x.Row[i])
		if x.Row[i+1] <= x.Row[i] || uint64(first)+rows > uint64(n) || i > 0 && uint64(x.First[i-1])+uint64(x.Row[i]-x.Row[i-1]) >= uint64(first) {
			return fmt.Errorf("run %d is not behind the one before", i)
		}
	}
	if err := ascending(x.Off, len(x.Adj)); err != nil {
		return err
	}
	return below(x.Adj, n)
}

// check looks at all that List relies on, for a graph of n vertices.
func (h *Hashed) check(n uint32) error {
	groups := uint32(len(h.Groups) / (2 * GroupPairs))
	if len(h.Groups)%(2*GroupPairs) != 0 || h.Buckets > groups || (h.Buckets == 0) != (groups == 0) {
		return errors.New("its groups are not whole")
	}
	offsets := make([]uint32, 0, len(h.Groups)/2+1)
	reached := make([]bool, groups)
	for g := range groups {
		group := h.Groups[g*2*GroupPairs:][:2*GroupPairs]
		for i := 1; i < len(group); i += 2 {
			offsets = append(offsets, group[i])
		}
		// A group continues at most one other, so that no walk along them is endless.
		if next := group[len(group)-2]; next != None {
			if next >= groups || reached[next] || next == g {
				return fmt.Errorf("group %d continues wrongly", g)
			}
			reached[next] = true
		}
	}
	if groups > 0 {
		// Chains without a first group would be rings.
		seen := uint32(0)
		for g := range groups {
			for at := g; !reached[g] && at != None; at = h.Groups[at*2*GroupPairs+2*GroupPairs-2] {
				seen++
			}
		}
		if seen != groups {
			return errors.New("groups continue in a ring")
		}
		if offsets[0] != 0 {
			return errors.New("lists do not begin at 0")
		}
		if err := ascending(offsets, len(h.Adj)); err != nil {
			return err
		}
	} else if len(h.Adj) > 0 {
		return errors.New("it has lists and no group")
	}
	return below(h.Adj, n)
}

func ascending(off []uint32, end int) error {
	for i := 1; i < len(off); i++ {
		if off[i] < off[i-1] {
			return errors.New("offsets do not ascend")
		}
	}
	if uint64(end) > math.MaxUint32 || off[0] != 0 || off[len(off)-1] != uint32(end) {
		return errors.New("offsets do not cover the lists")
	}
	return nil
}

func below(adj []uint32, n uint32) error {
	for _, v := range adj {
		if v >= n {
			return fmt.Errorf("there is no vertex %d", v)
		}
	}
	return nil
}

// bytesOf returns numbers as bytes, little endian.
func bytesOf(numbers []uint32) []byte {
	b := make([]byte, 0, 4*len(numbers))
	for _, x := range numbers {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// numbersOf is the inverse of bytesOf.
func numbersOf(b []byte) []uint32 {
	numbers := make([]uint32, len(b)/4)
	for i := range numbers {
		numbers[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return numbers
}

// readAt reads all of b at a place of a file.
func readAt(f io.ReaderAt, b []byte, at uint64) error {
	if n, err := f.ReadAt(b, int64(at)); n < len(b) {
		return err
	}
	return nil
}
