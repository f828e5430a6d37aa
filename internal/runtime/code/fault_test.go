//go:build unix

package code

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestImageFaults: the cache of compiled kernels gives the image that compiling gives, whatever operation fails. It
// also does so in a process that comes later. An image that could not be written whole is not there.
func TestImageFaults(t *testing.T) {
	const image = "an image of a kernel"
	compile := func() ([]byte, error) { return []byte(image), nil }
	for _, kept := range []bool{false, true} {
		cache := t.TempDir()
		dir := filepath.Join(cache, "kernels")
		for _, fault := range []errorfs.Fault{
			{Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
			{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half, Stays: true},
			{Kinds: errorfs.Read, Err: syscall.EIO, Way: errorfs.Half},
			{Kinds: errorfs.Read, Way: errorfs.Ends},
			{Kinds: errorfs.Read, Way: errorfs.Short, Stays: true},
			{Kinds: errorfs.Open | errorfs.Create, Err: syscall.EMFILE, Stays: true},
		} {
			errorfs.Each(t, fault, []string{cache}, func(fsys *errorfs.FS) {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				if kept {
					NewOn(vfs.OS{}, dir).write(vfs.OS{}, Key{1}, []byte(image))
				}
				for _, files := range []vfs.FS{fsys, vfs.OS{}} { // this process, and one that comes later
					got, was, err := NewOn(files, dir).Get(t.Context(), Key{1}, compile)
					op, fired := fsys.Fired()
					if string(got) != image || err != nil || kept && !fired && !was {
						t.Errorf("%v: %q, kept %t, %v", op, got, was, err)
					}
				}
				entries, _ := os.ReadDir(dir)
				for _, e := range entries {
					if !strings.HasSuffix(e.Name(), imageExt) {
						t.Errorf("%s is left", e.Name())
					}
				}
			})
		}
		errorfs.Each(t, errorfs.Fault{Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO}, []string{cache}, func(fsys *errorfs.FS) {
			_ = NewOn(fsys, dir).Writable()
			if entries, _ := os.ReadDir(dir); len(entries) > 1 {
				t.Errorf("%d files are left", len(entries)-1)
			}
		})
	}
}

// TestFileSystemOfTheCall: the folder is in the file system of the context of the call, and so is what compiling
// needs.
func TestFileSystemOfTheCall(t *testing.T) {
	const image = "an image of a kernel"
	dir := filepath.Join(t.TempDir(), "kernels")
	fsys := errorfs.New(vfs.OS{}, errorfs.Fault{Kinds: errorfs.Create, N: 1, Err: syscall.EROFS, Stays: true})
	for _, files := range []vfs.FS{fsys, vfs.OS{}} {
		got, kept, err := New(dir).GetWithin(vfs.With(t.Context(), files), Key{1}, func(ctx context.Context) ([]byte, error) {
			if vfs.From(ctx) != files {
				t.Errorf("compiling is given %T, not %T", vfs.From(ctx), files)
			}
			return []byte(image), nil
		})
		if string(got) != image || kept || err != nil {
			t.Errorf("%T: %q, kept %t, %v", files, got, kept, err)
		}
	}
	if _, fired := fsys.Fired(); !fired {
		t.Error("the image was not written to the file system of the call")
	}
	if n, _ := New(dir).Count(); n != 1 {
		t.Errorf("%d images are kept, not that of the second call alone", n)
	}
	s := New(dir)
	s.Drop(vfs.With(t.Context(), errorfs.New(vfs.OS{}, errorfs.Fault{Kinds: errorfs.Remove, N: 1, Err: syscall.EROFS})), Key{1})
	if n, _ := s.Count(); n != 1 {
		t.Error("an image was removed in another file system than that of the call")
	}
}
