//go:build !linux

package graph

import (
	"github.com/weftgraph/weft/internal/vfs"
)

// hasWriter: this system is not asked.
func hasWriter(vfs.File) bool { return false }
