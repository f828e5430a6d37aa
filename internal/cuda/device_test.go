package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestDoRunsOnOneThread(t *testing.T) {
	d := open(t, newFake())
	var wg sync.WaitGroup
	threads := make(chan int, 64)
	for range cap(threads) {
		wg.Go(func() {
			runtime.Gosched()
			d.Do(func(*Context) error { threads <- threadID(); return nil })
		})
	}
	wg.Wait()
	first := <-threads
	for range cap(threads) - 1 {
		if id := <-threads; id != first {
			t.Fatalf("threads %d and %d", first, id)
		}
	}
}

func TestDoInsideDo(t *testing.T) {
	d := open(t, newFake())
	var order []int
	do(t, d, func(*Context) error {
		order = append(order, 1)
		err := d.Do(func(*Context) error { order = append(order, 2); return nil })
		order = append(order, 3)
		return err
	})
	if len(order) != 3 || order[1] != 2 {
		t.Errorf("order %v", order)
	}
	do(t, d, func(*Context) error {
		if err := d.Close(); err == nil || !strings.Contains(err.Error(), "inside Do") {
			t.Errorf("Close inside Do: %v", err)
		}
		return nil
	})
}

// TestLostOnce: what follows from the loss of a device is left out of the error, and
// what does not stays.
func TestLostOnce(t *testing.T) {
	other := errors.New("other")
	for _, more := range []error{nil, other} {
		d := open(t, &Faults{Backend: newFake(), FailWork: 1})
		err := d.Do(func(c *Context) error {
			s, err := c.Stream()
			if err != nil {
				return err
			}
			first := s.Synchronize()
			_, second := c.Alloc(16)
			if first == nil || second == nil {
				t.Errorf("%v, %v", first, second)
			}
			return errors.Join(errors.Join(first, fmt.Errorf("memory: %w", second)), more, s.Synchronize(), s.Close())
		})
		if text := err.Error(); !errors.Is(err, ErrLost) || strings.Count(text, "injected") != 1 || strings.Contains(text, "since") || more != nil && !errors.Is(err, other) {
			t.Errorf("%v", err)
		}
		err = d.Do(func(*Context) error { return nil })
		if !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "since") {
			t.Errorf("afterwards: %v", err)
		}
	}
}

func TestPanicBecomesError(t *testing.T) {
	d := open(t, newFake())
	err := d.Do(func(*Context) error { panic("seven") })
	if err == nil || !strings.Contains(err.Error(), "seven") || !strings.Contains(err.Error(), "device_test.go") {
		t.Errorf("error %v", err)
	}
	do(t, d, func(*Context) error { return nil })
}

func TestEndedGoroutine(t *testing.T) {
	f := newFake()
	d := open(t, f)
	err := d.Do(func(*Context) error { runtime.Goexit(); return nil })
	if !errors.Is(err, ErrClosed) {
		t.Errorf("error %v", err)
	}
	if err := d.Do(func(*Context) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
	if n := f.closed.Load(); n != 1 {
		t.Errorf("the backend was closed %d times", n)
	}
}

func TestStickyError(t *testing.T) {
	f := newFake()
	d := open(t, f)
	fault := &Error{Op: "launch", Name: "fault", Kind: ErrLaunch, Lost: true}
	var kept *Context
	var buffer Buffer
	err := d.Do(func(c *Context) error {
		kept = c
		b, err := c.Alloc(16)
		if err != nil {
			return err
		}
		buffer = b
		k := kernel(t, c, "add")
		f.fail = fault
		k.Launch(Launch{Blocks: 1, Threads: 1}, &addParams{}) // its error is not passed on
		if _, err := c.Alloc(16); !errors.Is(err, ErrLost) {
			t.Errorf("Alloc after the fault: %v", err)
		}
		return nil
	})
	if !errors.Is(err, ErrLost) || !errors.Is(err, ErrLaunch) {
		t.Fatalf("the error of Do: %v", err)
	}
	ran := false
	err = d.Do(func(*Context) error { ran = true; return nil })
	var e *Error
	if ran || !errors.Is(err, ErrLost) || !errors.As(err, &e) || e != fault {
		t.Errorf("later: ran %v, error %v", ran, err)
	}
	if err := kept.Free(buffer); !errors.Is(err, ErrLost) {
		t.Errorf("Free: %v", err)
	}
}

func TestOutsideDo(t *testing.T) {
	d := open(t, newFake())
	var kept *Context
	do(t, d, func(c *Context) error { kept = c; return nil })
	if _, err := kept.Alloc(1); err == nil || !strings.Contains(err.Error(), "outside Do") {
		t.Errorf("Alloc: %v", err)
	}
	if err := kept.Main().Synchronize(); err == nil {
		t.Error("Synchronize outside Do has no error")
	}
}

func TestClose(t *testing.T) {
	f := newFake()
	d, err := New(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	var p *Pinned
	do(t, d, func(c *Context) error {
		p, err = c.Pinned(64)
		if err == nil {
			_, err = c.Alloc(100)
		}
		return err
	})
	if d.InUse() != 164 {
		t.Errorf("in use: %d bytes", d.InUse())
	}
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if p.Bytes() != nil || d.InUse() != 0 || len(f.memory) != 0 || f.closed.Load() != 1 {
		t.Errorf("after Close: pinned %v, %d bytes in use, %d pieces, closed %d times", p.Bytes(), d.InUse(), len(f.memory), f.closed.Load())
	}
	if err := d.Do(func(*Context) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("Do: %v", err)
	}
	for range 1000 {
		d, err := New(newFake(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil || !d.Lost() {
			t.Fatalf("Close: %v; lost: %v", err, d.Lost())
		}
	}
}

func TestCloseWhileDoWaits(t *testing.T) {
	d, err := New(newFake(), nil)
	if err != nil {
		t.Fatal(err)
	}
	started, release := make(chan bool), make(chan bool)
	go d.Do(func(*Context) error { started <- true; <-release; return nil })
	<-started
	results := make(chan error, 3)
	go func() { results <- d.Close() }()
	for range 2 {
		go func() { results <- d.Do(func(*Context) error { return nil }) }()
	}
	time.Sleep(10 * time.Millisecond)
	close(release)
	for range 3 {
		select {
		case err := <-results:
			if err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		case <-time.After(3 * time.Minute):
			t.Fatal("Close or Do does not return")
		}
	}
}

type badOpen struct{ fake }

func (b *badOpen) Open() (Info, error) { return Info{}, &Error{Op: "open", Kind: ErrNoDevice} }

func TestOpenFails(t *testing.T) {
	if _, err := New(&badOpen{}, nil); !errors.Is(err, ErrNoDevice) {
		t.Errorf("error %v", err)
	}
}

// kernel compiles a program with one kernel of that name.
func kernel(t testing.TB, c *Context, name string) *Kernel {
	t.Helper()
	m, err := c.Module(Source{Name: name + ".cu", Text: name})
	if err == nil {
		var k *Kernel
		if k, err = m.Kernel(name); err == nil {
			return k
		}
	}
	t.Error(err)
	panic(err)
}

func BenchmarkDo(b *testing.B) {
	d := open(b, newFake())
	for b.Loop() {
		d.Do(func(*Context) error { return nil })
	}
}
