//go:build unix

package sink

import (
	"os"
	"sync"
	"syscall"
)

// umask reads the process's file mode creation mask, which can only be read by
// setting it.
var umask = sync.OnceValue(func() os.FileMode {
	m := syscall.Umask(0o022)
	syscall.Umask(m)
	return os.FileMode(m)
})
