//go:build unix

package layout_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/graph/layout"
)

// TestPipe: a named pipe in place of a file of partitions is not waited for. It gives way to a
// file.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.weft")
	g, err := stored(t.Context(), labelled(t, 30, 60, 3), path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	open := func() string {
		l, warning, err := layout.Open(t.Context(), nil, path, g, layout.Intervals, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		w, err := all(t.Context(), nil, g, l)
		if err == nil {
			err = agree(g, l)
		}
		if err != nil {
			t.Fatal(err)
		}
		return warning + w
	}
	if w := open(); w != "" {
		t.Fatal(w)
	}
	for base := range files(t, layout.Folder(path)) {
		name := filepath.Join(layout.Folder(path), base)
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		if w := open(); !strings.Contains(w, name+": ") || !strings.Contains(w, "not a regular file; it is made anew") {
			t.Errorf("warning %q", w)
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s stays: %v", base, err)
		}
	}
}
