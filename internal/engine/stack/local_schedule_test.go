package stack

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestLocalSchedule runs plans for the local method through the engine: by rows,
// with the method off, where no class takes the graph's neighbourhoods, and where
// nothing is left to walk.
func TestLocalSchedule(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e, g := New(s), rmat(t, 7, 600)
		for _, name := range []string{"gmatch:P2", "star(3)"} {
			ps, err := pattern.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			want, err := host.New().Run(context.Background(), g, p, engine.Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, opt := range []map[string]string{{}, {"stack.local": "off"}, {"stack.local.classes": "3"}} {
				got, err := e.Run(context.Background(), g, p, engine.Options{Opt: opt}, nil)
				if err != nil || got.Matches != want.Matches || !got.Complete {
					t.Errorf("%s %v: %v (complete %v, %v), want %v", name, opt, got.Matches, got.Complete, err, want.Matches)
				}
			}
			if err := e.Check(g, p, engine.Options{Opt: map[string]string{"stack.local": "perhaps"}}); err == nil {
				t.Error("stack.local=perhaps is accepted")
			}
		}
		limited(t, e, g)
	})
}

// limited: a count ends at the limit, and is a lower bound.
func limited(t *testing.T, e *Engine, g *graph.Graph) {
	t.Helper()
	ps, err := pattern.ByName("gmatch:P2")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Run(context.Background(), g, p, engine.Options{Limit: 10}, nil)
	if err != nil || got.Matches != engine.U64(10) || got.Complete {
		t.Errorf("limit 10: %v (complete %v, %v)", got.Matches, got.Complete, err)
	}
}
