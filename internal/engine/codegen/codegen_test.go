package codegen_test

import (
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
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

func on(t *testing.T, f func(t *testing.T, e engine.Engine)) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{Ring: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(t, codegen.New(s))
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
		nodiff.Check(t, nodiff.Config{Engine: e, MaxVertices: 9, Compile: nest})
	})
}

func nest(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Method = "nest"
	return plan.Compile(g, p, o)
}

// TestAgreesWithHost counts the papers' patterns in a graph with hubs, on
// which one vertex of level 0 is many tasks.
func TestAgreesWithHost(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 1500, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	on(t, func(t *testing.T, e engine.Engine) {
		for i := 1; i <= 9; i++ {
			if testing.Short() && i%4 != 1 {
				continue
			}
			qs, err := gql.ByName(fmt.Sprintf("gmatch:P%d", i))
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Compile(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot, Method: "nest"})
			if err != nil {
				t.Fatal(err)
			}
			want, err := host.New().Run(t.Context(), g, p, engine.Options{Threads: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Run(t.Context(), g, p, engine.Options{}, nil)
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("P%d: %v on %s, %v on host: %v", i, got.Matches, got.Device, want.Matches, err)
			}
		}
	})
}

// TestGPUNoDiff compares with the oracle as TestAgreesWithOracle does, at length
// where a GPU is required.
func TestGPUNoDiff(t *testing.T) {
	nodiff.OnDevices(t, nodiff.Config{MaxVertices: 12, Compile: nest}, func(s *session.Session) engine.Engine { return codegen.New(s) })
}
