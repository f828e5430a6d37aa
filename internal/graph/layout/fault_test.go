//go:build unix

package layout_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/testing/errorfs"
	"github.com/weftgraph/weft/internal/vfs"
)

// TestFaults lets each operation on the files of partitions fail. The partitions are right, a warning
// says that a file was not kept or not used, and only whole files are left.
func TestFaults(t *testing.T) {
	// The graph's own file, which is open, is in another folder than the one that is watched.
	g, err := stored(t.Context(), labelled(t, 20, 60, 3), filepath.Join(t.TempDir(), "g.weft"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "g.weft")
	folder := layout.Folder(path)
	// open opens all partitions, and returns them with the warnings.
	open := func(fsys vfs.FS) (*layout.Labels, string) {
		l, warning, err := layout.Open(t.Context(), fsys, path, g, layout.Intervals, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		w, err := all(t.Context(), fsys, g, l)
		if err != nil {
			t.Fatal(err)
		}
		return l, warning + w
	}
	if _, warning := open(nil); warning != "" {
		t.Fatal(warning)
	}
	whole := files(t, folder)
	for _, there := range []bool{false, true} {
		for _, fault := range []errorfs.Fault{
			{Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
			{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half},
		} {
			errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
				_ = os.RemoveAll(folder)
				if there {
					open(nil)
				}
				l, warning := open(fsys)
				op, _ := fsys.Fired()
				if err := agree(g, l); err != nil {
					t.Errorf("%v: %v", op, err)
				}
				if !there && op.MustFail() && warning == "" {
					t.Errorf("%v: no warning", op)
				}
				if warning != "" && !strings.Contains(warning, "g.weft") {
					t.Errorf("%v: the warning names no file: %s", op, warning)
				}
				left := files(t, folder)
				for name, text := range left {
					if text != whole[name] {
						t.Errorf("%v: %s is left", op, name)
					}
				}
				if len(left) < len(whole) && warning == "" {
					t.Errorf("%v: %d files of %d, and no warning", op, len(left), len(whole))
				}
			})
		}
	}
}
