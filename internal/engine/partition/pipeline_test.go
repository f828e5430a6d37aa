package partition_test

import (
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// noting notes launches and copies with their streams, and downloads, in their order.
type noting struct {
	cuda.Backend
	mu    sync.Mutex
	calls []call
}

type call struct {
	what   byte // l: launch, i: copy to the device, o: copy from it
	stream cuda.Handle
}

func (b *noting) note(what byte, stream cuda.Handle) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, call{what, stream})
}

func (b *noting) Launch(f cuda.Handle, blocks, threads, shared int, stream cuda.Handle, params unsafe.Pointer, bytes int) error {
	b.note('l', stream)
	return b.Backend.Launch(f, blocks, threads, shared, stream, params, bytes)
}

func (b *noting) CopyIn(dst uint64, src unsafe.Pointer, bytes int64, stream cuda.Handle) error {
	b.note('i', stream)
	return b.Backend.CopyIn(dst, src, bytes, stream)
}

func (b *noting) CopyOut(dst unsafe.Pointer, src uint64, bytes int64, stream cuda.Handle) error {
	b.note('o', stream)
	return b.Backend.CopyOut(dst, src, bytes, stream)
}

// TestPipeline: the lists of the next rows are copied, in a stream of their own, after the kernel of the rows before was
// launched and before the host waits for it.
func TestPipeline(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 9, M: 4000, Seed: 1})
	p := compile(t, g, "triangle", plan.Options{})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	b := &noting{Backend: device.Backend(t, emu.Options{SMs: 1})}
	d, err := cuda.New(b, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	engines.WithSession(t, session.Options{Memory: 56 << 10}, func(s *session.Session) {
		o := engine.Options{Opt: map[string]string{"partition.parts": "4"}}
		got, err := engine.Once(t.Context(), over(s), g, p, o, engine.Goal{})
		if err != nil || got.Matches != want.Matches {
			t.Fatal(got.Matches, err)
		}
		if said := strings.Join(got.Stats, "\n"); !strings.Contains(said, "while kernels ran for") {
			t.Errorf("statistics: %s", said)
		}
		var c gpu.Copies
		if !c.Read(got.Stats) || c.Bytes == 0 || c.Took == 0 || c.Hidden > c.Took {
			t.Errorf("copies %+v: %v", c, got.Stats)
		}
	}, d)
	ahead := 0
	for i, x := range b.calls {
		if x.what != 'l' {
			continue
		}
		// Its stream's next copy to the host waits for it.
		for _, y := range b.calls[i+1:] {
			if y.what == 'o' && y.stream == x.stream {
				break
			}
			if y.what == 'i' && y.stream != x.stream {
				ahead++
			}
		}
	}
	if ahead == 0 {
		t.Error("no lists were copied while a kernel ran")
	}
}
