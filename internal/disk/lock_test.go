package disk

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/weftgraph/weft/internal/vfs"
)

// TestLock: a lock is one's own until it is given back.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	for range 2 {
		unlock, err := Lock(vfs.OS{}, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Lock(vfs.OS{}, name); !errors.Is(err, ErrLocked) {
			t.Errorf("the second time: %v", err)
		}
		unlock()
	}
	if _, err := Lock(vfs.OS{}, filepath.Join(name, "x")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("no folder: %v", err)
	}
}
