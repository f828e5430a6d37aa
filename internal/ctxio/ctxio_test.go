//go:build unix

package ctxio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weftgraph/weft/internal/vfs"
)

var errWhy = errors.New("enough")

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	return path
}

// TestOpenEnds: the wait for the other end of a FIFO ends with the context, and leaves
// nobody behind who would meet the next.
func TestOpenEnds(t *testing.T) {
	for flag, other := range map[int]int{os.O_RDONLY: os.O_WRONLY, os.O_WRONLY: os.O_RDONLY} {
		path := fifo(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := OpenFile(ctx, vfs.OS{}, path, flag, 0)
			done <- err
		}()
		cancel(errWhy)
		if err := <-done; !errors.Is(err, errWhy) {
			t.Errorf("flag %d: %v", flag, err)
		}
		met := make(chan error, 1)
		go func() {
			f, err := OpenFile(t.Context(), vfs.OS{}, path, other, 0)
			if err == nil {
				err = f.Close()
			}
			met <- err
		}()
		f, err := OpenFile(t.Context(), vfs.OS{}, path, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := <-met; err != nil {
			t.Error(err)
		}
	}
}

// TestReadEnds: a read of a pipe that nobody writes to, or of one without an end, ends
// with the context, or with as many bytes as are allowed.
func TestReadEnds(t *testing.T) {
	path := fifo(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := ReadFile(ctx, vfs.OS{}, path, 100)
		done <- err
	}()
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString("begun"); err != nil {
		t.Fatal(err)
	}
	cancel(errWhy)
	if err := <-done; !errors.Is(err, errWhy) {
		t.Error(err)
	}
	if _, err := ReadFile(t.Context(), vfs.OS{}, "/dev/zero", 1<<20); !errors.Is(err, ErrTooLong) {
		t.Errorf("endless: %v", err)
	}
	whole := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(whole, bytes.Repeat([]byte("x"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(t.Context(), vfs.OS{}, whole, 100); len(b) != 100 || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := ReadFile(t.Context(), vfs.OS{}, whole, 99); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}

// TestWriteEnds: a write to a full pipe ends with the context; one that is read does
// not lose what was written after the context's end.
func TestWriteEnds(t *testing.T) {
	for _, reads := range []bool{false, true} {
		r, pipe, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		w := NewWriter(pipe)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errWhy)
		read := make(chan int64, 1)
		if reads {
			go func() {
				n, _ := io.Copy(io.Discard, r)
				read <- n
			}()
		}
		sent := 0
		for sent < 4<<20 && err == nil {
			var n int
			n, err = w.WriteWithin(ctx, make([]byte, 64<<10))
			sent += n
		}
		w.Close()
		switch {
		case !reads && !errors.Is(err, errWhy):
			t.Errorf("nobody reads: %d bytes, %v", sent, err)
		case reads && err != nil:
			t.Errorf("after %d bytes: %v", sent, err)
		}
		if _, err := w.WriteWithin(t.Context(), []byte("x")); err == nil {
			t.Error("it writes after its end")
		}
		pipe.Close()
		if reads {
			if n := <-read; n != int64(sent) {
				t.Errorf("%d of %d bytes arrived", n, sent)
			}
		}
		r.Close()
	}
}

// TestWriteGivenUp: a write that is given up reports what the pipe has of it.
func TestWriteGivenUp(t *testing.T) {
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer pipe.Close()
	w := NewWriter(pipe)
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n, err := w.WriteWithin(ctx, make([]byte, 4<<20))
	if !errors.Is(err, context.Canceled) || n == 0 || n >= 4<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
	if got, err := io.ReadFull(r, make([]byte, n)); got != n {
		t.Errorf("the pipe has %d of %d bytes, %v", got, n, err)
	}
}

// TestWriteDirectly: what cannot wait is written to at once, whatever the context.
func TestWriteDirectly(t *testing.T) {
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := NewWriter(&out)
	if n, err := w.WriteWithin(ctx, []byte("abc")); n != 3 || err != nil || out.String() != "abc" {
		t.Errorf("%d, %v, %q", n, err, out.String())
	}
	w.Close()
}

// TestCloseAtOnce: a Writer may be closed before its goroutine has begun. The race detector
// looks on.
func TestCloseAtOnce(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for range 1000 {
		NewWriter(w).Close()
	}
	out := NewWriter(w)
	out.Close()
	if _, err := out.WriteWithin(context.Background(), []byte("late")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a write after Close: %v", err)
	}
}
