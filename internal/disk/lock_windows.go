package disk

import (
	"errors"

	"golang.org/x/sys/windows"

	"github.com/weftgraph/weft/internal/vfs"
)

func exclusive(f vfs.File) bool {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	// A byte that no file has: a locked one cannot be read.
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1<<31 - 1})
	return !errors.Is(err, windows.ERROR_LOCK_VIOLATION) && !errors.Is(err, windows.ERROR_IO_PENDING)
}
