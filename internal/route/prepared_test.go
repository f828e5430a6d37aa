package route

import (
	"sync/atomic"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
)

// counting is a device that counts what it compiles.
type counting struct {
	cuda.Backend
	programs atomic.Int64
}

func (b *counting) Compile(src cuda.Source) ([]byte, error) {
	b.programs.Add(1)
	return b.Backend.Compile(src)
}

type rows struct{ n atomic.Int64 }

func (r *rows) Emit(_ int, b *engine.Batch) error {
	r.n.Add(int64(b.Rows))
	return nil
}

// TestLoweredOnce: a query on a GPU is lowered once, in the view that runs, whichever engines
// and plans were looked at before; a second run lowers and compiles nothing.
func TestLoweredOnce(t *testing.T) {
	device.Emulated(t, emu.Options{}) // whose run-time system may be kept: kernels may not
	b := &counting{Backend: device.Backend(t, emu.Options{Optimize: "-O0"})}
	d, err := cuda.New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	rt := finding(1, nil)
	defer rt.Close()
	if err := rt.Instead(d); err != nil {
		t.Fatal(err)
	}
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 6, M: 300, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		engine, pattern, method string
		listing                 bool
		opt                     map[string]string
		runs                    string
	}{
		{"", "clique(4)", "", false, nil, "stack"},
		{"", "gmatch:P5", "nest", false, nil, "fine"},
		{"", "gmatch:P5", "nest", true, nil, "stack"},
		{"stack", "gmatch:P5", "nest", false, nil, "stack"},
		{"stack", "gmatch:P5", "nest", false, map[string]string{"stack.program": "table"}, "stack"},
		{"fine", "gmatch:P2", "", false, nil, "fine"},
		{"codegen", "clique(4)", "", false, nil, "codegen"},
		{"codegen", "gmatch:P5", "nest", false, map[string]string{"codegen.lookup": "hash"}, "codegen"},
		{"codegen", "gmatch:P5", "nest", false, map[string]string{"codegen.lookup": "search"}, "codegen"},
	} {
		ps, err := pattern.ByName(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		var lowered atomic.Int64
		compile := func(method, order string) (*plan.Plan, error) {
			return planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: method, Order: order, Listing: c.listing})
		}
		p, err := compile("nest", "")
		if err != nil {
			t.Fatal(err)
		}
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		choice, err := Pick(t.Context(), Request{
			Runtime: rt,
			Engine:  c.engine, Device: "gpu:0", Graph: g, Method: c.method, Listing: c.listing, Compile: compile,
			Options: engine.Options{Opt: c.opt, Lowered: &lowered},
		})
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if n := lowered.Load(); choice.Engine.Name() != c.runs || n != 1 {
			t.Errorf("%+v: %s, and %d lowerings", c, choice.Engine.Name(), n)
		}
		before := int64(0)
		for i := range 3 {
			var goal engine.Goal
			var out rows
			if c.listing {
				goal.Sink = &out
			}
			r, err := choice.Run(t.Context(), goal)
			if err != nil || r.Matches != want.Matches || c.listing && engine.U64(uint64(out.n.Load())) != want.Matches {
				t.Errorf("%+v: %v, %v; want %v", c, r.Matches, err, want.Matches)
			}
			compiled := b.programs.Load()
			if n := lowered.Load(); n != 1 || i > 0 && compiled != before {
				t.Errorf("%+v, run %d: %d lowerings, %d compilations", c, i, n, compiled-before)
			}
			before = compiled
		}
	}
}
