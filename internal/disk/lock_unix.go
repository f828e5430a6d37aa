//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import "github.com/weftgraph/weft/internal/vfs"

func exclusive(f vfs.File) bool { return lock(f) }
