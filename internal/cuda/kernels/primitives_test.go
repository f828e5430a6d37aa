package kernels_test

import (
	_ "embed"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/testing/device"
)

//go:embed testdata/primitives.cu
var primitives string

// bench is a device's context with the kernels of primitives.cu, and ends the test with the first error.
type bench struct {
	*testing.T
	c *cuda.Context
	m *cuda.Module
}

// onEach runs f on each device inside Do.
func onEach(t *testing.T, f func(b *bench)) {
	t.Helper()
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		err := d.Do(func(c *cuda.Context) error {
			m, err := c.Module(cuda.Source{Name: "primitives.cu", Text: primitives, Includes: kernels.Includes(primitives)})
			if err != nil {
				return err
			}
			f(&bench{T: t, c: c, m: m})
			return m.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func (b *bench) must(err error) {
	if err != nil {
		b.Helper()
		panic(err)
	}
}

func (b *bench) kernel(name string) *cuda.Kernel {
	k, err := b.m.Kernel(name)
	b.must(err)
	return k
}

// run launches a kernel and waits for its end.
func (b *bench) run(name string, blocks, threads, shared int, params any) {
	b.Helper()
	b.must(b.kernel(name).Launch(cuda.Launch{Blocks: blocks, Threads: threads, Shared: shared}, params))
	b.must(b.c.Synchronize())
}

// up puts a slice into device memory, and down gets it back.
func up[T any](b *bench, data []T) cuda.Buffer {
	var zero T
	buf, err := b.c.Alloc(int64(len(data)) * int64(unsafe.Sizeof(zero)))
	b.must(err)
	b.must(cuda.Upload(b.c, buf, 0, data))
	return buf
}

func down[T any](b *bench, buf cuda.Buffer, n int) []T {
	out := make([]T, n)
	b.must(cuda.Download(b.c, out, buf, 0))
	b.must(b.c.Free(buf))
	return out
}

func random() *rand.Rand { return rand.New(rand.NewPCG(7, 11)) }

// ask is what a lane gets; see primitives.cu.
type ask struct {
	Wide               uint64
	Mask, X, By, Width uint32
}

// asks cuts each warp into random groups, whose lanes get each other's mask and the number of one of them.
func asks(r *rand.Rand, n int) []ask {
	all := make([]ask, n)
	for w := 0; w < n; w += 32 {
		group := make([]uint32, 1+r.IntN(8))
		var of [32]int
		for l := range of {
			of[l] = r.IntN(len(group))
			group[of[l]] |= 1 << l
		}
		width := uint32(1) << r.IntN(6)
		small := r.IntN(2) == 0
		for l := range of {
			a := ask{Wide: r.Uint64(), X: r.Uint32(), Mask: group[of[l]], Width: width}
			if small { // so that some are the same
				a.X %= 3
				a.Wide = 1<<40 + a.Wide%3
			}
			for a.By = uint32(r.IntN(32)); a.Mask>>a.By&1 == 0; a.By = uint32(r.IntN(32)) {
			}
			all[w+l] = a
		}
	}
	return all
}

const (
	someBlocks, someThreads, someRounds = 6, 96, 12
	someLanes                           = someBlocks * someThreads * someRounds
)

// asking is the argument of most kernels: what comes in, what goes out, how much.
type asking struct {
	In, Out uint64
	N       uint32
	_       uint32
}

// lanesOf calls f for each lane of lane i's mask, with what it was asked.
func lanesOf(in []ask, i int, f func(l int, a ask)) {
	for l := range 32 {
		if in[i].Mask>>l&1 != 0 {
			f(l, in[i/32*32+l])
		}
	}
}
