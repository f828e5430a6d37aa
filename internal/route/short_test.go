package route

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/testing/device"
)

// full is a device whose memory another process has taken, except small pieces.
type full struct {
	cuda.Backend
	piece int64
}

func (b full) Alloc(bytes int64) (uint64, error) {
	if b.piece > 0 && bytes > b.piece {
		return 0, &cuda.Error{Op: "alloc", Text: "out of memory", Kind: cuda.ErrMemory}
	}
	return b.Backend.Alloc(bytes)
}

// shortage is a request for 4-cycles to a GPU, and their number.
func shortage(t *testing.T, piece func(g *graph.Graph) int64) (Request, engine.Uint128) {
	t.Helper()
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 10, M: 5000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("cycle(4)")
	if err != nil {
		t.Fatal(err)
	}
	compile := func(string, string) (*plan.Plan, error) {
		return planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: plan.Nest.String()})
	}
	p, err := compile("", "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	rt := runtime.New(runtime.Options{
		Count: func() (int, error) { return 1, nil },
		Open: func(int) (*cuda.Device, error) {
			return cuda.New(full{device.Backend(t, emu.Options{}), piece(g)}, device.Objects().Images)
		},
	})
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return Request{Runtime: rt, Graph: g, Device: "gpu:0", Engine: "stack", Compile: compile, Options: engine.Options{Threads: 1, Lowered: new(atomic.Int64)}}, want.Matches
}

// justWhole is a little more memory than all arrays of a graph take: too little for a search.
func justWhole(g *graph.Graph) int64 {
	return int64(4*len(g.Out.Adj)+8*len(g.Out.Off)+8*g.NumVertices()) + 25<<10
}

// TestShortTwice: after a run that found too little memory, later and concurrent ones begin with
// the lists in host memory. The plan is lowered once more, and the lists stay there.
func TestShortTwice(t *testing.T) {
	r, want := shortage(t, func(*graph.Graph) int64 { return 0 })
	r.GPUMemory = justWhole(r.Graph)
	c, err := Pick(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	run := func() {
		got, err := c.Run(t.Context(), engine.Goal{})
		if err != nil || got.Matches != want || !strings.Contains(strings.Join(got.Notes, "\n"), "in host memory") {
			t.Errorf("%v matches, notes %q, error %v; want %v", got.Matches, got.Notes, err, want)
		}
	}
	before := r.Options.Lowered.Load()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(run)
	}
	wg.Wait()
	first := r.Options.Lowered.Load()
	run()
	if n := r.Options.Lowered.Load(); n != first || first > before+2 {
		t.Errorf("%d lowerings, then %d, then %d: one for each place, and one for smaller sets", before, first, n)
	}
}

// TestShortAndClosed: another query may take the GPUs before, and after, a run that finds too
// little memory: they are opened again for it.
func TestShortAndClosed(t *testing.T) {
	r, want := shortage(t, func(*graph.Graph) int64 { return 0 })
	r.GPUMemory = justWhole(r.Graph)
	other := r
	other.GPUMemory = 8 << 20
	c, err := Pick(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := Pick(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := c.Run(t.Context(), engine.Goal{})
			if err != nil || got.Matches != want {
				t.Errorf("after %d others: %v matches, error %v; want %v", i+1, got.Matches, err, want)
			}
		}
	}
}

// TestFullDevice: where another process has taken the GPU's memory, lists are read in host memory
// as with a small budget. Where their place was asked for, the error is the device's.
func TestFullDevice(t *testing.T) {
	r, want := shortage(t, func(g *graph.Graph) int64 { return int64(4*len(g.Out.Adj)) - 1 })
	r.Options.Opt = map[string]string{"stack.slot": "32", "stack.blocks": "1", "stack.threads": "32"}
	c, err := Pick(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Run(t.Context(), engine.Goal{})
	if err != nil || got.Matches != want || !strings.Contains(strings.Join(got.Notes, "\n"), "in host memory") {
		t.Errorf("%v matches, notes %q, error %v; want %v", got.Matches, got.Notes, err, want)
	}
	r.Options = gpu.Placed(r.Options, "device")
	if c, err = Pick(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Run(t.Context(), engine.Goal{}); !errors.Is(err, cuda.ErrMemory) || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("%v matches, error %v", got.Matches, err)
	}
}
