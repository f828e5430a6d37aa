package partition_test

import (
	"errors"
	"sync"
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
	open := func(memory int64) *session.Session {
		s, err := session.Open([]*cuda.Device{device.Emulated(t, emu.Options{SMs: 1})}, session.Options{Memory: memory, Ring: 1 << 12})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	check := func(t *testing.T, rows int, err error) {
		t.Helper()
		if rows == 0 || err == nil || errors.Is(err, session.ErrShort) || errors.Is(err, cuda.ErrClosed) {
			t.Errorf("%d rows, and then %v", rows, err)
		}
	}
	t.Run("closed", func(t *testing.T) {
		g := generate(t, gen.Spec{Model: "rmat", Scale: 6, M: 250, Seed: 2})
		p := compile(t, g, "triangle", plan.Options{Listing: true})
		s := open(1 << 22)
		var closed sync.WaitGroup
		var once sync.Once
		rows := 0
		sink := emitter(func(b *engine.Batch) {
			rows += b.Rows
			once.Do(func() { closed.Go(func() { _ = s.Close() }) })
		})
		_, err := engine.Once(t.Context(), over(s), g, p, engine.Options{Listing: true, Opt: map[string]string{"partition.parts": "6"}}, engine.Goal{Sink: sink})
		closed.Wait()
		check(t, rows, err)
	})
	t.Run("short", func(t *testing.T) {
		// The parts of the vertices take 2 bytes each, which do not fit.
		g := generate(t, gen.Spec{Model: "er", N: 1 << 16, M: 40000, Seed: 1})
		p := compile(t, g, "path(3)", plan.Options{Listing: true})
		s := open(80 << 10)
		defer s.Close()
		rows := 0
		_, err := engine.Once(t.Context(), over(s), g, p, engine.Options{Listing: true}, engine.Goal{Sink: emitter(func(b *engine.Batch) { rows += b.Rows })})
		check(t, rows, err)
		if !errors.Is(err, cuda.ErrMemory) {
			t.Error(err)
		}
	})
}

// emitter is a sink.
type emitter func(b *engine.Batch)

func (f emitter) Emit(_ int, b *engine.Batch) error {
	f(b)
	return nil
}
