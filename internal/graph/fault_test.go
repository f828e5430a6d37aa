//go:build unix

package graph

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/testing/errorfs"
)

// TestWriteFaults: a graph's file is there whole, or an error wraps the operation that failed and nothing is left.
func TestWriteFaults(t *testing.T) {
	n := 1 << 12
	pairs := make([][2]uint32, n-1)
	for i := range pairs {
		pairs[i] = [2]uint32{uint32(i), uint32(i + 1)}
	}
	g := FromEdges(n, pairs, false)
	dir := t.TempDir()
	name := filepath.Join(dir, "g.weft")
	for _, fault := range []errorfs.Fault{
		{Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
		{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half},
	} {
		errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			err := g.WriteFile(fsys, name)
			op, _ := fsys.Fired()
			left, _ := os.ReadDir(dir)
			switch {
			case err != nil:
				if !errors.As(err, new(*errorfs.Error)) || !strings.HasPrefix(err.Error(), name+": ") || len(left) > 0 {
					t.Errorf("%v: %v, and the folder holds %v", op, err, left)
				}
				return
			case op.MustFail():
				t.Errorf("%v: success", op)
			}
			back, err := Open(t.Context(), name, OpenOptions{Threads: 1})
			if err != nil {
				t.Fatalf("%v: success, and %v", op, err)
			}
			if back.NumVertices() != n || back.NumEdges() != uint64(n-1) {
				t.Errorf("%v: %d vertices, %d edges", op, back.NumVertices(), back.NumEdges())
			}
			_ = back.Close()
		})
	}
}

// TestRecordFaults: a large graph opens whatever happens to its record, or the error is about its own file. A record
// that could not be written whole is not there.
func TestRecordFaults(t *testing.T) {
	settleTime = -time.Hour
	defer func() { settleTime = 2 * time.Second }()
	name := largeFile(t, nil)
	cache := t.TempDir()
	t.Setenv("WEFT_CACHE", cache)
	dir := filepath.Join(cache, "verified")
	for _, kept := range []bool{false, true} {
		if kept { // the record that is read
			if _, err := reopen(t, name); err != nil {
				t.Fatal(err)
			}
		}
		for _, fault := range []errorfs.Fault{
			{Kinds: errorfs.All, Err: syscall.EIO},
			{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true},
			{Kinds: errorfs.Read, Way: errorfs.Ends},
		} {
			errorfs.Each(t, fault, []string{filepath.Dir(name), cache}, func(fsys *errorfs.FS) {
				if !kept {
					if err := os.RemoveAll(dir); err != nil {
						t.Fatal(err)
					}
				}
				g, err := Open(t.Context(), name, OpenOptions{Files: fsys})
				op, _ := fsys.Fired()
				switch {
				case err == nil:
					if g.NumVertices() != 1<<19 || g.NumEdges() != 1<<19-1 {
						t.Errorf("%v: %d vertices, %d edges", op, g.NumVertices(), g.NumEdges())
					}
					if err := g.Close(); err != nil && !errors.As(err, new(*errorfs.Error)) {
						t.Error(err)
					}
				case op.Path != name || !errors.As(err, new(*errorfs.Error)) || !strings.Contains(err.Error(), name):
					t.Errorf("%v: %v", op, err)
				}
				files, _ := os.ReadDir(dir)
				for _, f := range files {
					if text, _ := os.ReadFile(filepath.Join(dir, f.Name())); !strings.HasSuffix(f.Name(), recordExt) || !strings.Contains(string(text), "\nheader ") {
						t.Errorf("%v: %s is left with %q", op, f.Name(), text)
					}
				}
			})
		}
	}
}
