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
)

// TestFaults: whatever fails of the file of partitions, the partitions are right, a warning says
// that the file was not kept or not used, and nothing of it is left but a whole file.
func TestFaults(t *testing.T) {
	// The graph's own file, which is open, is in another folder than the one that is watched.
	g, err := stored(t.Context(), labelled(t, 20, 60, 3), filepath.Join(t.TempDir(), "g.weft"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "g.weft")
	name := layout.FileName(path, layout.Intervals)
	for _, there := range []bool{false, true} {
		for _, fault := range []errorfs.Fault{
			{Kinds: errorfs.All &^ errorfs.Remove, Err: syscall.EIO},
			{Kinds: errorfs.Write, Err: syscall.ENOSPC, Way: errorfs.Half},
		} {
			errorfs.Each(t, fault, []string{dir}, func(fsys *errorfs.FS) {
				_ = os.Remove(name)
				if there {
					if _, warning, err := layout.Open(t.Context(), nil, path, g, layout.Intervals, 0, 1); err != nil || warning != "" {
						t.Fatal(warning, err)
					}
				}
				l, warning, err := layout.Open(t.Context(), fsys, path, g, layout.Intervals, 0, 1)
				op, _ := fsys.Fired()
				if err != nil {
					t.Fatalf("%v: %v", op, err)
				}
				if err := agree(g, l); err != nil {
					t.Errorf("%v: %v", op, err)
				}
				if !there && op.MustFail() && warning == "" {
					t.Errorf("%v: no warning", op)
				}
				left, _ := os.ReadDir(dir)
				for _, f := range left {
					if f.Name() != filepath.Base(name) {
						t.Errorf("%v: %s is left", op, f.Name())
					}
				}
				if _, err := os.Stat(name); err == nil {
					if _, err := layout.Read(t.Context(), nil, name, g, layout.Intervals, 0, 1); err != nil {
						t.Errorf("%v: the file that is left: %v", op, err)
					}
				} else if warning == "" {
					t.Errorf("%v: there is no file, and no warning", op)
				} else if !strings.Contains(warning, "g.weft") {
					t.Errorf("%v: the warning names no file: %s", op, warning)
				}
			})
		}
	}
}
