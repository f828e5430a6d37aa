//go:build unix

package code

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestImageFaults: the cache of compiled kernels gives the image that compiling gives, whatever operation fails, also
// to a process that comes later; an image that could not be written whole is not there.
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
					NewOn(vfs.OS{}, dir).write(Key{1}, []byte(image))
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
