package join

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/vfs"
)

// store holds the tables of a run in host memory, by columns, and in files where they exceed it. Devices share it.
type store struct {
	ctx    context.Context
	fsys   vfs.FS
	folder string
	limit  int64 // bytes of columns in memory

	mu      sync.Mutex
	used    int64
	most    int64 // that were used
	spilled int64 // bytes that were written to files
	files   map[*disk.Temp]bool
}

func newStore(ctx context.Context, folder string, limit int64) *store {
	if folder == "" {
		folder = os.TempDir()
	}
	return &store{ctx: ctx, fsys: vfs.From(ctx), folder: folder, limit: limit, files: map[*disk.Temp]bool{}}
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

// close removes all files.
func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.files {
		f.Remove()
	}
	clear(s.files)
}

// SpillError says that columns could not be written to a file or read again.
type SpillError struct {
	Folder string
	Err    error
}

func (e *SpillError) Error() string {
	return fmt.Sprintf("columns of partial matches that exceed --memory go to files in %s, which --spill can change: %v", e.Folder, e.Err)
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

// spill writes a block to a file.
func (s *store) spill(b *rowBlock) error {
	f, err := disk.NewTemp(s.fsys, s.folder, "weft-columns", 0o600)
	if err != nil {
		return s.failed(err)
	}
	s.mu.Lock()
	s.files[f] = true
	s.mu.Unlock()
	bytes := b.bytes()
	for _, c := range b.cols {
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		if n, err := f.Write(raw(c)); err != nil {
			return s.failed(err)
		} else {
			s.mu.Lock()
			s.spilled += int64(n)
			s.mu.Unlock()
		}
	}
	b.file = f
	clear(b.cols)
	s.take(-bytes)
	return nil
}

// load reads a block again, and removes its file.
func (s *store) load(b *rowBlock, live []bool) (err error) {
	f, err := vfs.Open(s.fsys, b.file.Path())
	if err != nil {
		return s.failed(err)
	}
	defer f.Close()
	at := int64(0)
	for l := range b.cols {
		if !live[l] {
			continue
		}
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		c := make([]uint32, b.rows)
		if n, err := f.ReadAt(raw(c), at); n < 4*len(c) {
			return s.failed(fmt.Errorf("read %s: %d bytes of %d: %w", b.file.Path(), at+int64(n), 4*int64(b.rows), err))
		}
		at += int64(4 * len(c))
		b.cols[l] = c
	}
	s.take(b.bytes())
	s.mu.Lock()
	delete(s.files, b.file)
	s.mu.Unlock()
	b.file.Remove()
	b.file = nil
	return nil
}

// said says how much memory columns had.
func (s *store) said() []string {
	said := []string{fmt.Sprintf("join: columns of partial matches had at most %s of host memory", memory.Text(uint64(s.most)))}
	if s.spilled > 0 {
		said = append(said, fmt.Sprintf("join: %s of columns were written to files in %s", memory.Text(uint64(s.spilled)), s.folder))
	}
	return said
}
