//go:build !linux

package ctxio

import (
	"context"
	"io/fs"

	"github.com/weftgraph/weft/internal/vfs"
)

// openFIFO opens a FIFO when its other end is open.
func openFIFO(ctx context.Context, fsys vfs.FS, path string, flag int, perm fs.FileMode) (vfs.File, error) {
	return openAside(ctx, fsys, path, flag, perm)
}
