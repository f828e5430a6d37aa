package route

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestLessMemory: on a GPU that was asked for by name, a query whose engine needs more memory than there is for its lists of roots runs in another way, and
// the result and what explain shows say so. Of an engine that was asked for by name the error stays.
func TestLessMemory(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 12, M: 4000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("cycle(4)")
	if err != nil {
		t.Fatal(err)
	}
	compile := func(method, _ string) (*plan.Plan, error) {
		return planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: method})
	}
	p, err := compile(plan.Nest.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	for _, c := range []struct {
		engine string
		memory int64
		method plan.Method
	}{{"", 1 << 20, plan.Local}, {"", 40 << 10, plan.Nest}, {"stack", 40 << 10, plan.Local}} {
		rt := runtime.New(runtime.Options{
			Count: func() (int, error) { return 1, nil },
			Open: func(int) (*cuda.Device, error) {
				return cuda.New(device.Backend(t, emu.Options{SMs: 1}), device.Objects().Images)
			},
		})
		r := Request{Runtime: rt, Graph: g, Device: "gpu:0", Engine: c.engine, GPUMemory: c.memory, Compile: compile, Options: engine.Options{Threads: 1, Opt: map[string]string{}}}
		choice, err := Pick(t.Context(), r)
		if err != nil || choice.Plan.Method != plan.Local {
			t.Fatal(choice.Plan, err)
		}
		explained := choice
		m, err := explained.Memory(t.Context(), engine.Goal{})
		if err != nil || explained.Plan.Method != c.method || (m.Least <= m.Budget) != (c.engine == "") {
			t.Errorf("%+v: %v by method %v, %+v", c, err, explained.Plan.Method, m)
		}
		for i, now := range []Choice{explained, choice, choice} {
			got, err := now.Run(t.Context(), engine.Goal{})
			if c.engine != "" {
				if session.LeastOf(err) <= c.memory {
					t.Errorf("%+v: %v", c, err)
				}
				continue
			}
			if err != nil || got.Matches != want.Matches || !got.Complete || got.Plan.Method != c.method {
				t.Errorf("%+v, run %d: %v matches by method %v (complete %v), want %v: %v", c, i, got.Matches, got.Plan.Method, got.Complete, want.Matches, err)
			}
			if said := strings.Contains(strings.Join(append(got.Notes, now.Notes...), "\n"), "would need"); said != (c.method == plan.Nest) {
				t.Errorf("%+v, run %d: %q", c, i, got.Notes)
			}
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}
