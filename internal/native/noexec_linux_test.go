package native

import (
	"testing"

	"golang.org/x/sys/unix"
)

// mountNoExec makes a folder one that no code is run from, where this user may.
func mountNoExec(t *testing.T, dir string) bool {
	if err := unix.Mount("none", dir, "tmpfs", unix.MS_NOEXEC, "size=1m"); err != nil {
		t.Logf("not tested with a folder that is mounted noexec: %v", err)
		return false
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return true
}
