package partition_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestNotAgain: a caller repeats a run whose error says that nothing was searched. A listing that has handed rows over, and
// then finds the GPU closed or too small, must not say so: the caller would list these rows twice.
func TestNotAgain(t *testing.T) {
	open := func(t *testing.T, memory int64) *session.Session {
		t.Helper()
		s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{SMs: 1})}, session.Options{Memory: memory, Ring: 1 << 12})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	check := func(t *testing.T, rows int64, err error) {
		t.Helper()
		if rows == 0 || err == nil || errors.Is(err, session.ErrShort) || errors.Is(err, cuda.ErrClosed) {
			t.Errorf("%d rows, and then %v", rows, err)
		}
	}
	t.Run("closed", func(t *testing.T) {
		g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 250, Seed: 2})
		p := compile(t, g, "triangle", plan.Options{Listing: true})
		s := open(t, 1<<22)
		var closed sync.WaitGroup
		var once sync.Once
		var rows atomic.Int64
		sink := emitter(func(b *engine.Batch) {
			rows.Add(int64(b.Rows))
			once.Do(func() { closed.Go(func() { _ = s.Close() }) })
		})
		_, err := engine.Once(t.Context(), over(s), g, p, engine.Options{Listing: true, Opt: map[string]string{"partition.parts": "6"}}, engine.Goal{Sink: sink})
		closed.Wait()
		check(t, rows.Load(), err)
	})
	t.Run("short", func(t *testing.T) {
		g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 250, Seed: 2})
		p := compile(t, g, "triangle", plan.Options{Listing: true})
		refused := 0
		for n := 1; n <= 60; n += 3 {
			d, err := cuda.New(&cuda.Faults{Backend: device.Backend(t, emu.Options{SMs: 1}), FailAlloc: n}, device.Objects().Images)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: 1 << 22, Ring: 1 << 12})
			if err != nil {
				continue
			}
			defer s.Close()
			var rows atomic.Int64
			o := engine.Options{Listing: true, Opt: map[string]string{"partition.parts": "2"}}
			_, err = engine.Once(t.Context(), over(s), g, p, o, engine.Goal{Sink: emitter(func(b *engine.Batch) { rows.Add(int64(b.Rows)) })})
			if rows.Load() > 0 && err != nil {
				check(t, rows.Load(), err)
				refused++
				if !errors.Is(err, cuda.ErrMemory) {
					t.Error(err)
				}
			}
		}
		if refused == 0 {
			t.Error("the device refused no memory after rows were handed over")
		}
	})
}

// emitter is a sink. Workers call it at the same time.
type emitter func(b *engine.Batch)

func (f emitter) Emit(_ int, b *engine.Batch) error {
	f(b)
	return nil
}
