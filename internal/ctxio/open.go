// Package ctxio opens, reads and writes files within a context. Pipes and terminals may block a
// caller for any time; here the wait ends when the context does.
//
// It knows files of package vfs. It must not know what is read or written.
package ctxio

import (
	"context"
	"io"
	"io/fs"
	"os"

	"github.com/weftgraph/weft/internal/vfs"
)

// Open opens a file for reading. Opening a FIFO blocks until it has a writer: when ctx
// ends first, the error is its cause.
func Open(ctx context.Context, fsys vfs.FS, path string) (vfs.File, error) {
	return OpenFile(ctx, fsys, path, os.O_RDONLY, 0)
}

// OpenFile is OpenFile of a file system within ctx.
func OpenFile(ctx context.Context, fsys vfs.FS, path string, flag int, perm fs.FileMode) (vfs.File, error) {
	st, err := fsys.Stat(path)
	if err != nil || st.Mode().IsRegular() || st.IsDir() {
		return fsys.OpenFile(path, flag, perm) // nothing to wait for
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if st.Mode()&os.ModeNamedPipe != 0 {
		return openFIFO(ctx, fsys, path, flag, perm)
	}
	return openAside(ctx, fsys, path, flag, perm)
}

// openAside opens a file on a goroutine, which is left behind when ctx ends first, until
// the call returns.
func openAside(ctx context.Context, fsys vfs.FS, path string, flag int, perm fs.FileMode) (vfs.File, error) {
	type opened struct {
		f   vfs.File
		err error
	}
	done := make(chan opened)
	go func() {
		f, err := fsys.OpenFile(path, flag, perm)
		select {
		case done <- opened{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ReadFile reads a file of at most `most` bytes. A longer file is an *os.PathError with
// ErrTooLong. If ctx ends first, the error is its cause.
func ReadFile(ctx context.Context, fsys vfs.FS, path string, most int64) ([]byte, error) {
	f, err := Open(ctx, fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := ReadAll(ctx, f, most)
	if err == ErrTooLong {
		err = &os.PathError{Op: "read", Path: path, Err: err}
	}
	return data, err
}

// ReadAll reads r to its end, at most `most` bytes. More bytes are ErrTooLong. If ctx ends
// first, the error is its cause, and a blocked read continues in the background until its file
// is closed.
func ReadAll(ctx context.Context, r io.Reader, most int64) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	data, err := io.ReadAll(io.LimitReader(NewReader(ctx, r), most+1))
	if err == nil && int64(len(data)) > most {
		return nil, ErrTooLong
	}
	return data, err
}
