package route

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

// emulatedGPUs has emulated devices for the GPUs of this process.
func emulatedGPUs(t *testing.T) {
	t.Helper()
	if err := closeOpen(); err != nil {
		t.Fatal(err)
	}
	backends := make(chan cuda.Backend, 8)
	for range cap(backends) {
		backends <- uncompiled{device.Backend(t, emu.Options{})}
	}
	before := openDevice
	openDevice = func(int) (*cuda.Device, error) { return cuda.New(<-backends) }
	t.Cleanup(func() {
		_ = closeOpen()
		openDevice = before
	})
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
	emulatedGPUs(t)
	first, err := sessionOn(t.Context(), "gpu:0", 0)
	if err != nil {
		t.Fatal(err)
	}
	end := occupy(first)

	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := sessionOn(ctx, "gpu:1", 0)
		left <- err
	}()
	// None of these waits, whether that query waits already or not.
	if again, err := sessionOn(t.Context(), "gpu:0", 0); err != nil || again != first {
		t.Errorf("another session for the same device: %v", err)
	}
	if c := (&Choice{session: first}); c.Stale() {
		t.Error("a busy device is taken for a lost one")
	}
	if err := Forget(&graph.Graph{}); err != nil {
		t.Error(err)
	}
	cancel(why)
	if err := <-left; !errors.Is(err, why) {
		t.Errorf("the query that waits for the device: %v", err)
	}
	if !open.has(first) {
		t.Error("a query that gave up has closed the session")
	}

	other := make(chan error, 1)
	go func() {
		s, err := sessionOn(t.Context(), "gpu:1", 0)
		if err == nil && !open.has(s) {
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
	if c := (&Choice{session: first}); !c.Stale() {
		t.Error("a session that was closed is not stale")
	}
}

// TestOpening: a query waits for a device that does not open for as long as its context
// allows, and the next finds it open.
func TestOpening(t *testing.T) {
	emulatedGPUs(t)
	may, opening := make(chan struct{}), openDevice
	openDevice = func(n int) (*cuda.Device, error) {
		<-may
		return opening(n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sessionOn(ctx, "gpu:0", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a device that does not open: %v", err)
	}
	if err := Forget(&graph.Graph{}); err != nil {
		t.Error(err)
	}
	close(may)
	if s, err := sessionOn(t.Context(), "gpu:0", 0); err != nil || !open.has(s) {
		t.Errorf("once it opens: %v", err)
	}
}

// TestManyWant: queries for different devices, at the same time, all get theirs.
func TestManyWant(t *testing.T) {
	emulatedGPUs(t)
	done := make(chan error)
	for i := range 6 {
		name := []string{"gpu:0", "gpu:1", "gpu:0,1"}[i%3]
		go func() {
			s, err := sessionOn(context.Background(), name, 0)
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
