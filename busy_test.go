package weft_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftgraph/weft"
)

// soon fails the test if f does not return within a time that is long for it.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		t.Errorf("%s: still waiting", what)
	}
}

// TestBusyDevice: while one query has the GPU, others wait until their contexts end. Other graphs close at
// once.
func TestBusyDevice(t *testing.T) {
	g, b := onEmulated(t)
	held := make(chan struct{})
	b.hold = held
	qs, err := weft.PatternsByName("motifs(3)")
	if err != nil {
		t.Fatal(err)
	}
	want, err := g.Count(t.Context(), qs[0])
	if err != nil {
		t.Fatal(err)
	}
	counted := make(chan error, 1)
	go func() {
		got, err := g.Count(t.Context(), qs[0], apart("stack")...)
		if err == nil && got.Subgraphs.Cmp(want.Subgraphs) != 0 {
			err = errors.New("another number: " + got.Subgraphs.String())
		}
		counted <- err
	}()
	for inside := 0; inside == 0; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		inside = b.inside
		b.mu.Unlock()
	}
	for _, c := range []struct {
		what    string
		options []weft.Option
	}{
		{"the same device", nil},
		{"other memory", []weft.Option{weft.WithGPUMemory(1 << 20)}},
	} {
		soon(t, c.what, func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if _, err := g.Count(ctx, qs[1], append(apart("stack"), c.options...)...); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", c.what, err)
			}
			for _, err := range g.CountEach(t.Context(), qs, append(append(apart("stack"), c.options...), weft.WithTimeout(20*time.Millisecond))...) {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s, one of several: %v", c.what, err)
				}
			}
		})
	}
	soon(t, "another graph's Close", func() {
		other, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
		if err == nil {
			err = other.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
	close(held)
	if err := <-counted; err != nil {
		t.Errorf("the query that had the device: %v", err)
	}
}
