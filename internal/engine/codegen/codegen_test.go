package codegen_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

func on(t *testing.T, f func(t *testing.T, e engine.Engine)) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		engines.WithSession(t, session.Options{Ring: 1 << 16}, func(s *session.Session) { f(t, codegen.New(s)) }, d)
	})
}

// checks is the number of random plans: each costs the compilation of a kernel
// or two. WEFT_PLANS raises it.
func checks(t *testing.T) {
	n := os.Getenv("WEFT_PLANS")
	if n == "" {
		n = "8"
	}
	f := flag.Lookup("rapid.checks")
	old := f.Value.String()
	t.Cleanup(func() { _ = f.Value.Set(old) })
	if err := f.Value.Set(n); err != nil {
		t.Fatal(err)
	}
}

func TestAgreesWithOracle(t *testing.T) {
	checks(t)
	on(t, func(t *testing.T, e engine.Engine) {
		nodiff.Check(t, nodiff.Config{Engine: hashed(e), MaxVertices: 9, Compile: nest, Opt: lookups})
	})
}

// hashed has all lists but those of a vertex or two in hash tables where a test asks for these:
// random graphs have none so long as they begin at otherwise. Some of the graphs have lists long
// enough that filters are asked first.
func hashed(e engine.Engine) engine.Engine {
	return engines.With(e, map[string]string{"membership.short": "2", "membership.long": "5"})
}

// lookups are the ways to look neighbours up besides rows of bits, which are the default for small
// graphs.
var lookups = map[string]string{"codegen.lookup": "hash|search", "gpu.adjacency": "host|cached"}

func nest(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Method = "nest"
	return planner.Compile(g, p, o)
}

// countedNest is the nest of a pattern of the catalogue, and what the host engine counts by it.
func countedNest(t *testing.T, g *graph.Graph, name string) (*plan.Plan, engine.Uint128) {
	t.Helper()
	qs, err := gql.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{Threads: 1}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	return p, want.Matches
}

// TestAgreesWithHost counts the papers' patterns in a graph with hubs, on
// which one vertex of level 0 is many tasks.
func TestAgreesWithHost(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 1500, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	on(t, func(t *testing.T, e engine.Engine) {
		if !long.Asked() {
			t.Log("without WEFT_LONG: P1, P5 and P9 alone, since each plan is compiled")
		}
		for i := 1; i <= 9; i++ {
			if !long.Asked() && i%4 != 1 {
				continue
			}
			p, want := countedNest(t, g, fmt.Sprintf("gmatch:P%d", i))
			got, err := engine.Once(t.Context(), e, g, p, engine.Options{}, engine.Goal{})
			if err != nil || got.Matches != want || !got.Complete {
				t.Errorf("P%d: %v on %s, %v on host: %v", i, got.Matches, got.Device, want, err)
			}
		}
	})
}

// counted plans counts for the local method where the pattern suits it, and all
// else for the nest.
func counted(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	if !o.Listing {
		o.Method = "local"
		if pl, err := planner.Compile(g, p, o); err == nil {
			return pl, nil
		}
	}
	return nest(g, p, o)
}

// TestLocal compares random plans for the local method with the oracle, and refuses
// what it cannot run.
func TestLocal(t *testing.T) {
	checks(t)
	on(t, func(t *testing.T, e engine.Engine) {
		nodiff.Check(t, nodiff.Config{
			Engine: e, Compile: counted, MaxVertices: 12, MaxPattern: 4, Patterns: nodiff.Hubs, Columns: nodiff.Simple, Techniques: []nodiff.Technique{nodiff.Local, nodiff.LocalOutside}, LeastRuns: 1,
			Opt: map[string]string{"codegen.local.classes": "128|256", "codegen.local.table": "3"},
		})
		g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 6, M: 200, Seed: 3}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			pattern, value string
			runs           bool
		}{{"gmatch:P2", "on", true}, {"gmatch:P2", "off", false}, {"gmatch:P2", "perhaps", false}, {"star(3)", "on", false}} {
			qs, err := gql.ByName(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.Compile(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot, Method: "local"})
			if err != nil {
				t.Fatal(err)
			}
			o := engine.Options{Opt: map[string]string{"codegen.local": c.value}}
			if err := engines.Refusal(e, g, p, o); (err == nil) != c.runs || errors.Is(err, engine.ErrOption) != (c.value == "perhaps") {
				t.Errorf("%s with codegen.local=%s: %v", c.pattern, c.value, err)
			}
			if c.runs {
				if _, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{Sink: nobody{}}); err == nil {
					t.Errorf("%s: a plan for the local method was listed", c.pattern)
				}
			}
		}
	})
}

type nobody struct{}

func (nobody) Emit(int, *engine.Batch) error { return nil }

// TestGPUNoDiff compares with the oracle as TestAgreesWithOracle does, at length
// where a GPU is required.
func TestGPUNoDiff(t *testing.T) {
	nodiff.OnDevices(t, nodiff.Config{
		MaxVertices: 12, Compile: counted, Opt: lookups, Techniques: []nodiff.Technique{nodiff.Local, nodiff.LocalOutside, nodiff.LastSize, nodiff.Terms},
	}, func(s *session.Session) engine.Engine { return hashed(codegen.New(s)) })
}
