package partition

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/vfs"
)

// A partition of a graph that was opened from a file is kept in a file of its own, in a folder next
// to the graph file. The file is a head of 60 bytes and the part of each vertex, in 32 bits.
// Everything is little endian. Head and parts have a checksum each (CRC-32C).
const (
	fileMagic   = "\x89WEFTPA\n"
	fileVersion = 1
	headSize    = 60
)

// Folder returns the name of the folder next to a graph file that has the partitions.
func Folder(graphFile string) string { return graphFile + ".parts" }

// ErrDamaged is wrapped by errors about the content of a file of a partition.
var ErrDamaged = errors.New("the file of a partition is damaged")

// ErrForeign says that a file of a partition was made of another graph, or by another version of weft.
var ErrForeign = errors.New("the file of a partition is not of this graph")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Open returns the partition of a graph that was opened from a file. It is read from the folder next
// to that file, or made as by Make and kept there. The warning says why a file that is there was
// not used, or could not be written; that is not an error, as the partition can be made at any
// time. The partition of a graph that is not from a file is not kept.
func Open(ctx context.Context, fsys vfs.FS, graphFile string, g *graph.Graph, o Options) (p *Partition, warning string, err error) {
	if err := o.Check(); err != nil {
		return nil, "", err
	}
	sum, ok := g.Fingerprint()
	if !ok || graphFile == "" {
		p, err = Make(ctx, g, o)
		return p, "", err
	}
	fsys = vfs.Or(fsys)
	f := newKeptFile(graphFile, g, sum, &o)
	of, err := f.read(fsys)
	if err == nil {
		p, err = measure(ctx, g, of, o.Parts, o.Threads)
		return p, "", err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		warning = err.Error() + "; it is made anew"
	}
	if p, err = Make(ctx, g, o); err != nil {
		return nil, warning, err
	}
	if err := f.write(fsys, p.Of); err != nil {
		if warning != "" {
			warning += "; "
		}
		warning += fmt.Sprintf("the partition is not kept: %v", err)
	}
	return p, warning, nil
}

// Load is Open of a partition that is kept, and makes none. Errors of the file wrap fs.ErrNotExist, ErrDamaged or ErrForeign, or are
// those of the system.
func Load(ctx context.Context, fsys vfs.FS, graphFile string, g *graph.Graph, o Options) (*Partition, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	sum, ok := g.Fingerprint()
	if !ok || graphFile == "" {
		return nil, fmt.Errorf("the parts of a graph that is not from a file: %w", fs.ErrNotExist)
	}
	of, err := newKeptFile(graphFile, g, sum, &o).read(vfs.Or(fsys))
	if err != nil {
		return nil, err
	}
	return measure(ctx, g, of, o.Parts, o.Threads)
}

// Kept reports whether there is a file of the partition that Open would read, or find out to be of no use.
func Kept(fsys vfs.FS, graphFile string, g *graph.Graph, o Options) bool {
	sum, ok := g.Fingerprint()
	if !ok || graphFile == "" {
		return false
	}
	info, err := vfs.Or(fsys).Stat(newKeptFile(graphFile, g, sum, &o).name)
	return err == nil && info.Mode().IsRegular()
}

// keptFile is the file of one partition.
type keptFile struct {
	name            string
	vertices, parts int
	head            []byte // without its last two words, the checksums
}

func newKeptFile(graphFile string, g *graph.Graph, sum uint64, o *Options) *keptFile {
	seed := o.Seed
	if o.Method == METIS {
		seed = 0 // METIS has its own
	}
	f := &keptFile{vertices: g.NumVertices(), parts: o.Parts}
	f.name = filepath.Join(Folder(graphFile), fmt.Sprintf("%v.%d.imbalance%g.seed%d", o.Method, o.Parts, o.Slack, seed))
	le := binary.LittleEndian
	b := append(make([]byte, 0, headSize), fileMagic...)
	for _, x := range []uint32{fileVersion, uint32(o.Method), uint32(o.Parts), uint32(f.vertices), 0} { // 0: for later versions
		b = le.AppendUint32(b, x)
	}
	for _, x := range []uint64{sum, math.Float64bits(o.Slack), seed} {
		b = le.AppendUint64(b, x)
	}
	f.head = b
	return f
}

// read reads the part of each vertex. Errors wrap fs.ErrNotExist, ErrDamaged or ErrForeign, or are
// those of the system.
func (k *keptFile) read(fsys vfs.FS) ([]uint32, error) {
	damaged := func(format string, a ...any) ([]uint32, error) {
		return nil, fmt.Errorf("%s: %w: %w", k.name, ErrDamaged, fmt.Errorf(format, a...))
	}
	// To open a named pipe would wait for its writer.
	if info, err := fsys.Stat(k.name); err == nil && !info.Mode().IsRegular() {
		return damaged("it is not a regular file")
	}
	f, err := vfs.Open(fsys, k.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < headSize {
		return damaged("it has %d bytes", info.Size())
	}
	head := make([]byte, headSize)
	if n, err := f.ReadAt(head, 0); n < len(head) {
		return damaged("%w", err)
	}
	le := binary.LittleEndian
	switch {
	case string(head[:len(fileMagic)]) != fileMagic:
		return damaged("it does not begin as one")
	case crc32.Checksum(head[:headSize-4], castagnoli) != le.Uint32(head[headSize-4:]):
		return damaged("wrong checksum of its head")
	case string(head[:len(k.head)]) != string(k.head):
		return nil, fmt.Errorf("%s: %w", k.name, ErrForeign)
	case info.Size() != headSize+4*int64(k.vertices):
		return damaged("it has %d bytes, and should have %d", info.Size(), headSize+4*int64(k.vertices))
	}
	body := make([]byte, 4*k.vertices)
	if n, err := f.ReadAt(body, headSize); n < len(body) {
		return damaged("%w", err)
	}
	if crc32.Checksum(body, castagnoli) != le.Uint32(head[len(k.head):]) {
		return damaged("wrong checksum")
	}
	of := make([]uint32, k.vertices)
	for v := range of {
		if of[v] = le.Uint32(body[4*v:]); of[v] >= uint32(k.parts) {
			return damaged("part %d does not exist", of[v])
		}
	}
	return of, nil
}

// write writes the file, whole or not at all. It does without a sync of the disk: a file that a
// crash cut off has a wrong checksum.
func (k *keptFile) write(fsys vfs.FS, of []uint32) error {
	dir, base := filepath.Split(k.name)
	if err := fsys.MkdirAll(filepath.Clean(dir), 0o777); err != nil {
		return err
	}
	f, err := disk.NewTemp(fsys, dir, base, 0o666)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	body := make([]byte, 0, 4*len(of))
	for _, p := range of {
		body = le.AppendUint32(body, p)
	}
	head := le.AppendUint32(append([]byte(nil), k.head...), crc32.Checksum(body, castagnoli))
	head = le.AppendUint32(head, crc32.Checksum(head, castagnoli))
	for _, b := range [][]byte{head, body} {
		if _, err := f.Write(b); err != nil {
			f.Remove()
			return err
		}
	}
	return f.Rename(k.name)
}
