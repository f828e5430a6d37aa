package partition_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/kernels/check"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
)

// over returns the engine for a session, with two engines for the parts.
func over(s *session.Session) engine.Engine {
	return partition.New(s, func(s *session.Session) []engine.Engine { return []engine.Engine{join.NewGPU(s), stack.New(s)} })
}

// joins is an engine for the parts alone.
func joins(s *session.Session) []engine.Engine { return []engine.Engine{join.NewGPU(s)} }

// room is the memory of a session: little on an emulated device, and on a GPU, whose grids need some megabytes, more.
func room(d *cuda.Device) int64 {
	if d.Info().Emulated {
		return 1 << 22
	}
	return 1 << 28
}

func generate(t *testing.T, spec gen.Spec) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(t.Context(), spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func compile(t *testing.T, g *graph.Graph, name string, o plan.Options) *plan.Plan {
	t.Helper()
	ps, err := pattern.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	o.Root = plan.NoRoot
	p, err := planner.Compile(g, ps[0], o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCounts: with any number of parts, with tables of any size, shared or not, counts are those of the processor.
func TestCounts(t *testing.T) {
	spec := gen.Spec{Model: "rmat", Scale: 6, M: 150, Seed: 1}
	if long.Asked() {
		spec = gen.Spec{Model: "rmat", Scale: 7, M: 400, Seed: 1}
	}
	g := generate(t, spec)
	options := []string{"parts=2", "parts=3 batch=7", "parts=7 share=off batch=100", "parts=5 batch=20"}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{Memory: room(d)}, func(s *session.Session) {
			for i, name := range []string{"triangle", "cycle(4)", "path(3)", "gmatch:P3"} {
				for k, embeddings := range []bool{false, true} {
					p := compile(t, g, name, plan.Options{Embeddings: embeddings})
					want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
					if err != nil || want.Matches.IsZero() {
						t.Fatal(want.Matches, err)
					}
					some := options
					if !long.Asked() { // each is run with a pattern, and with embeddings of another
						some = options[(i+2*k)%len(options):][:1]
					}
					for _, opt := range some {
						o := map[string]string{}
						for _, x := range strings.Fields(opt) {
							k, v, _ := strings.Cut(x, "=")
							o["partition."+k] = v
						}
						got, err := engine.Once(t.Context(), over(s), g, p, engine.Options{Opt: o}, engine.Goal{})
						if err != nil || got.Matches != want.Matches || !got.Complete {
							t.Errorf("%s, embeddings %v, %s: %v (complete %v, %v), want %v\n%s", name, embeddings, opt, got.Matches, got.Complete, err, want.Matches, strings.Join(got.Stats, "\n"))
						}
					}
				}
			}
		}, d)
	})
}

// TestCompilesForGPUs compiles the kernels for GPUs, without one, each by itself as a GPU does.
func TestCompilesForGPUs(t *testing.T) {
	long.Only(t, "compiling kernels for GPUs takes seconds")
	for name, text := range partition.Kernels() {
		t.Run(name, func(t *testing.T) { check.CompileCheck(t, cuda.Source{Name: name + ".cu", Text: text}) })
	}
}

// TestRefused: plans that the engine does not run exactly are refused, with the reason.
func TestRefused(t *testing.T) {
	g := generate(t, gen.Spec{Model: "er", N: 30, M: 80, Seed: 1})
	engines.WithSession(t, session.Options{Memory: 1 << 20}, func(s *session.Session) {
		for _, c := range []struct {
			text, why string
			root      int
			listing   bool
		}{
			{"MATCH (a)-[e]-(b)--(c)", "choices of data edges", 0, false},
			{"MATCH (a)--(b), (c)--(d)", "not connected", plan.NoRoot, false},
		} {
			q, err := gql.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.Compile(g, q.Pattern, plan.Options{Root: c.root, Listing: c.listing, AllowProduct: true})
			if err != nil {
				t.Fatal(err)
			}
			err = engines.Refusal(over(s), g, p, engine.Options{Listing: c.listing})
			if refusal := new(plan.Refusal); !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v", c.text, err)
			}
		}
	}, device.Emulated(t, emu.Options{SMs: 1}))
}

// TestPhases: what explain says of a search: the parts, the engine for them, the memory, and the prime edges.
func TestPhases(t *testing.T) {
	g := generate(t, gen.Spec{Model: "rmat", Scale: 7, M: 700, Seed: 1})
	engines.WithSession(t, session.Options{Memory: 40 << 10}, func(s *session.Session) {
		for share, want := range map[string][]string{
			"on":  {"into 3 parts", "a GPU may use 40.0 KiB", "engine join searches each part", "each of 2 levels", "for 4 edges of the pattern that are alike", "from each edge between parts as (v0, v2)", "the last two are counted by the numbers of their candidates"},
			"off": {"from each edge between parts as (v0, v1)", "from each edge between parts as (v2, v3)"},
		} {
			p := compile(t, g, "diamond", plan.Options{})
			ready, err := over(s).Prepare(t.Context(), g, p, engine.Options{Opt: map[string]string{"partition.parts": "3", "partition.share": share}})
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(ready.Traits().Phases, "\n")
			for _, w := range want {
				if !strings.Contains(said, w) {
					t.Errorf("share %s: no %q in\n%s", share, w, said)
				}
			}
		}
	}, device.Emulated(t, emu.Options{SMs: 1}))
}
