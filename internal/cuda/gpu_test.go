package cuda

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/runtime/code"
)

// Tests on a GPU. They need nothing but the test program, the driver and NVRTC:
//
//	CGO_ENABLED=0 go test -c -o cuda.test ./internal/cuda
//	WEFT_REQUIRE_GPU=1 ./cuda.test -test.v -test.run GPU
//
// Without a GPU they are skipped, or fail where WEFT_REQUIRE_GPU is set.

func gpu(t testing.TB, ordinal int) *Device {
	t.Helper()
	d, err := Open(ordinal, code.New(code.Folder("")))
	if err != nil {
		if os.Getenv("WEFT_REQUIRE_GPU") != "" {
			t.Fatal(err)
		}
		t.Skipf("not run, no GPU: %v", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// gpuKernels are small programs whose results are known.
const gpuKernels = `
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned __int128 u128;

struct Add { u64 data; u32 n, x; };
extern "C" __global__ void add(Add p) {
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < p.n) ((u32*)p.data)[i] += p.x;
}

struct Wide { u64 in, out; u32 n; };
extern "C" __global__ void wide(Wide p) { // products of 64 bits, summed in 128
	u128 sum = 0;
	const u64* in = (const u64*)p.in;
	for (u32 i = 0; i + 1 < p.n; i++) sum += (u128)in[i] * in[i + 1];
	((u64*)p.out)[0] = (u64)sum;
	((u64*)p.out)[1] = (u64)(sum >> 64);
}

extern __shared__ u32 words[];
struct Big { u64 out; u32 n; };
extern "C" __global__ void big(Big p) { // reverses 0 … n-1 in shared memory
	for (u32 i = threadIdx.x; i < p.n; i += blockDim.x) words[p.n - 1 - i] = i;
	__syncthreads();
	for (u32 i = threadIdx.x; i < p.n; i += blockDim.x) ((u32*)p.out)[i] = words[i];
}

__device__ u64 nanoseconds() { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }

struct Wait { u64 cell, limit; }; // cell: stop flag, progress
extern "C" __global__ void wait(Wait p) { // until the host says stop, or limit nanoseconds
	volatile u64* cell = (volatile u64*)p.cell;
	u64 begin = nanoseconds(), n = 0;
	while (!cell[0] && nanoseconds() - begin < p.limit) { cell[1] = ++n; __threadfence_system(); __nanosleep(1000); }
}

struct Fault { u64 at; };
extern "C" __global__ void fault(Fault p) { *(volatile u32*)p.at = 1; }
`

type (
	gpuWide struct {
		In, Out uint64
		N       uint32
	}
	gpuBig struct {
		Out uint64
		N   uint32
	}
	gpuWait struct {
		Cell  uint64
		Limit uint64
	}
	gpuFault struct{ At uint64 }
)

func gpuKernel(t testing.TB, c *Context, name string) *Kernel {
	t.Helper()
	m, err := c.Module(Source{Name: "test.cu", Text: gpuKernels})
	if err == nil {
		var k *Kernel
		if k, err = m.Kernel(name); err == nil {
			return k
		}
	}
	t.Error(err)
	panic(err)
}

func TestGPUDescription(t *testing.T) {
	d := gpu(t, 0)
	i := d.Info()
	t.Logf("%+v", i)
	if i.Name == "" || i.Major < 7 || i.SMs < 1 || i.WarpSize != 32 || i.Memory < 1<<30 || i.L2 < 1 || i.SharedPerBlock < 48<<10 ||
		i.SharedPerSM < i.SharedPerBlock || i.RegistersPerSM < 1<<15 || i.ThreadsPerSM < 1024 || i.BlocksPerSM < 16 || i.Compiler == "" || i.Emulated {
		t.Error("this is not a description of a GPU")
	}
	for _, f := range Report(code.New(code.Folder(""))) {
		t.Logf("%s: %s; %s", f.What, f.Found, f.Advice)
	}
	do(t, d, func(c *Context) error {
		free, total, err := c.Memory()
		if free < 1 || free > total || total > i.Memory {
			t.Errorf("%d of %d bytes are free", free, total)
		}
		return err
	})
}

func TestGPUAdd(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		k := gpuKernel(t, c, "add")
		t.Logf("%+v", k.Function)
		const n = 1_000_003
		in := make([]uint32, n)
		for i := range in {
			in[i] = uint32(i * i)
		}
		b, err := c.Alloc(4 * n)
		if err != nil {
			return err
		}
		if err := errors.Join(Upload(c, b, 0, in), k.Launch(Launch{Blocks: n/256 + 1, Threads: 256}, &addParams{b.Ptr, n, 17})); err != nil {
			return err
		}
		out := make([]uint32, n)
		if err := Download(c, out, b, 0); err != nil {
			return err
		}
		for i := range in {
			if out[i] != in[i]+17 {
				t.Fatalf("word %d is %d, not %d", i, out[i], in[i]+17)
			}
		}
		if k.ParamBytes != 0 {
			if err := k.Launch(Launch{Blocks: 1, Threads: 1}, &gpuFault{}); !errors.Is(err, ErrLaunch) {
				t.Errorf("with an argument of another size: %v", err)
			}
		}
		return c.Free(b)
	})
}

func TestGPUFillAndCopy(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		b, err := c.Alloc(64)
		if err != nil {
			return err
		}
		s, err := c.Stream()
		if err != nil {
			return err
		}
		got := make([]byte, 64)
		err = errors.Join(c.Fill(b, 7, nil), Upload(c, b, 3, []byte{1, 2}), c.Copy(b, 32, b, 0, 8, s), s.Synchronize(), Download(c, got, b, 0))
		want := slices.Repeat([]byte{7}, 64)
		want[3], want[4], want[35], want[36] = 1, 2, 1, 2
		if !slices.Equal(got, want) {
			t.Errorf("%v, not %v", got, want)
		}
		return errors.Join(err, s.Close(), c.Free(b))
	})
}

func TestGPUWide(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		b, err := c.Alloc(1024)
		if err != nil {
			return err
		}
		// 2·(2^64−1)² = 2^129 − 2^66 + 2; its low 128 bits are 2^64−4 and 2.
		k := gpuKernel(t, c, "wide")
		out := make([]uint64, 2)
		if err := errors.Join(Upload(c, b, 0, []uint64{1<<64 - 1, 1<<64 - 1, 1<<64 - 1}),
			k.Launch(Launch{Blocks: 1, Threads: 1}, &gpuWide{b.Ptr, b.Ptr + 512, 3}), Download(c, out, b, 512)); err != nil {
			return err
		}
		if want := []uint64{2, 1<<64 - 4}; !slices.Equal(out, want) {
			t.Errorf("%x, not %x", out, want)
		}
		return c.Free(b)
	})
}

func TestGPUSharedMemory(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		k := gpuKernel(t, c, "big")
		most := d.Info().SharedPerBlock - k.SharedStatic
		if most <= 48<<10 {
			t.Logf("the GPU has only %d bytes a block", most)
		}
		n := most / 4
		b, err := c.Alloc(int64(4 * n))
		if err != nil {
			return err
		}
		if err := k.Launch(Launch{Blocks: 1, Threads: 256, Shared: most}, &gpuBig{b.Ptr, uint32(n)}); err != nil {
			return err
		}
		out := make([]uint32, n)
		if err := Download(c, out, b, 0); err != nil {
			return err
		}
		for i := range out {
			if out[i] != uint32(n-1-i) {
				t.Fatalf("word %d is %d", i, out[i])
			}
		}
		full, err := k.Occupancy(256, most)
		if err != nil {
			return err
		}
		little, err := k.Occupancy(256, 1024)
		if full != 1 || little <= full {
			t.Errorf("occupancy with %d bytes: %d, with 1024: %d", most, full, little)
		}
		return errors.Join(err, c.Free(b))
	})
}

func TestGPUDebugAndIncludes(t *testing.T) {
	d := gpu(t, 0)
	do(t, d, func(c *Context) error {
		m, err := c.Module(Source{Name: "debug.cu", Debug: true, Options: []string{"-DX=5", "--maxrregcount=32"},
			Includes: map[string]string{"inner.cuh": "#include \"deep.cuh\"\n", "deep.cuh": "#if !defined(WEFT_DEBUG) || X != 5\n#error\n#endif\ntypedef unsigned long long u64;\n"},
			Text:     "#include \"inner.cuh\"\nstruct P { u64 at; };\nextern \"C\" __global__ void k(P p) { *(u64*)p.at = X; }\n"})
		if err != nil {
			return err
		}
		k, err := m.Kernel("k")
		if err == nil && k.Registers > 32 {
			t.Errorf("%d registers", k.Registers)
		}
		return err
	})
}

// All devices at once, each with a goroutine; the program is compiled once for those of one kind.
func TestGPUSeveral(t *testing.T) {
	gpu(t, 0)
	n, err := Count()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d GPUs", n)
	dir := t.TempDir()
	shared := code.New(dir)
	var wg sync.WaitGroup
	for i := range n {
		d := gpu(t, i)
		d.modules.images = shared
		wg.Go(func() {
			err := d.Do(func(c *Context) error {
				k := gpuKernel(t, c, "add")
				b, err := c.Alloc(40)
				if err != nil {
					return err
				}
				out := make([]uint32, 10)
				err = errors.Join(c.Clear(b, nil), k.Launch(Launch{Blocks: 1, Threads: 10}, &addParams{b.Ptr, 10, uint32(i + 1)}), Download(c, out, b, 0), c.Free(b))
				if want := slices.Repeat([]uint32{uint32(i + 1)}, 10); err == nil && !slices.Equal(out, want) {
					err = fmt.Errorf("%v, not %v", out, want)
				}
				return err
			})
			if err != nil {
				t.Errorf("GPU %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	archs := map[string]bool{}
	for i := range n {
		if info, err := Open(i, shared); err == nil {
			archs[info.Info().Arch()] = true
			info.Close()
		}
	}
	if files, _ := shared.Count(); files != len(archs) {
		t.Errorf("%d images for %d architectures", files, len(archs))
	}
}
