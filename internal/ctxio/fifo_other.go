//go:build !linux

package ctxio

import (
	"context"
	"os"
)

// openFIFO opens a FIFO when its other end is open.
func openFIFO(ctx context.Context, path string, flag int, perm os.FileMode) (*os.File, error) {
	return openAside(ctx, path, flag, perm)
}
