package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
)

// Source gives the bytes of an array, a segment at a time. ReadAt is called from several
// goroutines, in any order, for segments that do not overlap and begin at multiples of 1 MiB.
// A Source may compute what it gives. An array in the host's memory is a bytes.Reader.
type Source interface {
	io.ReaderAt
	Size() int64
}

// counted is a source that counts the bytes that are read of it.
type counted struct {
	Source
	bytes *atomic.Int64
}

func (c counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.Source.ReadAt(b, at)
	c.bytes.Add(int64(n))
	return n, err
}

// segment is the length of all segments of a source except the last, in bytes.
const segment = 1 << 20

// array is where the content of a part of a global comes from.
func (j *Job) array(g *kir.GlobalDef, part emit.Part) Source {
	if j.Arrays != nil {
		if s := j.Arrays(g, part); s != nil {
			return s
		}
	}
	return bytes.NewReader(bytesOf(g, part))
}

// sizeOf is the size of an array in bytes.
func (j *Job) sizeOf(g *kir.GlobalDef, part emit.Part) int64 {
	if j.Arrays != nil {
		if s := j.Arrays(g, part); s != nil {
			return s.Size()
		}
	}
	return int64(len(bytesOf(g, part)))
}

// largerFrom gives where in each list of an adjacency the ids from the vertex's own on begin,
// as the kernel of Tools.First does: for lists that are not on the device.
type largerFrom struct {
	off []uint64
	adj []uint32
}

func (s largerFrom) Size() int64 { return int64(len(s.off)-1) * 8 }

func (s largerFrom) ReadAt(b []byte, at int64) (int, error) {
	for i := 0; i+8 <= len(b); i += 8 {
		v := (at + int64(i)) / 8
		list := s.adj[s.off[v]:s.off[v+1]]
		k := sort.Search(len(list), func(k int) bool { return int64(list[k]) >= v })
		binary.LittleEndian.PutUint64(b[i:], s.off[v]+uint64(k))
	}
	return len(b), nil
}

// read fills b from a source, from byte at on.
func read(s Source, b []byte, at int64) error {
	n, err := s.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("session: byte %d of an array of %d: %w", at+int64(n), s.Size(), err)
}

// eachSegment calls f for all segments of an array of size bytes, from several goroutines, and
// waits for them. It ends with the first error, or between two segments with the context. A
// fault in a mapped file that became shorter is an error.
func eachSegment(ctx context.Context, size int64, workers int, f func(at int64, n int) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(int64(workers), (size+segment-1)/segment) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			debug.SetPanicOnFault(true)
			defer func() {
				if x := recover(); x != nil {
					fail(fmt.Errorf("session: upload: %v", x))
				}
			}()
			for ctx.Err() == nil {
				at := next.Add(segment) - segment
				if at >= size {
					return
				}
				if err := f(at, int(min(segment, size-at))); err != nil {
					fail(err)
				}
			}
		}()
	}
	wg.Wait()
	return context.Cause(ctx)
}

// fillers is how many goroutines fill memory of the host.
func fillers() int { return runtime.GOMAXPROCS(0) }
