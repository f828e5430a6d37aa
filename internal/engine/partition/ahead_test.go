package partition_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// watched is an engine that counts the graphs that were prepared, and knows how many are being searched.
type watched struct {
	engine.Engine
	running, parts atomic.Int64
}

type watchedRun struct {
	engine.Prepared
	e *watched
}

func (e *watched) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	e.parts.Add(1)
	ready, err := e.Engine.Prepare(ctx, g, p, o)
	return &watchedRun{ready, e}, err
}

func (r *watchedRun) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	r.e.running.Add(1)
	defer r.e.running.Add(-1)
	return r.Prepared.Run(ctx, goal)
}

// TestHostMemory: the graph of a part is made ahead only where the host's memory has room for it beside the one that is
// searched. If it has no room even for one, the error says how much is needed.
func TestHostMemory(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 8, M: 1500, Seed: 1})
	p := compile(t, g, "triangle", plan.Options{})
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	engines.WithSession(t, session.Options{}, func(s *session.Session) {
		inner := &watched{Engine: join.NewGPU(s)}
		ready := func(o engine.Options) engine.Prepared {
			o.Opt = map[string]string{"partition.parts": "4"}
			x, err := partition.New(s, func(*session.Session) []engine.Engine { return []engine.Engine{inner} }).Prepare(t.Context(), g, p, o)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}

		x, checks, together := ready(engine.Options{}), 0, 0
		inner.parts.Store(0)
		partition.SetCheck(x, func(what string, need uint64, _ int64) error {
			if checks++; checks > 1 && checks%2 == 0 { // there is room when the part before is freed
				return &memory.Error{What: what, Need: need}
			}
			if inner.running.Load() > 0 {
				together++
			}
			return nil
		})
		got, err := x.Run(t.Context(), engine.Goal{})
		if err != nil || got.Matches != want.Matches || !got.Complete {
			t.Errorf("%v (complete %v, %v), want %v", got.Matches, got.Complete, err, want.Matches)
		}
		if said := strings.Join(got.Stats, "\n"); !strings.Contains(said, "the graphs of 3 parts were made when some of those before were freed") {
			t.Error(said)
		}
		if inner.parts.Load() != 4 || together != 0 {
			t.Errorf("%d graphs of parts, %d of them made while one was searched", inner.parts.Load(), together)
		}

		inner.parts.Store(0)
		got, err = ready(engine.Options{Memory: 1 << 10}).Run(t.Context(), engine.Goal{})
		var short *memory.Error
		if !errors.As(err, &short) || short.Need < uint64(4*g.NumVertices()) || !strings.Contains(fmt.Sprint(err), "--memory allows") || !got.Matches.IsZero() {
			t.Errorf("%v, %v", got.Matches, err)
		}
		if inner.parts.Load() != 1 { // the whole graph, before the run, and no part
			t.Errorf("%d graphs were prepared", inner.parts.Load())
		}
	}, device.Emulated(t, emu.Options{SMs: 1}))
}
