package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/vfs"
)

// store holds the tables of a run in host memory, by columns, and in a temporary file where they exceed it. Devices share it.
//
// Why one file: an open file has a lock, without which other processes remove it as left behind (package disk). A file for each
// block would exceed the number of files that a process may have open.
type store struct {
	ctx    context.Context
	fsys   vfs.FS
	folder string
	limit  int64 // bytes of columns in memory

	mu      sync.Mutex
	used    int64
	most    int64 // that were used
	spilled int64 // bytes that were written to the file
	file    *disk.Temp
	space   space // of the file
}

func newStore(ctx context.Context, folder string, limit int64) *store {
	if folder == "" {
		folder = os.TempDir()
	}
	return &store{ctx: ctx, fsys: vfs.From(ctx), folder: folder, limit: limit}
}

// take counts bytes of columns in memory, negative ones that are given back.
func (s *store) take(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used += bytes
	s.most = max(s.most, s.used)
}

// full reports whether the columns in memory exceed the limit.
func (s *store) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used > s.limit
}

// close removes the file.
func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Remove()
		s.file = nil
	}
}

// SpillError says that columns of partial matches could not be written to a file or read again.
type SpillError struct {
	Folder string
	Err    error
}

func (e *SpillError) Error() string {
	return fmt.Sprintf("columns of partial matches that exceed --memory go to a file in %s, which --spill can change: %v", e.Folder, e.Err)
}

func (e *SpillError) Unwrap() error { return e.Err }

// failed is the error of a file.
func (s *store) failed(err error) error {
	if p := new(fs.PathError); errors.As(err, &p) {
		err = fmt.Errorf("%s %s: %w", p.Op, p.Path, p.Err)
	}
	return &SpillError{s.folder, err}
}

// done gives the memory of a block back.
func (s *store) done(b *rowBlock) {
	s.take(-b.bytes())
	b.cols = nil
}

// reserve returns a part of the file that has so many bytes, for a block. The first call makes the file.
func (s *store) reserve(bytes int64) (*extent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		f, err := disk.NewTemp(s.fsys, s.folder, "weft-columns", 0o600)
		if err != nil {
			return nil, s.failed(err)
		}
		s.file = f
	}
	return &extent{s.space.take(bytes), bytes}, nil
}

// spill writes a block to the file.
func (s *store) spill(b *rowBlock) error {
	bytes := b.bytes()
	if bytes == 0 {
		return nil
	}
	part, err := s.reserve(bytes)
	if err != nil {
		return err
	}
	at := part.at
	for _, c := range b.cols {
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		n, err := s.file.WriteAt(raw(c), at)
		if err != nil {
			return s.failed(err)
		}
		at += int64(n)
	}
	b.part = part
	clear(b.cols)
	s.take(-bytes)
	s.mu.Lock()
	s.spilled += at - part.at
	s.mu.Unlock()
	return nil
}

// load reads a block again, and frees its part of the file.
func (s *store) load(b *rowBlock, live []bool) error {
	at := b.part.at
	for l := range b.cols {
		if !live[l] {
			continue
		}
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		c := make([]uint32, b.rows)
		if n, err := s.file.ReadAt(raw(c), at); n < 4*len(c) {
			return s.failed(fmt.Errorf("read %s: %d bytes of %d: %w", s.file.Path(), n, 4*len(c), err))
		}
		at += int64(4 * len(c))
		b.cols[l] = c
	}
	s.take(b.bytes())
	s.mu.Lock()
	s.space.give(*b.part)
	s.mu.Unlock()
	b.part = nil
	return nil
}

// said says how much memory columns had.
func (s *store) said() []string {
	said := []string{fmt.Sprintf("join: columns of partial matches had at most %s of host memory", memory.Text(uint64(s.most)))}
	if s.spilled > 0 {
		said = append(said, fmt.Sprintf("join: %s of columns were written to a file in %s", memory.Text(uint64(s.spilled)), s.folder))
	}
	return said
}

// extent is a part of a file.
type extent struct{ at, bytes int64 }

// space says which parts of a file are free.
type space struct {
	end  int64    // of the parts in use
	free []extent // before the end, by offset, not empty; no two touch, and none touches the end
}

// take returns the offset of the first free part that has so many bytes, which are in use from now on.
func (s *space) take(bytes int64) (at int64) {
	for i := range s.free {
		e := &s.free[i]
		if e.bytes < bytes {
			continue
		}
		at = e.at
		e.at, e.bytes = e.at+bytes, e.bytes-bytes
		if e.bytes == 0 {
			s.free = slices.Delete(s.free, i, i+1)
		}
		return at
	}
	at = s.end
	s.end += bytes
	return at
}

// give frees a part that take has returned.
func (s *space) give(e extent) {
	i, _ := slices.BinarySearchFunc(s.free, e.at, func(f extent, at int64) int { return cmp.Compare(f.at, at) })
	if i < len(s.free) && s.free[i].at == e.at+e.bytes {
		e.bytes += s.free[i].bytes
		s.free = slices.Delete(s.free, i, i+1)
	}
	if i > 0 && s.free[i-1].at+s.free[i-1].bytes == e.at {
		i--
		e = extent{s.free[i].at, s.free[i].bytes + e.bytes}
		s.free = slices.Delete(s.free, i, i+1)
	}
	if e.at+e.bytes == s.end {
		s.end = e.at
		return
	}
	s.free = slices.Insert(s.free, i, e)
}
