package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftgraph/weft"
	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// rereading lets readAgain read a folder of queries again and again, until stop. It returns the queries that come, and the notes.
func rereading(t *testing.T, files vfs.FS, dir string) (next chan []*weft.Query, notes chan string, stop func()) {
	t.Helper()
	next, notes = make(chan []*weft.Query), make(chan string)
	ctx, cancel := context.WithCancel(vfs.With(t.Context(), files))
	f := &watchFlags{reload: time.Millisecond}
	f.files = []string{dir}
	f.o.Note = func(text string) {
		select {
		case notes <- text:
		case <-ctx.Done():
		}
	}
	done := make(chan struct{})
	go func() {
		(&app{ctx: ctx}).readAgain(ctx, f, nil, next)
		close(done)
	}()
	return next, notes, func() {
		cancel()
		<-done
	}
}

// shut is a file system in which the files of a name cannot be opened while closed is set.
type shut struct {
	vfs.FS
	name   string
	closed atomic.Bool
}

func (f *shut) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if f.closed.Load() && filepath.Base(name) == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return f.FS.OpenFile(name, flag, perm)
}

// TestReload: queries are read again when the text of a file changes. A file that cannot be read is a note, and so is each mistake that it has
// when it can be read again; the queries stay as they were.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"a.gql": "MATCH (a)--(b)", "b.gql": "MATCH (a)--(b)--(c)"})
	files := &shut{FS: vfs.OS{}, name: "b.gql"}
	next, notes, stop := rereading(t, files, dir)
	defer stop()
	queries := func(want ...int) { // by their numbers of vertices
		t.Helper()
		select {
		case got := <-next:
			if len(got) != len(want) {
				t.Fatalf("%d queries, want %d", len(got), len(want))
			}
			for i, q := range got {
				if n := strings.Count(q.String(), "("); n != want[i] {
					t.Errorf("query %d is %v", i, q)
				}
			}
		case text := <-notes:
			t.Fatal(text)
		case <-time.After(time.Minute):
			t.Fatal("no queries come")
		}
	}
	note := func(want string) {
		t.Helper()
		select {
		case got := <-next:
			t.Fatalf("%d queries come, want %s", len(got), want)
		case text := <-notes:
			if !strings.Contains(text, want) || !strings.Contains(text, "b.gql") || !strings.Contains(text, "the queries stay as they were") {
				t.Fatalf("%s: want %s", text, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("nothing comes, want %s", want)
		}
	}
	queries(2, 3) // of the beginning
	files.closed.Store(true)
	note("permission denied")
	writeFiles(t, dir, map[string]string{"b.gql": ""})
	files.closed.Store(false)
	note("unexpected end")
	writeFiles(t, dir, map[string]string{"b.gql": "MATCH (a)--(b)--(c)--(d)"})
	queries(2, 4)
	if err := os.Remove(filepath.Join(dir, "b.gql")); err != nil {
		t.Fatal(err)
	}
	queries(2)
}

// TestReloadFaults: whichever operation on the files of queries fails, no query goes.
func TestReloadFaults(t *testing.T) {
	for _, fault := range []errorfs.Fault{
		{Kinds: errorfs.Open | errorfs.Read | errorfs.Stat | errorfs.List, Err: syscall.EIO},
		{Kinds: errorfs.Read, Err: syscall.EIO, Way: errorfs.Half},
	} {
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"a.gql": "MATCH (a)--(b)", "b.gql": "MATCH (a)--(b)--(c)"})
		const most = 60 // the operations of some looks: they do not end
		failed := 0
		for fault.N = 1; fault.N <= most; fault.N++ {
			fsys := errorfs.New(vfs.OS{}, fault)
			next, notes, stop := rereading(t, fsys, dir)
			for end := false; !end; {
				select {
				case got := <-next:
					_, fired := fsys.Fired()
					if end = fired; len(got) != 2 {
						t.Errorf("%d queries come, want 2", len(got))
					}
				case text := <-notes:
					if failed++; !strings.Contains(text, syscall.EIO.Error()) || !strings.Contains(text, dir) {
						t.Errorf("a note without the cause or the file: %s", text)
					}
				case <-time.After(20 * time.Millisecond):
					_, end = fsys.Fired()
				}
			}
			stop()
		}
		if failed == 0 {
			t.Errorf("%+v: no note", fault)
		}
	}
}
