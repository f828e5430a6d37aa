package route

import (
	"strings"
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

// fewCounters is a little more device memory than stack needs for its counters, and too little for a search.
const fewCounters = 25 << 10

// crossroads is a graph and a search in it that is expected to take long.
func crossroads(t *testing.T) (*graph.Graph, func(method, order string) (*plan.Plan, error)) {
	t.Helper()
	return cyclesOf(t, gen.Spec{Model: "rmat", Scale: 10, M: 5000, Seed: 1})
}

// cyclesOf is crossroads in a generated graph.
func cyclesOf(t *testing.T, spec gen.Spec) (*graph.Graph, func(method, order string) (*plan.Plan, error)) {
	t.Helper()
	g, err := gen.Generate(t.Context(), spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("cycle(4)")
	if err != nil {
		t.Fatal(err)
	}
	return g, func(method, _ string) (*plan.Plan, error) {
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: plan.Nest.String()})
		if p != nil {
			p.Price = 1e12
		}
		return p, err
	}
}

// TestLittleMemory: a GPU asked for by name counts with neighbour lists in host memory, if the
// graph does not fit or leaves too little memory for the search. The choice or the result says
// so. Where weft chose the GPU itself, the same holds if that is expected to be faster than the processor.
func TestLittleMemory(t *testing.T) {
	g, compile := crossroads(t)
	p, err := compile("", "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil || want.Matches.IsZero() {
		t.Fatal(want.Matches, err)
	}
	lists, whole := int64(4*len(g.Out.Adj)), int64(4*len(g.Out.Adj)+8*len(g.Out.Off)+8*g.NumVertices())
	for _, c := range []struct {
		name           string
		device, place  string
		memory         int64
		engine, reason string // in the choice's reason; "-": nothing of host memory
		note           string
		refused        bool
		threads        int
	}{
		{"fits", "gpu:0", "", 1 << 20, "stack", "-", "", false, 1},
		{"does not fit", "gpu:0", "", lists + 28<<10, "stack", "stay in host memory", "the graph does not fit", false, 1},
		{"leaves too little", "gpu:0", "", whole + fewCounters, "stack", "-", "too little memory of the GPU besides the graph", false, 1},
		{"leaves too little on the device", "gpu:0", "device", whole + fewCounters, "stack", "-", "", true, 1},
		{"asked for", "gpu:0", "host", 1 << 20, "stack", "stay in host memory", "", false, 1},
		{"chosen by itself, fits", "", "", 1 << 20, "stack", "-", "", false, 1},
		{"chosen by itself", "", "", lists + 28<<10, "stack", "with lists in host memory, and copies for", "the graph does not fit", false, 1},
		{"chosen by itself without a cache", "", "host", 1 << 20, "stack", "with lists in host memory", "", false, 1},
		{"chosen by itself, to be on the device", "", "device", lists + 28<<10, "host", "gpu:0 cannot", "on the processor, since gpu:0 cannot", false, 1},
		{"chosen by itself, search does not fit", "", "", whole + fewCounters, "stack", "with lists in host memory", "too little memory of the GPU besides the graph", false, 1},
		{"processor is faster", "", "", lists/2 + 20<<10, "host", "with lists in host memory", "the graph does not fit the memory of gpu:0", false, 64},
		{"processor is faster in any case", "", "", lists + 28<<10, "host", "the graph does not fit", "the graph does not fit the memory of gpu:0", false, 200},
		{"too little for any search", "", "", 20 << 10, "host", "bytes are the least", "bytes are the least that this query works with", false, 1},
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
			r := Request{Runtime: rt, Graph: g, Device: c.device, GPUMemory: c.memory, Compile: compile, Options: engine.Options{Threads: c.threads, Opt: map[string]string{}}}
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
			if c.reason == "-" && strings.Contains(choice.Reason, "host memory") || c.reason != "-" && !strings.Contains(choice.Reason, c.reason) || choice.Engine.Name() != c.engine {
				t.Errorf("%s: reason %q", choice.Engine.Name(), choice.Reason)
			}
			switch m, err := choice.Memory(t.Context(), engine.Goal{}); {
			case err != nil || (m == nil) != (c.engine == "host"):
				t.Errorf("memory %+v, error %v", m, err)
			case m == nil:
			case (m.Budget != c.memory || (m.Host() > 0) != (c.reason != "-" || c.note != "") || m.Least > c.memory || (m.Least > 0) == c.refused):
				t.Errorf("memory %+v", m)
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
			if notes := strings.Join(append(got.Notes, choice.Notes...), "\n"); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// crowded is a device of which another process has some memory.
type crowded struct {
	cuda.Backend
	taken atomic.Int64
}

func (c *crowded) Memory() (free, total int64, err error) {
	free, total, err = c.Backend.Memory()
	return max(free-c.taken.Load(), 0), total, err
}

func (c *crowded) Alloc(bytes int64) (uint64, error) {
	if free, _, err := c.Memory(); err == nil && bytes > free {
		return 0, &cuda.Error{Op: "alloc", Kind: cuda.ErrMemory}
	}
	return c.Backend.Alloc(bytes)
}

// TestTakenMemory: a search whose neighbour lists were in host memory, because another process had the
// GPU's memory, has them on the GPU again once that process has given some back.
func TestTakenMemory(t *testing.T) {
	b := &crowded{Backend: device.Backend(t, emu.Options{})}
	d, err := cuda.New(b, device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	rt := finding(1, nil)
	defer rt.Close()
	if err := rt.Instead(d); err != nil {
		t.Fatal(err)
	}
	g, compile := crossroads(t)
	r := Request{Runtime: rt, Graph: g, Device: "gpu:0", Engine: "stack", Compile: compile, Options: engine.Options{Threads: 1, Opt: map[string]string{}}}
	choice, err := Pick(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var want engine.Uint128
	for i, outside := range []bool{false, true, true, false, false} {
		switch i {
		case 1: // the arrays are on the device, and the search's own memory no longer fits
			choice.free(t.Context()) // gives back what is kept for scratch memory
			free, _, err := b.Memory()
			if err != nil {
				t.Fatal(err)
			}
			b.taken.Store(free - fewCounters)
		case 3:
			b.taken.Store(0)
		}
		got, err := choice.Run(t.Context(), engine.Goal{})
		if err != nil || !got.Complete {
			t.Fatal(i, err)
		}
		if i == 0 {
			want = got.Matches
		}
		if said := strings.Contains(strings.Join(got.Notes, " "), "host memory"); got.Matches != want || want.IsZero() || said != outside {
			t.Errorf("run %d: %v matches, want %v; %q", i, got.Matches, want, got.Notes)
		}
	}
}
