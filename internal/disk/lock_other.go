//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package disk

import "github.com/weftgraph/weft/internal/vfs"

// This system has no locks.
func exclusive(vfs.File) bool { return true }
