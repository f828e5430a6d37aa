package route

import (
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestLittleMemory: a GPU asked for by name counts with neighbour lists in host memory, if the
// graph does not fit or leaves too little memory for the search. The choice or the result says
// so. Where weft chose the GPU itself, the processor counts.
func TestLittleMemory(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 10, M: 5000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("cycle(4)")
	if err != nil {
		t.Fatal(err)
	}
	compile := func(method, _ string) (*plan.Plan, error) {
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: plan.Nest.String()})
		if p != nil {
			p.Price = 1e12
		}
		return p, err
	}
	p, err := compile("", "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	lists, whole := int64(4*len(g.Out.Adj)), int64(4*len(g.Out.Adj)+8*len(g.Out.Off)+8*g.NumVertices())
	const counters = 25 << 10 // and a little more
	for _, c := range []struct {
		name           string
		device, place  string
		memory         int64
		engine, reason string // in the choice's reason; "-": nothing of host memory
		note           string
		refused        bool
	}{
		{"fits", "gpu:0", "", 1 << 20, "stack", "-", "", false},
		{"does not fit", "gpu:0", "", lists + 28<<10, "stack", "stay in host memory", "the graph does not fit", false},
		{"leaves too little", "gpu:0", "", whole + counters, "stack", "-", "too little memory of the GPU besides the graph", false},
		{"leaves too little on the device", "gpu:0", "device", whole + counters, "stack", "-", "", true},
		{"asked for", "gpu:0", "host", 1 << 20, "stack", "stay in host memory", "", false},
		{"chosen by itself", "", "", lists + 28<<10, "host", "-", "counted on the processor", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := runtime.New(runtime.Options{
				Count: func() (int, error) { return 1, nil },
				Open: func(int) (*cuda.Device, error) {
					return cuda.New(device.Backend(t, emu.Options{}), device.Objects().Images)
				},
			})
			defer func() {
				if err := rt.Close(); err != nil {
					t.Error(err)
				}
			}()
			r := Request{Runtime: rt, Graph: g, Device: c.device, GPUMemory: c.memory, Compile: compile, Options: engine.Options{Threads: 1, Opt: map[string]string{}}}
			if c.device != "" {
				r.Engine = "stack"
			}
			if c.place != "" {
				r.Options.Opt[gpu.Adjacency] = c.place
			}
			choice, err := Pick(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Contains(choice.Reason, "host memory"); said != (c.reason != "-") || said && !strings.Contains(choice.Reason, c.reason) {
				t.Errorf("reason %q", choice.Reason)
			}
			got, err := choice.Run(t.Context(), engine.Goal{})
			if c.refused {
				if err == nil || !got.Matches.IsZero() {
					t.Errorf("%v matches, error %v", got.Matches, err)
				}
				return
			}
			if err != nil || got.Matches != want.Matches || !got.Complete || got.Engine != c.engine {
				t.Errorf("%v matches by %s, complete %v, want %v: %v", got.Matches, got.Engine, got.Complete, want.Matches, err)
			}
			if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("notes %q", got.Notes)
			}
		})
	}
}
