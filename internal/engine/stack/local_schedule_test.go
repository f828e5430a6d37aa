package stack

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu/neighbourhood"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// TestLocalSchedule runs plans for the local method through the engine, by rows
// and with the method off; it refuses those that a plan for the nest is better
// for.
func TestLocalSchedule(t *testing.T) {
	g := rmat(t, 7, 600)
	compiled := func(name string) *plan.Plan {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e, p := New(s), compiled("gmatch:P2")
		want, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range []map[string]string{{}, {"stack.local": "off"}} {
			got, err := engine.Once(context.Background(), e, g, p, engine.Options{Opt: opt}, engine.Goal{})
			if err != nil || got.Matches != want.Matches || !got.Complete {
				t.Errorf("%v: %v (complete %v, %v), want %v", opt, got.Matches, got.Complete, err, want.Matches)
			}
		}
		opt := map[string]string{"stack.unroll": "8", "stack.steal": "off", "stack.local.share": "on"}
		got, err := engine.Once(context.Background(), e, g, p, engine.Options{Opt: opt}, engine.Goal{})
		if notes := strings.Join(got.Notes, "\n"); err != nil || got.Matches != want.Matches || !strings.Contains(notes, "local method: stack.steal, stack.unroll; stack.local=off") {
			t.Errorf("switches of the nest: %v, %q, %v; want %v", got.Matches, notes, err, want.Matches)
		}
		for _, refused := range []struct {
			name, option, value string
			why                 error
		}{
			{"star(3)", "stack.local", "on", neighbourhood.ErrShape},
			{"gmatch:P2", "stack.local.classes", "3", neighbourhood.ErrUniverse},
			{"gmatch:P2", "stack.local", "perhaps", engine.ErrOption},
		} {
			o := engine.Options{Opt: map[string]string{refused.option: refused.value}}
			if err := engines.Refusal(e, g, compiled(refused.name), o); !errors.Is(err, refused.why) {
				t.Errorf("%s with %s=%s: %v, want %v", refused.name, refused.option, refused.value, err, refused.why)
			}
		}
		// What is counted by rows is listed by the nest.
		outside := compiled("gmatch:P4")
		for _, c := range []struct {
			value string
			runs  bool
		}{{"edge", false}, {"vertex", true}} {
			o := engine.Options{Listing: true, Opt: map[string]string{"stack.roots": c.value}}
			if err := engines.Refusal(e, g, outside, o); (err == nil) != c.runs {
				t.Errorf("a plan whose level 1 has no candidates of its own, with stack.roots=%s: %v", c.value, err)
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
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := engine.Once(context.Background(), e, g, p, engine.Options{}, engine.Goal{Limit: 10})
	if err != nil || got.Matches != engine.U64(10) || got.Complete {
		t.Errorf("limit 10: %v (complete %v, %v)", got.Matches, got.Complete, err)
	}
}

// TestContextThatIsOver asks both schedules for counts per vertex when it is too
// late.
func TestContextThatIsOver(t *testing.T) {
	g := rmat(t, 5, 60)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ps, err := pattern.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, method := range []string{"nest", "local"} {
			p, err := planner.Compile(g, ps[0], plan.Options{Root: 0, Method: method, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			goal := engine.Goal{PerRoot: make([]engine.Uint128, g.NumVertices())}
			if r, err := engine.Once(ctx, New(s), g, p, engine.Options{}, goal); !errors.Is(err, context.Canceled) || r.Complete {
				t.Errorf("%s: %v (complete %v)", method, err, r.Complete)
			}
		}
	})
}

func rmat(t *testing.T, scale int, edges int) *graph.Graph {
	t.Helper()
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "rmat", Scale: scale, M: uint64(edges), Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
