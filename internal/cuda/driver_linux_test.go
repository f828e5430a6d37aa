//go:build !nogpu

package cuda

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/dynlib"
)

//go:embed testdata/driver.c
var driverC []byte

// standIn compiles the libraries that testdata/driver.c stands in for, and opens them as a device.
func standIn(t testing.TB) (*Device, *driver) {
	t.Helper()
	t.Setenv(visibleVariable, "0,1")
	lib, h := standInLibrary(t)
	a, err := startDriver(h, lib, nil)
	if err != nil {
		t.Fatal(err)
	}
	n, err := firstNVRTC([]place{{lib, "test"}}, a.version/1000)
	if err != nil {
		t.Fatal(err)
	}
	b := &driver{driverAPI: a, nvrtc: n, ordinal: 1}
	return open(t, b), b
}

// standInLibrary compiles the libraries as one and opens it.
func standInLibrary(t testing.TB) (lib string, handle dynlib.Library) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler, cc")
	}
	dir := t.TempDir()
	source, lib := filepath.Join(dir, "driver.c"), filepath.Join(dir, "libcuda.so.1")
	if err := os.WriteFile(source, driverC, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O1", "-Wall", "-Wno-stringop-truncation", "-shared", "-fPIC", "-o", lib, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h, err := dynlib.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	return lib, h
}

func TestDriverDescribesTheDevice(t *testing.T) {
	d, b := standIn(t)
	want := Info{Ordinal: 1, Name: "Host 41", Driver: "CUDA 13.1", Compiler: "NVRTC 12.8", Major: 9, SMs: 1016, WarpSize: 32,
		Memory: 5 << 30, L2: 1038, SharedPerBlock: 232448, SharedPerSM: 1081, RegistersPerSM: 1082, ThreadsPerSM: 1039, BlocksPerSM: 1106}
	if d.Info() != want {
		t.Errorf("%+v, not %+v", d.Info(), want)
	}
	if !slices.Equal(b.nvrtc.archs, []int{75, 80, 90}) {
		t.Errorf("architectures %v", b.nvrtc.archs)
	}
	if got := loadedFrom("libcuda.so.1"); got != b.path {
		t.Errorf("loaded from %s, not %s", got, b.path)
	}
}

// TestDriverManages: managed memory has one address, is freed as device memory, and is refused where the host may not touch it
// while a kernel runs.
func TestDriverManages(t *testing.T) {
	d, _ := standIn(t)
	do(t, d, func(c *Context) error {
		if _, err := c.Managed(1 << 21); !errors.Is(err, ErrMemory) {
			t.Error("more managed memory than there is:", err)
		}
		p, err := c.Managed(77)
		if err != nil {
			return err
		}
		if at, err := c.d.backend.Attach(p.host, 77); at != p.Ptr() || err != nil || at != uint64(uintptr(p.host)) || len(p.Bytes()) != 77 || !p.Managed() {
			t.Errorf("at %#x and %#x, %d bytes, %v", p.Ptr(), at, len(p.Bytes()), err)
		}
		if _, err := c.Managed(100); !errors.Is(err, ErrArch) || !strings.Contains(err.Error(), "cannot touch managed memory at the same time") {
			t.Error(err)
		}
		q, err := c.Pinned(77)
		if err != nil {
			return err
		}
		if q.Managed() {
			t.Error("pinned memory is managed")
		}
		return errors.Join(p.Free(), q.Free())
	})
}

func TestDriverRuns(t *testing.T) {
	d, _ := standIn(t)
	do(t, d, func(c *Context) error {
		if free, total, err := c.Memory(); free != 3 || total != 4 || err != nil {
			t.Errorf("memory %d, %d, %v", free, total, err)
		}
		m, err := c.Module(Source{Name: "a.cu", Text: "text", Includes: map[string]string{"b.cuh": "B", "a.cuh": "A"}, Options: []string{"-DX=1"}, Debug: true})
		if err != nil {
			return err
		}
		k, err := m.Kernel("add")
		if err != nil {
			return err
		}
		if want := (Function{Registers: 40, SharedStatic: 16, LocalBytes: 8, MaxThreads: 1024, ParamBytes: 16}); k.Function != want {
			t.Errorf("kernel %+v, not %+v", k.Function, want)
		}
		if n, err := k.Occupancy(256, 128<<10); n != 6 || err != nil {
			t.Errorf("occupancy %d, %v", n, err)
		}
		s, err := c.Stream()
		if err != nil {
			return err
		}
		begin, err := c.Event()
		if err != nil {
			return err
		}
		end, err := c.Event()
		if err != nil {
			return err
		}
		b, err := c.Alloc(4000)
		if err != nil {
			return err
		}
		p, err := c.Pinned(100)
		if err != nil {
			return err
		}
		if p.Ptr() == 0 || len(p.Bytes()) != 100 {
			t.Errorf("pinned at %#x, %d bytes", p.Ptr(), len(p.Bytes()))
		}
		words := []uint32{1, 2, 3}
		if err := errors.Join(c.Fill(b, 1, s), Upload(c, b, 8, words), begin.Record(s),
			k.Launch(Launch{Blocks: 2, Threads: 2, Shared: 232448 - 16, Stream: s}, &addParams{b.Ptr, 100, 5}),
			end.Record(s), s.Follow(end), c.Copy(b, 100, b, 8, 12, s)); err != nil {
			return err
		}
		for done := false; !done; {
			if done, err = s.Done(); err != nil {
				return err
			}
		}
		got := make([]uint32, 5)
		if err := errors.Join(end.Synchronize(), s.Synchronize(), Download(c, got[:2], b, 8), Download(c, got[2:], b, 100)); err != nil {
			return err
		}
		if want := []uint32{6, 7, 6, 7, 3}; !slices.Equal(got, want) {
			t.Errorf("words %v, not %v", got, want)
		}
		if took, err := end.Since(begin); took != 1500*time.Microsecond || err != nil {
			t.Errorf("took %v, %v", took, err)
		}
		return errors.Join(c.Free(b), p.Free(), begin.Close(), end.Close(), s.Close(), m.Close())
	})
}

func TestNVRTCGetsAll(t *testing.T) {
	_, b := standIn(t)
	src := Source{Name: "a.cu", Text: "text", Includes: map[string]string{"b.cuh": "B", "a.cuh": "A"}, Options: []string{"-DX=1"}, Debug: true}
	image, err := b.nvrtc.compile(src, Info{Major: 9})
	if err != nil {
		t.Fatal(err)
	}
	want := "image\na.cu: text\na.cuh: A\nb.cuh: B\n--gpu-architecture=sm_90\n--std=c++17\n-device-int128\n-default-device\n--fmad=false\n-lineinfo\n-DWEFT_DEBUG\n-DX=1\n\x00"
	if string(image) != want {
		t.Errorf("image %q, not %q", image, want)
	}
	image, err = b.nvrtc.compile(Source{Name: "a.cu"}, Info{Major: 10})
	if err != nil || !strings.Contains(string(image), "=compute_90\n") {
		t.Errorf("for a newer device: %q, %v", image, err)
	}
	_, err = b.nvrtc.compile(Source{Name: "stack.cu", Text: "#error"}, Info{Major: 9})
	if !errors.Is(err, ErrCompile) || !strings.Contains(err.Error(), "stack.cu(3): error: #error") || !strings.Contains(err.Error(), "NVRTC_ERROR_COMPILATION (6)") {
		t.Errorf("error %v", err)
	}
}

func TestDriverErrors(t *testing.T) {
	d, b := standIn(t)
	err := d.Do(func(c *Context) error {
		_, err := c.Alloc(2 << 20)
		if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "alloc of 2097152 bytes on GPU 1 (Host 41): CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; end other programs") {
			t.Errorf("error %v", err)
		}
		if _, err := b.Load([]byte("junk\x00")); !errors.Is(err, ErrArch) || !strings.Contains(err.Error(), "no image at all") {
			t.Errorf("error %v", err)
		}
		m, err := c.Module(Source{Name: "a.cu", Text: "text"})
		if err != nil {
			return err
		}
		if _, err := m.Kernel("none"); err == nil || !strings.Contains(err.Error(), "kernel none") {
			t.Errorf("error %v", err)
		}
		k, err := m.Kernel("fault")
		if err != nil {
			return err
		}
		if err := k.Launch(Launch{Blocks: 1, Threads: 1}, &addParams{}); err != nil {
			t.Errorf("the launch itself: %v", err)
		}
		return c.Synchronize()
	})
	if !errors.Is(err, ErrLaunch) || !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "CUDA_ERROR_ILLEGAL_ADDRESS") {
		t.Errorf("error %v", err)
	}
}

func TestMissingSymbols(t *testing.T) {
	h, err := dynlib.Open("libc.so.6")
	if err != nil {
		t.Skip("no libc.so.6")
	}
	if _, err := startDriver(h, "libc.so.6", nil); !errors.Is(err, ErrNoDriver) || !strings.Contains(err.Error(), "libc.so.6 lacks cuInit, ") || strings.Contains(err.Error(), "cuFuncGetParamInfo") {
		t.Errorf("error %v", err)
	}
	if _, err := firstNVRTC([]place{{"libc.so.6", fromLoader}}, 13); !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "lacks nvrtcGetErrorString") {
		t.Errorf("error %v", err)
	}
}

// addKernel is the kernel "add" of the stand-in.
func addKernel(t testing.TB, c *Context) *Kernel {
	t.Helper()
	m, err := c.Module(Source{Name: "a.cu", Text: "text"})
	if err == nil {
		var k *Kernel
		if k, err = m.Kernel("add"); err == nil {
			return k
		}
	}
	t.Error(err)
	panic(err)
}

func TestDriverLaunchAllocatesNothing(t *testing.T) {
	d, _ := standIn(t)
	do(t, d, func(c *Context) error {
		k, p := addKernel(t, c), &addParams{}
		if n := testing.AllocsPerRun(100, func() { k.Launch(Launch{Blocks: 1, Threads: 1}, p) }); n != 0 {
			t.Errorf("%v allocations a launch", n)
		}
		return nil
	})
}

// What a launch costs besides the driver's own time.
func BenchmarkDriverLaunch(b *testing.B) {
	d, _ := standIn(b)
	do(b, d, func(c *Context) error {
		k, p := addKernel(b, c), &addParams{}
		for b.Loop() {
			if err := k.Launch(Launch{Blocks: 1, Threads: 1}, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestReasonOfMissingLibrary: the loader's reason is kept for a thread, and goroutines move between threads.
func TestReasonOfMissingLibrary(t *testing.T) {
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 200 {
				if _, err := dynlib.Open("libweft-that-is-not.so"); err == nil || !strings.Contains(err.Error(), "No such file") {
					t.Errorf("error %v", err)
					return
				}
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
}

// TestDriverStartsWithASelection: the library reads the C environment, which is not Go's.
func TestDriverStartsWithASelection(t *testing.T) {
	lib, h := standInLibrary(t)
	t.Setenv(visibleVariable, "1,0")
	for _, c := range []struct {
		ordinals []int
		list     string
		handle   int32 // of the last
	}{{[]int{0}, "1", 41}, {[]int{1}, "0", 40}} {
		s := selectFrom(visible(os.Getenv(visibleVariable), 2), c.ordinals)
		if s == nil || s.list != c.list || s.count != 2 {
			t.Fatalf("selection of %v: %+v", c.ordinals, s)
		}
		a, err := startDriver(h, lib, s)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := a.shown(); n != 1 || err != nil {
			t.Errorf("it shows %d GPUs, %v", n, err)
		}
		if d, err := a.get(c.ordinals[0]); d != c.handle || err != nil {
			t.Errorf("GPU %d is %d, %v", c.ordinals[0], d, err)
		}
		if _, err := a.get(1 - c.ordinals[0]); !errors.Is(err, ErrNoDevice) {
			t.Errorf("the GPU that was left out: %v", err)
		}
		os.Setenv(visibleVariable, "1,0")
	}
	info := func(s *selection, ordinal int) (Info, error) {
		a, err := startDriver(h, lib, s)
		if err != nil {
			return Info{}, err
		}
		return a.describeDevice(ordinal)
	}
	if i, err := info(&selection{[]int{3}, 5, "1"}, 3); i.Ordinal != 3 || i.Name != "Host 41" || err != nil {
		t.Errorf("%+v, %v", i, err)
	}
	for _, s := range []*selection{{[]int{7}, 8, "7"}, {[]int{0, 7}, 8, "0,7"}} {
		if _, err := info(s, 0); !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), visibleVariable+"="+s.list+": it shows ") {
			t.Errorf("GPUs that are not there: %v", err)
		}
	}
	// What starts later has the same environment.
	out, err := exec.Command("sh", "-c", "echo $"+visibleVariable).Output()
	if err != nil || string(out) != "0,7\n" {
		t.Errorf("a process's %s is %q, %v", visibleVariable, out, err)
	}
}
