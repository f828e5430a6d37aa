package parquet

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestFaults: a write that fails is an error of the writer, without a buffer that remembers it. A read that fails, or
// that finds the file's end too early, is an error of the reader.
func TestFaults(t *testing.T) {
	rec := randomRecord(rand.New(rand.NewPCG(1, 2)), 300)
	want := fileOf(t, rec, 100)
	dir := t.TempDir()
	name := filepath.Join(dir, "x.parquet")
	for _, way := range []errorfs.Way{errorfs.Fails, errorfs.Half} {
		errorfs.Each(t, errorfs.Fault{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: way}, []string{dir}, func(fsys *errorfs.FS) {
			f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			w, err := NewWriter(f, rec.Schema(), 100)
			if err == nil {
				if err = w.Write(rec); err == nil {
					err = w.Close()
				}
			}
			_, fired := fsys.Fired()
			if fired != errors.As(err, new(*errorfs.Error)) || !fired && err != nil {
				t.Errorf("a write failed: %t, and the error is %v", fired, err)
			}
			if data, _ := os.ReadFile(name); !fired && !bytes.Equal(data, want) {
				t.Error("another file than without faults")
			}
		})
	}
	for _, fault := range []errorfs.Fault{
		{Kinds: errorfs.ReadAt, Err: syscall.EIO},
		{Kinds: errorfs.ReadAt, Err: syscall.EIO, Way: errorfs.Half},
		{Kinds: errorfs.ReadAt, Way: errorfs.Ends},
	} {
		errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
			f, err := vfs.Open(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			rows, err := readRows(f, int64(len(want)))
			_, fired := fsys.Fired()
			switch {
			case fired && err == nil:
				t.Errorf("a read failed, and there are %d rows", rows)
			case fired && fault.Way != errorfs.Ends && !errors.As(err, new(*errorfs.Error)):
				t.Errorf("the error does not wrap its cause: %v", err)
			case !fired && (err != nil || rows != rec.NumRows()):
				t.Errorf("%d rows, %v", rows, err)
			}
		})
	}
}

// readRows reads all of a file and returns the number of its rows.
func readRows(f vfs.File, size int64) (rows int64, err error) {
	p, err := Open(f, size)
	if err != nil {
		return 0, err
	}
	for g := range p.Groups() {
		group, err := p.Group(g, func(int) bool { return true })
		if err != nil {
			return 0, err
		}
		for group.Left() > 0 {
			rec, err := group.Next(64)
			if err != nil {
				return 0, err
			}
			rows += rec.NumRows()
			rec.Release()
		}
	}
	return rows, nil
}
