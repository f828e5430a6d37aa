package cuda

import (
	"errors"
	"reflect"
	"testing"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// task does a bit of all that a device can do.
func task(c *Context) error {
	b, err := c.Alloc(16)
	if err != nil {
		return err
	}
	p, err := c.Pinned(16)
	if err != nil {
		return errors.Join(err, c.Free(b))
	}
	defer func() { c.Free(b); p.Free() }()
	m, err := c.Module(Source{Name: "add.cu", Text: "add"})
	if err != nil {
		return err
	}
	defer m.Close()
	k, err := m.Kernel("add")
	if err != nil {
		return err
	}
	if _, err := k.Occupancy(32, 0); err != nil {
		return err
	}
	s, err := c.Stream()
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := c.Event()
	if err != nil {
		return err
	}
	defer e.Close()
	if err := errors.Join(e.Record(s), s.Follow(e), e.Synchronize()); err != nil {
		return err
	}
	if err := errors.Join(c.Clear(b, s), Upload(c, b, 0, []uint64{1}), c.Copy(b, 8, b, 0, 8, s)); err != nil {
		return err
	}
	if err := k.Launch(Launch{Blocks: 1, Threads: 1, Stream: s}, &addParams{}); err != nil {
		return err
	}
	if _, err := s.Done(); err != nil {
		return err
	}
	if _, err := e.Since(e); err != nil {
		return err
	}
	if _, _, err := c.Memory(); err != nil {
		return err
	}
	return errors.Join(s.Synchronize(), c.Synchronize(), Download(c, make([]uint64, 2), b, 0))
}

// freshImages gives a device images of its own, so that it compiles.
func freshImages(d *Device) *Device {
	d.modules.images = code.New("")
	return d
}

func TestNthCallFails(t *testing.T) {
	for _, c := range []struct {
		faults *Faults
		kind   error
	}{
		{&Faults{FailAlloc: 1}, ErrMemory},
		{&Faults{FailAlloc: 2}, ErrMemory},
		{&Faults{FailCompile: 1}, ErrCompile},
		{&Faults{FailLoad: 1}, ErrArch},
		{&Faults{FailLaunch: 1}, ErrLaunch},
		{&Faults{FailCopy: 1}, nil},
		{&Faults{FailCopy: 4}, nil},
	} {
		c.faults.Backend = newFake()
		d := freshImages(open(t, c.faults))
		err := d.Do(task)
		var e *Error
		if !errors.As(err, &e) || e.Name != "injected" || c.kind != nil && !errors.Is(err, c.kind) || errors.Is(err, ErrLost) {
			t.Errorf("%+v: %v", c.faults, err)
		}
		if d.InUse() != 0 {
			t.Errorf("%+v: %d bytes in use", c.faults, d.InUse())
		}
		if err := d.Do(task); err != nil {
			t.Errorf("%+v: the second time: %v", c.faults, err)
		}
	}
}

func TestWorkFails(t *testing.T) {
	for n := 1; n <= 3; n++ {
		d := freshImages(open(t, &Faults{Backend: newFake(), FailWork: n}))
		if err := d.Do(task); !errors.Is(err, ErrLaunch) || !errors.Is(err, ErrLost) {
			t.Errorf("look %d: %v", n, err)
		}
		if err := d.Do(task); !errors.Is(err, ErrLost) {
			t.Errorf("look %d, later: %v", n, err)
		}
	}
}

func TestDeviceIsLostAfterAnyCall(t *testing.T) {
	whole := &Faults{Backend: newFake()}
	d := freshImages(open(t, whole))
	if err := d.Do(task); err != nil {
		t.Fatal(err)
	}
	calls := whole.Calls()
	if calls < 20 {
		t.Fatalf("only %d calls", calls)
	}
	for n := 1; n < calls; n++ {
		d := freshImages(open(t, &Faults{Backend: newFake(), LoseAfter: n}))
		if err := d.Do(task); !errors.Is(err, ErrLost) {
			t.Errorf("after %d calls: %v", n, err)
		}
		if err := d.Do(func(*Context) error { return nil }); !errors.Is(err, ErrLost) {
			t.Errorf("after %d calls, later: %v", n, err)
		}
	}
	d = freshImages(open(t, &Faults{Backend: newFake(), LoseAfter: calls + 10}))
	if err := d.Do(task); err != nil {
		t.Errorf("with calls to spare: %v", err)
	}
}

// A method that Faults passes on without counting would never fail in a test.
func TestFaultsCoverTheBackend(t *testing.T) {
	backend := reflect.TypeFor[Backend]()
	for i := range backend.NumMethod() {
		name := backend.Method(i).Name
		if name == "Open" || name == "Close" {
			continue
		}
		f := &Faults{Backend: newFake(), LoseAfter: 1, calls: 1}
		m := reflect.ValueOf(f).MethodByName(name)
		args := make([]reflect.Value, m.Type().NumIn())
		for i := range args {
			args[i] = reflect.Zero(m.Type().In(i))
		}
		out := m.Call(args)
		err, _ := out[len(out)-1].Interface().(error)
		if !errors.Is(err, ErrLost) {
			t.Errorf("%s on a lost device: %v", name, err)
		}
	}
}
