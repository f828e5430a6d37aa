package cuda

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestLaunch(t *testing.T) {
	f := newFake()
	f.kernels["add"] = add
	d := open(t, f)
	do(t, d, func(c *Context) error {
		k := kernel(t, c, "add")
		b, err := c.Alloc(12)
		if err != nil {
			return err
		}
		if err := Upload(c, b, 0, []uint32{1, 2, 3}); err != nil {
			return err
		}
		p := addParams{b.Ptr, 3, 10}
		for range 2 {
			if err := k.Launch(Launch{Blocks: 1, Threads: 32}, &p); err != nil {
				return err
			}
			p.X = 100
		}
		got := make([]uint32, 3)
		if err := Download(c, got, b, 0); err != nil {
			return err
		}
		if want := []uint32{111, 112, 113}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		return nil
	})
}

func TestLaunchIsRefused(t *testing.T) {
	d := open(t, newFake())
	do(t, d, func(c *Context) error {
		k := kernel(t, c, "add")
		right := Launch{Blocks: 1, Threads: 32}
		most := int64(math.MaxInt32)
		for _, c := range []struct {
			says   string
			launch Launch
			params any
		}{
			{"0 blocks", Launch{Threads: 32}, &addParams{}},
			{"blocks", Launch{Blocks: int(most + 1), Threads: 32}, &addParams{}},
			{"0 threads", Launch{Blocks: 1}, &addParams{}},
			{"1 to 512", Launch{Blocks: 1, Threads: 513}, &addParams{}},
			{"shared memory", Launch{Blocks: 1, Threads: 32, Shared: -1}, &addParams{}},
			{"there are 101376", Launch{Blocks: 1, Threads: 32, Shared: 99<<10 + 1}, &addParams{}},
			{"pointer to a struct", right, addParams{}},
			{"pointer to a struct", right, new(uint64)},
			{"pointer to a struct", right, new(struct{})},
			{"pointer to a struct", right, nil},
			{"nil pointer", right, (*addParams)(nil)},
			{"8 bytes, the kernel's argument 16", right, &struct{ X uint64 }{}},
			{"plain data", right, &struct{ A, B *int }{}},
		} {
			err := k.Launch(c.launch, c.params)
			if !errors.Is(err, ErrLaunch) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "launch of add") {
				t.Errorf("%+v: %v", c, err)
			}
		}
		return k.Launch(Launch{Blocks: math.MaxInt32, Threads: 512, Shared: 99 << 10}, &addParams{})
	})
}

func TestOccupancy(t *testing.T) {
	d := open(t, newFake())
	do(t, d, func(c *Context) error {
		k := kernel(t, c, "add")
		if n, err := k.Resident(256, 0); n != 8*4 || err != nil {
			t.Errorf("resident %d, %v", n, err)
		}
		for _, c := range []struct{ threads, shared int }{{0, 0}, {513, 0}, {32, 100 << 10}, {32, -1}} {
			if n, err := k.Occupancy(c.threads, c.shared); n != 0 || err != nil {
				t.Errorf("%+v: %d, %v", c, n, err)
			}
		}
		return nil
	})
}

func TestModulesAreShared(t *testing.T) {
	f := newFake()
	d := open(t, f)
	do(t, d, func(c *Context) error {
		src := Source{Name: "x.cu", Text: "add"}
		a, err := c.Module(src)
		if err != nil {
			return err
		}
		b, err := c.Module(src)
		if err != nil {
			return err
		}
		if a != b || f.compiled != 1 || f.loaded != 1 {
			t.Errorf("same %v, compiled %d times, loaded %d times", a == b, f.compiled, f.loaded)
		}
		k, err := a.Kernel("add")
		if err != nil {
			return err
		}
		if _, err := a.Kernel("sub"); err == nil {
			t.Error("a kernel that is not there was found")
		}
		if err := errors.Join(a.Close(), k.Launch(Launch{Blocks: 1, Threads: 1}, &addParams{}), b.Close()); err != nil {
			t.Error(err)
		}
		if err := k.Launch(Launch{Blocks: 1, Threads: 1}, &addParams{}); err == nil {
			t.Error("a kernel of a closed module was launched")
		}
		again, err := c.Module(src)
		if err != nil {
			return err
		}
		if again != a || f.loaded != 1 {
			t.Errorf("after Close: same %v, loaded %d times", again == a, f.loaded)
		}
		return k.Launch(Launch{Blocks: 1, Threads: 1}, &addParams{})
	})
}

func TestIdleModulesAreUnloaded(t *testing.T) {
	f := newFake()
	d := open(t, f)
	do(t, d, func(c *Context) error {
		used, err := c.Module(Source{Text: "used"})
		if err != nil {
			return err
		}
		for i := range 3 * idleModules {
			m, err := c.Module(Source{Text: fmt.Sprint("program ", i)})
			if err != nil {
				return err
			}
			if err := errors.Join(m.Close(), m.Close()); err != nil {
				return err
			}
		}
		if len(f.modules) != idleModules+1 || f.modules[used.handle] == "" {
			t.Errorf("%d modules are loaded, the used one %v", len(f.modules), f.modules[used.handle] != "")
		}
		return nil
	})
}

func TestCompileError(t *testing.T) {
	d := open(t, newFake())
	do(t, d, func(c *Context) error {
		_, err := c.Module(Source{Name: "stack.cu", Text: "#error"})
		var e *Error
		if !errors.Is(err, ErrCompile) || !errors.As(err, &e) || !strings.Contains(err.Error(), "stack.cu(1): error") {
			t.Errorf("error %v", err)
		}
		return nil
	})
}

// noCompiler is a machine with a driver and no NVRTC.
type noCompiler struct{ *fake }

func (n noCompiler) Compile(Source) ([]byte, error) {
	return nil, &Error{Op: "GPU compiler", Kind: ErrNoCompiler}
}

func TestNoCompiler(t *testing.T) {
	f := newFake()
	f.compiler = ""
	d := open(t, noCompiler{f})
	do(t, d, func(c *Context) error {
		if _, err := c.Module(Source{Text: "add"}); !errors.Is(err, ErrNoCompiler) {
			t.Errorf("error %v", err)
		}
		return nil
	})
}

func TestLaunchAllocatesNothing(t *testing.T) {
	d := open(t, newFake())
	do(t, d, func(c *Context) error {
		k := kernel(t, c, "add")
		p := &addParams{}
		if n := testing.AllocsPerRun(100, func() { k.Launch(Launch{Blocks: 1, Threads: 32}, p) }); n != 0 {
			t.Errorf("%v allocations a launch", n)
		}
		return nil
	})
}

func BenchmarkLaunch(b *testing.B) {
	d := open(b, newFake())
	do(b, d, func(c *Context) error {
		k := kernel(b, c, "add")
		p := &addParams{}
		b.ReportAllocs()
		for b.Loop() {
			if err := k.Launch(Launch{Blocks: 1, Threads: 32}, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// Under racecheck kernels are others than without it, and kept apart from them.
func TestRacecheckIsAnotherImage(t *testing.T) {
	f := newFake()
	d := open(t, f)
	src := Source{Name: "a.cu", Text: "a", Options: []string{"-DX=1"}}
	module := func() {
		do(t, d, func(c *Context) error {
			_, err := c.Module(src)
			return err
		})
	}
	module()
	t.Setenv(racecheckVariable, "1")
	module()
	module()
	if f.compiled != 2 {
		t.Errorf("compiled %d times", f.compiled)
	}
	if want := []string{"-DX=1", "-DWEFT_RACECHECK", "-lineinfo"}; !slices.Equal(f.source.Options, want) || len(src.Options) != 1 {
		t.Errorf("options %v, want %v", f.source.Options, want)
	}
}

// What is expected is compiled once, and its error is that of the module.
func TestExpect(t *testing.T) {
	f := newFake()
	d := open(t, f)
	do(t, d, func(c *Context) error {
		for _, text := range []string{"good", "#error"} {
			f.compiled = 0
			src := Source{Name: "a.cu", Text: text}
			for range 2 {
				if err := c.Expect(t.Context(), src); err != nil {
					return err
				}
			}
			_, err := c.Module(src)
			if wrong := text == "#error"; errors.Is(err, ErrCompile) != wrong || err != nil != wrong {
				t.Errorf("%s: %v", text, err)
			}
			if f.compiled != 1 {
				t.Errorf("%s: compiled %d times", text, f.compiled)
			}
		}
		return nil
	})
}

// TestExpectForNothing: what is expected and never asked for is not kept for ever, and is compiled once all the same.
func TestExpectForNothing(t *testing.T) {
	f := newFake()
	d := open(t, f)
	source := func(i int) Source { return Source{Name: "a.cu", Text: fmt.Sprint(i)} }
	do(t, d, func(c *Context) error {
		const n = 3 * earlyImages
		for i := range n {
			if err := c.Expect(t.Context(), source(i)); err != nil {
				return err
			}
			for _, e := range c.d.modules.early {
				<-e.done
			}
		}
		if kept := len(c.d.modules.early); kept > earlyImages {
			t.Errorf("%d images wait", kept)
		}
		if _, err := c.Module(source(0)); err != nil || f.compiled != n {
			t.Errorf("%d programs were compiled %d times, %v", n, f.compiled, err)
		}
		return nil
	})
}
