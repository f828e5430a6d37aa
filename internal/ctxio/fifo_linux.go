package ctxio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weftgraph/weft/internal/vfs"
)

// pause is how long the other end of a FIFO is waited for before ctx is looked at again.
const pause = 10 * time.Millisecond

// openFIFO opens a FIFO when its other end is open. Nobody else sees that end opened for
// a moment, or this one opened by a call that has been given up.
func openFIFO(ctx context.Context, fsys vfs.FS, path string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		f, err := fsys.OpenFile(path, flag|unix.O_NONBLOCK, perm)
		if err == nil {
			if err = waitForWriter(ctx, f); err != nil {
				f.Close()
				return nil, err
			}
		}
		return f, err
	}
	for {
		f, err := fsys.OpenFile(path, flag|unix.O_NONBLOCK, perm)
		if !errors.Is(err, syscall.ENXIO) {
			return f, err
		}
		select {
		case <-time.After(pause): // no process reads the FIFO yet
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// waitForWriter returns when there is something to read, or a writer has come and gone.
// Until a writer comes, Linux reports nothing of a FIFO.
func waitForWriter(ctx context.Context, f vfs.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		n := 0
		if e := raw.Control(func(fd uintptr) {
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(pause.Milliseconds()))
		}); e != nil {
			return e
		}
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return os.NewSyscallError("poll", err)
		case n > 0:
			return nil
		}
	}
	return context.Cause(ctx)
}
