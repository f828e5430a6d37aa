package runtime

import (
	"context"
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/testing/device"
)

// uncompiled is an emulated device that compiles nothing.
type uncompiled struct{ cuda.Backend }

func (uncompiled) Compile(cuda.Source) ([]byte, error) {
	return nil, &cuda.Error{Op: "compile", Text: "never", Kind: cuda.ErrCompile}
}

// emulated is a runtime whose GPUs are emulated, which open opens; nil: at once.
func emulated(t *testing.T, open func(b cuda.Backend) (*cuda.Device, error)) *Runtime {
	t.Helper()
	if open == nil {
		open = func(b cuda.Backend) (*cuda.Device, error) { return cuda.New(b, nil) }
	}
	backends := make(chan cuda.Backend, 8)
	for range cap(backends) {
		backends <- uncompiled{device.Backend(t, emu.Options{})}
	}
	r := New(Options{Open: func(int) (*cuda.Device, error) { return open(<-backends) }, Count: func() (int, error) { return 2, nil }})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

var errEnd = errors.New("the run's end")

// occupy has a run on the devices of s, until end.
func occupy(s *session.Session) (end func() error) {
	has, may, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	j := &session.Job{Name: "busy", Program: &kir.Program{}, Chunk: 1, Start: func(*session.Exec) (func() error, error) {
		close(has)
		<-may
		return nil, errEnd
	}}
	go func() {
		_, err := s.Run(context.Background(), j)
		ended <- err
	}()
	<-has
	return func() error {
		close(may)
		return <-ended
	}
}

// TestBusy: while a query has the devices, others get their session, graphs are closed,
// and a query that wants other devices waits for as long as its context allows.
func TestBusy(t *testing.T) {
	r := emulated(t, nil)
	first, err := r.Session(t.Context(), "gpu:0", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	end := occupy(first)

	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := r.Session(ctx, "gpu:1", 0, nil)
		left <- err
	}()
	// None of these waits, whether that query waits already or not.
	if again, err := r.Session(t.Context(), "gpu:0", 0, nil); err != nil || again != first {
		t.Errorf("another session for the same device: %v", err)
	}
	if !r.Has(first) {
		t.Error("a busy device is taken for a lost one")
	}
	if err := r.Forget(&graph.Graph{}); err != nil {
		t.Error(err)
	}
	cancel(why)
	if err := <-left; !errors.Is(err, why) {
		t.Errorf("the query that waits for the device: %v", err)
	}
	if !r.Has(first) {
		t.Error("a query that gave up has closed the session")
	}

	other := make(chan error, 1)
	go func() {
		s, err := r.Session(t.Context(), "gpu:1", 0, nil)
		if err == nil && !r.Has(s) {
			err = errors.New("it is not the session that is open")
		}
		other <- err
	}()
	if err := end(); !errors.Is(err, errEnd) {
		t.Error(err)
	}
	if err := <-other; err != nil {
		t.Errorf("the query for another device: %v", err)
	}
	if r.Has(first) {
		t.Error("a session that was closed is not stale")
	}
}

// TestOpening: a query waits for a device that does not open for as long as its context
// allows, and the next finds it open.
func TestOpening(t *testing.T) {
	may := make(chan struct{})
	r := emulated(t, func(b cuda.Backend) (*cuda.Device, error) {
		<-may
		return cuda.New(b, nil)
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Session(ctx, "gpu:0", 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a device that does not open: %v", err)
	}
	if err := r.Forget(&graph.Graph{}); err != nil {
		t.Error(err)
	}
	close(may)
	if s, err := r.Session(t.Context(), "gpu:0", 0, nil); err != nil || !r.Has(s) {
		t.Errorf("once it opens: %v", err)
	}
}

// TestManyWant: queries for different devices, at the same time, all get theirs.
func TestManyWant(t *testing.T) {
	r := emulated(t, nil)
	done := make(chan error)
	for i := range 6 {
		name := []string{"gpu:0", "gpu:1", "gpu:0,1"}[i%3]
		go func() {
			s, err := r.Session(context.Background(), name, 0, nil)
			if err == nil && s == nil {
				err = errors.New("no session")
			}
			done <- err
		}()
	}
	for range 6 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
