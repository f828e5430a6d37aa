//go:build !unix

package graph

import (
	"os"

	"github.com/weftgraph/weft/internal/vfs"
)

// versionOf returns nothing: graph files are copied into memory here.
func versionOf(vfs.File) (v version, links uint64, err error) { return v, 0, nil }

// private returns false: no record is kept here.
func private(os.FileInfo) bool { return false }
