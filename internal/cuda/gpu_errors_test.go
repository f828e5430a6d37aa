package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/runtime/code"
)

func TestGPUOutOfMemory(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		_, err := c.Alloc(d.Info().Memory * 2)
		if !errors.Is(err, ErrMemory) || errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "CUDA_ERROR_OUT_OF_MEMORY") {
			t.Errorf("error %v", err)
		}
		b, err := c.Alloc(1 << 20) // and goes on
		return errors.Join(err, c.Clear(b, nil), c.Free(b))
	})
}

func TestGPUCompileError(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		for _, src := range []Source{
			{Name: "bad.cu", Text: "#include \"a.cuh\"\n\nextern \"C\" __global__ void k() { unknown(); }\n", Includes: map[string]string{"a.cuh": "// nothing\n"}},
			{Name: "bad.cu", Text: "#include \"none.cuh\"\n"},
			{Name: "bad.cu", Text: "int x;", Options: []string{"--no-such-option"}},
		} {
			_, err := c.Module(src)
			t.Log(err)
			var e *Error
			if !errors.Is(err, ErrCompile) || !errors.As(err, &e) || e.Log == "" || !strings.Contains(err.Error(), "compile of bad.cu") {
				t.Errorf("error %v", err)
			}
			if strings.Contains(src.Text, "unknown") && !strings.Contains(e.Log, "bad.cu(3)") {
				t.Error("the log does not name line 3")
			}
		}
		m, err := c.Module(Source{Name: "test.cu", Text: gpuKernels})
		if err != nil {
			return err
		}
		_, err = m.Kernel("nothing")
		if err == nil || !strings.Contains(err.Error(), "nothing") {
			t.Errorf("a kernel that is not there: %v", err)
		}
		return nil
	})
}

// A device that NVRTC does not know gets the text of an older architecture, which the driver translates.
func TestGPUOlderCompiler(t *testing.T) {
	gpu(t, 0)
	n, err := loadNVRTC()
	if err != nil {
		t.Fatal(err)
	}
	older := *n
	older.archs = older.archs[:1]
	b := &driver{nvrtc: &older}
	d, err := New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	do(t, d, func(c *Context) error {
		image, err := b.Compile(Source{Name: "test.cu", Text: gpuKernels})
		if err != nil {
			return err
		}
		if arch := fmt.Sprintf(".target sm_%d", older.archs[0]); d.Info().Major*10+d.Info().Minor != older.archs[0] && !strings.Contains(string(image), arch) {
			t.Errorf("the image has no %q", arch)
		}
		h, err := b.Load(image)
		if err != nil {
			return err
		}
		_, _, err = b.Function(h, "wide")
		return err
	})
}

func TestGPUBrokenImage(t *testing.T) {
	d := gpu(t, 0)
	images := code.New(t.TempDir())
	d.modules.images = images
	do(t, d, func(c *Context) error {
		src := Source{Name: "test.cu", Text: gpuKernels}
		broken := func() ([]byte, error) { return []byte("a whole file that is not an image\x00"), nil }
		if _, _, err := images.Get(t.Context(), src.key(d.Info()), broken); err != nil {
			return err
		}
		m, err := c.Module(src)
		if err != nil {
			return err
		}
		return second(m.Kernel("add"))
	})
}

// faults are writes that end the use of the device, each in a process of its own. The first page belongs to nobody,
// also where a GPU sees all memory of the process and most addresses are somebody's.
var faults = []struct {
	name string
	at   func(b Buffer) uint64
	want string
}{
	{"first page", func(Buffer) uint64 { return 64 }, "CUDA_ERROR_ILLEGAL_ADDRESS"},
	{"not aligned", func(b Buffer) uint64 { return b.Ptr + 1 }, "CUDA_ERROR_MISALIGNED_ADDRESS"},
}

// A kernel that writes to a wrong address ends the use of the device, not the program.
func TestGPUIllegalAddress(t *testing.T) {
	gpu(t, 0)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			cmd := exec.Command(self, "-test.v", "-test.run=^TestGPUAfterFault$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("WEFT_TEST_FAULT=%d", i))
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestGPUAfterFault is the process that TestGPUIllegalAddress starts.
func TestGPUAfterFault(t *testing.T) {
	i, err := strconv.Atoi(os.Getenv("WEFT_TEST_FAULT"))
	if err != nil {
		t.Skip("TestGPUIllegalAddress runs it")
	}
	f := faults[i]
	d, err := Open(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = d.Do(func(c *Context) error {
		b, err := c.Alloc(64)
		if err != nil {
			return err
		}
		if err := gpuKernel(t, c, "fault").Launch(Launch{Blocks: 1, Threads: 1}, &gpuFault{f.at(b)}); err != nil {
			return err
		}
		return c.Synchronize()
	})
	t.Log(err)
	if !errors.Is(err, ErrLaunch) || !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), f.want) {
		t.Errorf("error %v, want %s", err, f.want)
	}
	if err := d.Do(func(c *Context) error { return nil }); !errors.Is(err, ErrLost) {
		t.Errorf("later: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	again, err := Open(0, nil)
	t.Logf("opened again: %v", err)
	if err == nil {
		err = again.Do(func(c *Context) error { return second(c.Alloc(100)) })
		t.Logf("used again: %v, %v", err, again.Close())
	}
}

func TestGPUNoSuchDevice(t *testing.T) {
	gpu(t, 0)
	for _, n := range []int{-1, 1000} {
		if _, err := Open(n, nil); !errors.Is(err, ErrNoDevice) {
			t.Errorf("GPU %d: %v", n, err)
		}
	}
}
