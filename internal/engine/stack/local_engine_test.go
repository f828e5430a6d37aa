package stack_test

import (
	"context"
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/stack"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/faulty"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// localPlan plans for the local method where the pattern suits it, and for the
// nest where not.
func localPlan(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	o.Method = "local"
	if pl, err := planner.Compile(g, p, o); err == nil {
		return pl, nil
	}
	return nestPlan(g, p, o)
}

// TestLocalNoDiff compares random plans for the local method with the oracle,
// with each of its options on and off.
func TestLocalNoDiff(t *testing.T) {
	long.Only(t, "TestLocalAgreesWithHost compares fewer plans")
	onDevice(t, func(t *testing.T, e tiny) {
		nodiff.Check(t, nodiff.Config{
			Engine: e, Compile: localPlan, MaxVertices: 12, MaxPattern: 4, Patterns: nodiff.Hubs,
			Opt: map[string]string{
				"stack.local": "off", "stack.local.classes": "128", "stack.local.table": "3", "gpu.adjacency": "cached",
			},
		})
	})
}

// TestLocalFaults: whichever call fails, a count by the local method is an error
// and no number, and the devices' memory is given back.
func TestLocalFaults(t *testing.T) {
	g := rmat(t, 6, 200)
	ps, err := pattern.ByName("gmatch:P2")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := hostCount(t, g, p)
	count := func(f *cuda.Faults) error {
		return faulty.Count(t, f, want, func(s *session.Session) (engine.Result, error) {
			return engine.Once(context.Background(), stack.New(s), g, p, engine.Options{}, engine.Goal{})
		})
	}
	sound := &cuda.Faults{}
	if err := count(sound); err != nil {
		t.Fatalf("without faults: %v", err)
	}
	calls := sound.Calls()
	for _, c := range []struct {
		name string
		kind error
		f    func(n int) *cuda.Faults
	}{
		{"alloc", cuda.ErrMemory, func(n int) *cuda.Faults { return &cuda.Faults{FailAlloc: n} }},
		{"launch", cuda.ErrLaunch, func(n int) *cuda.Faults { return &cuda.Faults{FailLaunch: n} }},
		{"loss", cuda.ErrLost, func(n int) *cuda.Faults { return &cuda.Faults{LoseAfter: n * calls / 12} }},
	} {
		failed := 0
		for n := 1; n <= 10; n++ {
			err := count(c.f(n))
			if err != nil && !errors.Is(err, c.kind) {
				t.Errorf("%s %d: %v", c.name, n, err)
			}
			if err != nil {
				failed++
			}
		}
		if failed == 0 {
			t.Errorf("%s: no run failed", c.name)
		}
	}
}

// TestHubs counts around a vertex whose neighbours are all others: no memory
// grows with its degree. The nest's sets have room for four elements; rows have
// room for all.
func TestHubs(t *testing.T) {
	leaves := uint32(3000)
	if !long.Asked() {
		leaves = 500
	}
	var pairs [][2]uint32
	for v := uint32(1); v <= leaves; v++ {
		pairs = append(pairs, [2]uint32{0, v})
		if v%3 != 0 && v < leaves {
			pairs = append(pairs, [2]uint32{v, v + 1})
		}
	}
	g := graph.FromEdges(int(leaves)+1, pairs, false)
	for _, name := range []string{"triangle", "diamond", "path(3)", "tailed_triangle"} {
		p, walked := named(t, g, name, plan.Options{}), named(t, g, name, plan.Options{NoTail: true})
		want := hostCount(t, g, p)
		onDevice(t, func(t *testing.T, e tiny) {
			for _, o := range []engine.Options{options("slot", "4"), options("slot", "4", "roots", "vertex")} {
				if got := run(t, e, g, p, o); got.Matches != want {
					t.Errorf("%s by the nest with %v: %v, want %v", name, o.Opt, got.Matches, want)
				}
			}
			if want.Cmp(engine.U64(uint64(leaves)*3)) <= 0 { // else as many matches as pairs of leaves
				if got := run(t, e, g, walked, options("slot", "4", "flat", "off")); got.Matches != want {
					t.Errorf("%s by the nest, every level walked: %v, want %v", name, got.Matches, want)
				}
			}
			ps, err := pattern.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			l, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
			if err != nil {
				return // the pattern does not suit it
			}
			if engines.Refusal(e, g, l, engine.Options{}) != nil {
				return
			}
			if got := run(t, e, g, l, engine.Options{}); got.Matches != hostCount(t, g, l) {
				t.Errorf("%s by the local method: %v, want %v", name, got.Matches, hostCount(t, g, l))
			}
		})
	}
}
