package layout

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// Each partition of a graph that was opened from a file is kept in a file of its own, in a folder
// next to the graph file, and so are the ids of a Renumbering. A file is a head of 76 bytes and up
// to four arrays of 32-bit numbers. Everything is little endian and has a checksum (CRC-32C).
const (
	fileMagic   = "\x89WEFTLP\n"
	fileVersion = 2
	headSize    = 76
)

// sideOld stands in the key of Renumbering.Old, which is kept like a partition.
const sideOld = Side(255)

// Folder returns the name of the folder next to a graph file that has the partitions.
func Folder(graphFile string) string { return graphFile + ".lists" }

// ErrDamaged is wrapped by errors about the content of a file of a partition.
var ErrDamaged = errors.New("the file of a label partition is damaged")

// ErrForeign says that a file of a partition was made of another graph, or by another version of weft.
var ErrForeign = errors.New("the file of a label partition is not of this graph")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// head is the beginning of a file. All files of one Labels have the same fields up to ids.
type head struct {
	kind     Kind
	load     uint32
	vertices uint32
	graph    uint64 // Graph.Fingerprint
	ids      uint32 // the checksum of Renumbering.Old; 0 of the graph's own ids, and in its own file

	key     Key
	buckets uint32    // of a Hashed
	len     [4]uint32 // of each array, in numbers
	crc     uint32    // of the arrays
}

// size is that of the whole file in bytes.
func (h *head) size() (n uint64) {
	for _, l := range h.len {
		n += 4 * uint64(l)
	}
	return headSize + n
}

func (h *head) bytes() []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, headSize), fileMagic...)
	for _, x := range []uint32{fileVersion, uint32(h.kind), h.load, h.vertices} {
		b = le.AppendUint32(b, x)
	}
	b = le.AppendUint64(b, h.graph)
	for _, x := range []uint32{h.ids, h.key.Label, uint32(h.key.Side), h.buckets, h.len[0], h.len[1], h.len[2], h.len[3], h.crc} {
		b = le.AppendUint32(b, x)
	}
	b = le.AppendUint32(b, 0) // for later versions
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// read takes a head apart. The error wraps ErrDamaged, or ErrForeign for another version.
func (h *head) read(b []byte) error {
	le := binary.LittleEndian
	switch {
	case string(b[:8]) != fileMagic:
		return fmt.Errorf("%w: it does not begin as one", ErrDamaged)
	case crc32.Checksum(b[:headSize-4], castagnoli) != le.Uint32(b[headSize-4:]):
		return fmt.Errorf("%w: wrong checksum of its head", ErrDamaged)
	case le.Uint32(b[8:]) != fileVersion:
		return fmt.Errorf("%w: version %d", ErrForeign, le.Uint32(b[8:]))
	}
	h.kind, h.load, h.vertices, h.graph = Kind(le.Uint32(b[12:])), le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint64(b[24:])
	h.ids, h.key, h.buckets = le.Uint32(b[32:]), Key{le.Uint32(b[36:]), Side(le.Uint32(b[40:]))}, le.Uint32(b[44:])
	for i := range h.len {
		h.len[i] = le.Uint32(b[48+4*i:])
	}
	h.crc = le.Uint32(b[64:])
	return nil
}

// of reports whether both heads are of files of one Labels, and of the same key.
func (h *head) of(o *head) bool {
	return h.kind == o.kind && h.load == o.load && h.vertices == o.vertices && h.graph == o.graph && h.ids == o.ids && h.key == o.key
}

// Open returns the partitions of a graph that was opened from a file. Partitions are read from the
// folder next to that file, or made and kept there, when they are first asked for. Open itself reads
// or makes the ids of Intervals. The warning says why a file that is there was not used, or could
// not be written; that is not an error, as everything can be made at any time. A graph that is not
// from a file, or an empty name, has no such folder.
func Open(ctx context.Context, fsys vfs.FS, graphFile string, g *graph.Graph, kind Kind, load, threads int) (l *Labels, warning string, err error) {
	l = newLabels(g, kind, load)
	sum, ok := g.Fingerprint()
	if ok && graphFile != "" {
		l.folder, l.head.graph = Folder(graphFile), sum
	}
	if kind != Intervals {
		return l, "", nil
	}
	key := Key{Side: sideOld}
	_, arrays, err := l.read(vfs.Or(fsys), key)
	if err == nil {
		if l.Renumbering, err = invert(ctx, arrays[0], g); err != nil {
			err = fmt.Errorf("%s: %w: %v", l.name(key), ErrDamaged, err)
		}
	}
	if err != nil {
		if l.Renumbering, warning, err = nil, anew(err), ctx.Err(); err != nil {
			return nil, "", err
		}
		if l.Renumbering, err = Renumber(ctx, RowsByLabel(g), threads); err != nil {
			return nil, warning, err
		}
		warning = warnings(warning, l.write(vfs.Or(fsys), key, 0, l.Old))
	}
	l.head.ids = checksum(l.Old)
	return l, warning, ctx.Err()
}

// anew words the error of reading a file as a warning; "" where there is no file.
func anew(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return err.Error() + "; it is made anew"
}

// name is that of the file of a partition, or "" if it has none.
func (l *Labels) name(key Key) string {
	if l.folder == "" {
		return ""
	}
	what := strconv.FormatUint(uint64(key.Label), 10)
	switch {
	case key.Side == sideOld:
		return filepath.Join(l.folder, l.Kind.String()+".ids")
	case key.Label == graph.NoLabel:
		what = "none"
	}
	return filepath.Join(l.folder, l.Kind.String()+"."+what+key.Side.String())
}

// read reads the arrays of one file. Errors wrap fs.ErrNotExist, ErrDamaged or ErrForeign, or are
// those of the system.
func (l *Labels) read(fsys vfs.FS, key Key) (h head, arrays [4][]uint32, err error) {
	name := l.name(key)
	if name == "" {
		return h, arrays, fs.ErrNotExist
	}
	// To open a named pipe would wait for its writer.
	if info, err := fsys.Stat(name); err == nil && !info.Mode().IsRegular() {
		return h, arrays, fmt.Errorf("%s: %w: it is not a regular file", name, ErrDamaged)
	}
	f, err := vfs.Open(fsys, name)
	if err != nil {
		return h, arrays, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return h, arrays, err
	}
	b := make([]byte, headSize)
	if info.Size() < headSize {
		return h, arrays, fmt.Errorf("%s: %w: it has %d bytes", name, ErrDamaged, info.Size())
	}
	if err := readAt(f, b, 0); err != nil {
		return h, arrays, fmt.Errorf("%s: %w: %v", name, ErrDamaged, err)
	}
	if err := h.read(b); err != nil {
		return h, arrays, fmt.Errorf("%s: %w", name, err)
	}
	want := l.head
	want.key = key
	switch {
	case !h.of(&want):
		return h, arrays, fmt.Errorf("%s: %w", name, ErrForeign)
	case h.size() != uint64(info.Size()):
		return h, arrays, fmt.Errorf("%s: %w: it has %d bytes, and should have %d", name, ErrDamaged, info.Size(), h.size())
	}
	at, sum := uint64(headSize), uint32(0)
	for i, n := range h.len {
		b := make([]byte, 4*uint64(n))
		if err := readAt(f, b, at); err != nil {
			return h, arrays, fmt.Errorf("%s: %w: %v", name, ErrDamaged, err)
		}
		sum = crc32.Update(sum, castagnoli, b)
		at += uint64(len(b))
		arrays[i] = numbersOf(b)
	}
	if sum != h.crc {
		return h, arrays, fmt.Errorf("%s: %w: wrong checksum", name, ErrDamaged)
	}
	return h, arrays, nil
}

// write keeps arrays in the file of a key, whole or not at all. It returns a warning where it
// cannot, and then keeps no further file of these Labels.
func (l *Labels) write(fsys vfs.FS, key Key, buckets uint32, arrays ...[]uint32) (warning string) {
	name := l.name(key)
	if name == "" || l.unkept.Load() {
		return ""
	}
	h := l.head
	h.key, h.buckets, h.crc = key, buckets, checksum(arrays...)
	for i, a := range arrays {
		h.len[i] = uint32(len(a))
	}
	err := fsys.MkdirAll(l.folder, 0o777)
	if err == nil {
		err = writeFile(fsys, name, &h, arrays)
	}
	if err == nil || l.unkept.Swap(true) {
		return ""
	}
	return fmt.Sprintf("label partitions are not kept: %v", err)
}

// writeFile does without a sync of the disk: a file that a crash cut off has a wrong checksum.
func writeFile(fsys vfs.FS, name string, h *head, arrays [][]uint32) error {
	dir, base := filepath.Split(name)
	f, err := disk.NewTemp(fsys, dir, base, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(h.bytes())
	for _, a := range arrays {
		each(a, func(b []byte) {
			if err == nil {
				_, err = f.Write(b)
			}
		})
	}
	if err != nil {
		f.Remove()
		return err
	}
	return f.Rename(name)
}

// stored reads one partition.
func (l *Labels) stored(ctx context.Context, fsys vfs.FS, key Key, threads int) (Partition, error) {
	h, a, err := l.read(fsys, key)
	if err != nil {
		return nil, err
	}
	var p interface {
		Partition
		check(n uint32) error
	}
	if l.Kind == Hashes {
		p = &Hashed{Groups: a[0], Adj: a[1], Buckets: h.buckets}
	} else {
		p = &Interval{First: a[0], Row: a[1], Off: a[2], Adj: a[3]}
	}
	if err := p.check(l.head.vertices); err != nil {
		return nil, fmt.Errorf("%s: %w: %v", l.name(key), ErrDamaged, err)
	}
	if x, ok := p.(*Interval); ok {
		return p, x.index(ctx, x.vertices(), int(l.head.vertices), threads)
	}
	return p, nil
}

// keep writes one partition, and returns a warning where it cannot.
func (l *Labels) keep(fsys vfs.FS, key Key, p Partition) (warning string) {
	switch p := p.(type) {
	case *Interval:
		return l.write(fsys, key, 0, p.First, p.Row, p.Off, p.Adj)
	case *Hashed:
		return l.write(fsys, key, p.Buckets, p.Groups, p.Adj)
	}
	panic("layout: a partition of an unknown kind")
}

// invert returns the renumbering of which old is one half. It fails where old is not a
// permutation that keeps each class.
func invert(ctx context.Context, old []uint32, g *graph.Graph) (*Renumbering, error) {
	n := g.NumVertices()
	if len(old) != n {
		return nil, fmt.Errorf("it numbers %d vertices of %d", len(old), n)
	}
	re := &Renumbering{New: make([]uint32, n), Old: old, id: graph.NewRelationID()}
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
		group := h.Groups[int(g)*2*GroupPairs:][:2*GroupPairs]
		for i := 1; i < len(group); i += 2 {
			offsets = append(offsets, group[i])
		}
		// A group continues at most one other, so that no walk along them is endless.
		if next := group[len(group)-2]; next != None {
			if next >= groups || reached[next] {
				return fmt.Errorf("group %d continues wrongly", g)
			}
			reached[next] = true
		}
	}
	if groups > 0 {
		// Chains without a first group would be rings.
		seen := uint32(0)
		for g := range groups {
			for at := g; !reached[g] && at != None; at = h.Groups[int(at)*2*GroupPairs+2*GroupPairs-2] {
				seen++
			}
		}
		if seen != groups {
			return errors.New("groups continue in a ring")
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
			return fmt.Errorf("vertex %d does not exist", v)
		}
	}
	return nil
}

// checksum is that of the bytes of arrays one after the other.
func checksum(arrays ...[]uint32) (sum uint32) {
	for _, a := range arrays {
		each(a, func(b []byte) { sum = crc32.Update(sum, castagnoli, b) })
	}
	return sum
}

// each calls f with numbers as bytes, little endian, some at a time.
func each(numbers []uint32, f func(b []byte)) {
	const some = 1 << 14
	b := make([]byte, 0, 4*min(some, len(numbers)))
	for len(numbers) > 0 {
		b = b[:0]
		for _, x := range numbers[:min(some, len(numbers))] {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		f(b)
		numbers = numbers[min(some, len(numbers)):]
	}
}

// numbersOf is the inverse of each.
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
