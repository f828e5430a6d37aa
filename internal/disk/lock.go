package disk

import (
	"errors"
	"os"

	"github.com/weftgraph/weft/internal/vfs"
)

// ErrLocked is in the error of Lock if the lock is taken.
var ErrLocked = errors.New("another process is using it")

// Lock takes the lock of a file, which it makes if there is none. The lock is free again after unlock, and after the process has ended, however
// it ended. The file stays. A file system that has no locks gives them to everybody.
func Lock(fsys vfs.FS, name string) (unlock func(), err error) {
	f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, &Error{Name: name, Err: cause(err)}
	}
	if !exclusive(f) {
		_ = f.Close()
		return nil, &Error{Name: name, Err: ErrLocked}
	}
	return func() { _ = f.Close() }, nil
}

// Exclusive takes the lock of an open file until it is closed, and reports whether it was free. A file system that has no locks gives them to
// everybody.
func Exclusive(f vfs.File) bool { return exclusive(f) }
