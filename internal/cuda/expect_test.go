package cuda

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// meeting is a fake whose compiler holds each program until a number of them are compiled at
// the same time.
type meeting struct {
	*fake
	mu       sync.Mutex
	missing  int
	met      chan struct{}
	compiled []string
}

func newMeeting(programs int) *meeting {
	return &meeting{fake: newFake(), missing: programs, met: make(chan struct{})}
}

func (m *meeting) Compile(src Source) ([]byte, error) {
	m.mu.Lock()
	m.compiled = append(m.compiled, src.Text)
	if m.missing--; m.missing == 0 {
		close(m.met)
	}
	m.mu.Unlock()
	select {
	case <-m.met:
		return []byte("image of " + src.Text), nil
	case <-time.After(3 * time.Minute):
		return nil, errors.New("nobody else compiles")
	}
}

// texts are what has been compiled, in order of the texts.
func (m *meeting) texts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(slices.Values(m.compiled))
}

// withCompilers opens a device for which n compilers may run at once.
func withCompilers(t *testing.T, b Backend, n int) *Device {
	procs := runtime.GOMAXPROCS(n)
	images := code.New("")
	runtime.GOMAXPROCS(procs)
	d := open(t, b)
	d.modules.images = images
	return d
}

// TestExpectAtOnce: programs that are expected are compiled at the same time, each
// once, whoever asks for them then.
func TestExpectAtOnce(t *testing.T) {
	m := newMeeting(2)
	d := withCompilers(t, m, 2)
	do(t, d, func(c *Context) error {
		for range 2 {
			for _, text := range []string{"first", "second"} {
				if err := c.Expect(t.Context(), Source{Text: text}); err != nil {
					return err
				}
			}
		}
		for _, text := range []string{"second", "first", "second"} {
			if _, err := c.Module(Source{Text: text}); err != nil {
				return err
			}
		}
		return nil
	})
	if got := m.texts(); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("compiled %v", got)
	}
}

// TestExpectGivenUp: a program that waits for a compiler is given up when nobody wants it any
// more, and is compiled for a caller that asks later. A caller that waits for a program leaves
// when its context ends, and the program is compiled for the next.
func TestExpectGivenUp(t *testing.T) {
	m := newMeeting(2)
	d := withCompilers(t, m, 1)
	do(t, d, func(c *Context) error {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		if err := c.Expect(t.Context(), Source{Text: "busy"}); err != nil {
			return err
		}
		for len(m.texts()) == 0 {
			time.Sleep(time.Millisecond)
		}
		waits := Source{Text: "waits"}
		if err := c.Expect(ctx, waits); err != nil {
			return err
		}
		why := errors.New("enough")
		cancel(why)
		if _, err := c.ModuleWithin(ctx, Source{Text: "busy"}); !errors.Is(err, why) {
			t.Errorf("who waited got %v", err)
		}
		for _, e := range c.d.modules.early {
			if e.finished() {
				continue
			}
			select {
			case <-e.done:
			case <-time.After(20 * time.Millisecond): // busy
			}
		}
		if got := m.texts(); !slices.Equal(got, []string{"busy"}) {
			t.Errorf("compiled %v", got)
		}
		// It does not wait for a compiler itself, and meets the one that is busy.
		if _, err := c.Module(waits); err != nil {
			return err
		}
		_, err := c.Module(Source{Text: "busy"})
		return err
	})
	if got := m.texts(); !slices.Equal(got, []string{"busy", "waits"}) {
		t.Errorf("compiled %v", got)
	}
}

// TestExpectAgain: what was given up may be expected again.
func TestExpectAgain(t *testing.T) {
	m := newMeeting(1)
	d := open(t, m)
	do(t, d, func(c *Context) error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, ctx := range []context.Context{ctx, t.Context()} {
			if err := c.Expect(ctx, Source{Text: "again"}); err != nil {
				return err
			}
			for _, e := range c.d.modules.early {
				<-e.done
			}
			if want := ctx.Err() == nil; (len(m.texts()) == 1) != want {
				t.Errorf("compiled %v, where the context is %v", m.texts(), ctx.Err())
			}
		}
		return nil
	})
}
