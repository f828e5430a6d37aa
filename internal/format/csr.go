package format

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"sort"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weftgraph/weft/internal/graph"
)

// binReader reads little-endian parts of a binary file in order and knows where
// it is.
type binReader struct {
	r    *reading
	in   io.ReadCloser
	at   int64
	what string // of the format, for messages
}

func (r *reading) openBinary(what string) (*binReader, error) {
	in, err := r.src.open()
	if err != nil {
		return nil, err
	}
	return &binReader{r: r, in: in, what: what}, nil
}

func (b *binReader) fail(off int64, kind error, format string, a ...any) error {
	return &Error{File: b.r.src.name, Offset: off, Cause: wrapf(kind, format, a...)}
}

// bytes fills p; part is the name of the part, for errors.
func (b *binReader) bytes(p []byte, part string) error {
	n, err := readFill(b.in, p)
	b.at += int64(n)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return b.fail(b.at, ErrTruncated, "it ends inside %s", part)
	}
	return b.r.src.readError(err, b.at)
}

func (b *binReader) uint64s(n uint64, part string) ([]uint64, error) {
	var out []uint64 // grows as bytes arrive: a header alone must not take memory
	buf := make([]byte, 1<<20)
	for n > 0 {
		k := min(n, uint64(len(buf)/8))
		if err := b.bytes(buf[:k*8], part); err != nil {
			return nil, err
		}
		for i := range k {
			out = append(out, binary.LittleEndian.Uint64(buf[i*8:]))
		}
		n -= k
	}
	return out, nil
}

func (b *binReader) int32s(n uint64, part string) ([]int32, error) {
	var out []int32
	buf := make([]byte, 1<<20)
	for n > 0 {
		k := min(n, uint64(len(buf)/4))
		if err := b.bytes(buf[:k*4], part); err != nil {
			return nil, err
		}
		for i := range k {
			out = append(out, int32(binary.LittleEndian.Uint32(buf[i*4:])))
		}
		n -= k
	}
	return out, nil
}

// end checks that nothing follows.
func (b *binReader) end() error {
	var one [1]byte
	n, err := readFill(b.in, one[:])
	if n > 0 {
		return b.fail(b.at, ErrCount, "bytes follow the end that the header gives")
	}
	if err != nil && err != io.EOF {
		return b.r.src.readError(err, b.at)
	}
	return nil
}

// checkSize compares the size of a plain file with the size that its header requires.
func (b *binReader) checkSize(need, more uint64) error {
	if more > 0 || need >= 1<<62 {
		return b.fail(0, ErrHeader, "the sizes are larger than any file; is this %s?", b.what)
	}
	if !b.r.src.plainFile() {
		return nil
	}
	switch have := uint64(b.r.src.size); {
	case have < need:
		return b.fail(int64(have), ErrTruncated, "the header needs %d bytes, the file has %d", need, have)
	case have > need:
		return b.fail(int64(need), ErrCount, "the header needs %d bytes, the file has %d", need, have)
	}
	return nil
}

// checkOffsets: they begin with 0, never descend and end with arcs.
func (b *binReader) checkOffsets(off []uint64, arcs uint64) error {
	base := b.at - int64(8*len(off))
	if off[0] != 0 {
		return b.fail(base, ErrHeader, "the first offset is %d, not 0; is this %s?", off[0], b.what)
	}
	for i := 1; i < len(off); i++ {
		if off[i] < off[i-1] || off[i] > arcs {
			return b.fail(base+8*int64(i), ErrHeader, "offset %d of vertex %d is out of order; is this %s?", off[i], i, b.what)
		}
	}
	if last := off[len(off)-1]; last != arcs {
		return b.fail(base+8*int64(len(off)-1), ErrHeader, "the last offset is %d, the header gives %d", last, arcs)
	}
	return nil
}

// lists reads all neighbours at once, for graph.FromCSR.
func (b *binReader) lists(n, arcs uint64) ([]uint32, error) {
	var adj []uint32
	if b.r.src.plainFile() { // its size was compared with the header
		adj = make([]uint32, 0, arcs)
	}
	base := b.at
	buf := make([]byte, 1<<20)
	for at := uint64(0); at < arcs; {
		k := min(arcs-at, uint64(len(buf)/4))
		if err := b.bytes(buf[:k*4], "the neighbours"); err != nil {
			return nil, err
		}
		for i := range k {
			v := binary.LittleEndian.Uint32(buf[i*4:])
			if uint64(v) >= n {
				return nil, b.fail(base+int64(at+i)*4, ErrRange, "neighbour %d, of %d vertices", int32(v), n)
			}
			adj = append(adj, v)
		}
		at += k
	}
	return adj, nil
}

// make hands lists that need no change to graph.FromCSR.
func (b *binReader) make(in graph.CSRInput) error {
	in.Threads = b.r.o.threads()
	g, err := graph.FromCSR(b.r.ctx, in)
	if errors.Is(err, graph.ErrColumns) && !in.Directed {
		return b.fail(-1, ErrSymmetry, "%v", err)
	}
	b.r.made = g
	b.r.stat.Lines = uint64(len(in.Adj))
	if !in.Directed {
		b.r.stat.Lines /= 2
	}
	return err
}

var weightSchema = arrow.NewSchema([]arrow.Field{{Name: "weight", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)

// arcs reads the neighbour lists and passes them on as edges. An undirected file has each edge
// twice. arcs takes it where the source is the smaller end, and checks by a sum of hashes that
// the other half is the mirror image.
func (b *binReader) arcs(off []uint64, weighted, twice bool) error {
	n := uint64(len(off) - 1)
	width := uint64(4)
	if weighted {
		width = 8
	}
	total := off[n]
	base := b.at
	type part struct {
		seq, first uint64
		data       []byte
	}
	ch := make(chan part, 2)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	var failSeq = ^uint64(0)
	var up, down, loops, kept uint64
	for range b.r.o.threads() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var src, dst []uint64
			for p := range ch {
				src, dst = src[:0], dst[:0]
				var myUp, myDown, myLoops uint64
				var weights *array.Int64Builder
				if weighted {
					weights = array.NewInt64Builder(memory.DefaultAllocator)
				}
				u := uint64(sort.Search(int(n), func(i int) bool { return off[i+1] > p.first }))
				var err error
				for i := uint64(0); i*width < uint64(len(p.data)); i++ {
					for off[u+1] <= p.first+i {
						u++
					}
					v := uint64(binary.LittleEndian.Uint32(p.data[i*width:]))
					if v >= n {
						err = b.fail(base+int64((p.first+i)*width), ErrRange, "neighbour %d of vertex %d, of %d vertices", int32(uint32(v)), u, n)
						break
					}
					if twice {
						if u > v {
							myDown += mix(v, u)
							continue
						} else if u < v {
							myUp += mix(u, v)
						} else {
							myLoops++
						}
					}
					src, dst = append(src, u), append(dst, v)
					if weighted {
						weights.Append(int64(int32(binary.LittleEndian.Uint32(p.data[i*width+4:]))))
					}
				}
				if err == nil && len(src) > 0 {
					c := &graph.EdgeChunk{Seq: p.seq, Src: src, Dst: dst}
					if weighted {
						c.Props = array.NewRecordBatch(weightSchema, []arrow.Array{weights.NewArray()}, int64(len(src)))
					}
					err = b.r.addEdges(c)
				}
				mu.Lock()
				up, down, loops, kept = up+myUp, down+myDown, loops+myLoops, kept+uint64(len(src))
				if err != nil && p.seq < failSeq {
					failed, failSeq = err, p.seq
				}
				mu.Unlock()
			}
		}()
	}
	var readErr error
	var seq uint64
	for at := uint64(0); at < total; seq++ {
		k := min(total-at, blockSize/width)
		p := part{seq: seq, first: at, data: make([]byte, k*width)}
		if readErr = b.bytes(p.data, "the neighbours"); readErr != nil {
			break
		}
		at += k
		ch <- p
		mu.Lock()
		stop := failed != nil
		mu.Unlock()
		if stop {
			break
		}
	}
	close(ch)
	wg.Wait()
	if failed != nil {
		return failed
	}
	if readErr != nil {
		return readErr
	}
	if twice && up != down {
		return b.fail(base, ErrSymmetry, "some edge has one direction only")
	}
	b.r.stat.Lines = kept
	return nil
}

// mix hashes an ordered pair (the finalizer of MurmurHash3 over a product).
func mix(u, v uint64) uint64 {
	h := (u+1)*0x9e3779b97f4a7c15 ^ bits.RotateLeft64((v+1)*0xc2b2ae3d27d4eb4f, 31)
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
