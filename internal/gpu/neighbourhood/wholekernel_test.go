package neighbourhood

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestWhole counts triangles and diamonds by one kernel over all vertices: in all, per root,
// and up to a limit. One graph has more tasks than the grid has lanes. The other has fewer, and
// some of its tasks are parts of a root.
func TestWhole(t *testing.T) {
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, c := range []struct {
			name string
			g    *graph.Graph
			root int
		}{{"clique(3)", rmat(t, 12, 40000), plan.NoRoot}, {"clique(3)", rmat(t, 7, 3000), 0}, {"diamond", rmat(t, 7, 3000), plan.NoRoot}} {
			ps, err := pattern.ByName(c.name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.Compile(c.g, ps[0], plan.Options{Root: c.root, Method: "local", Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			// Parts are as many as keep a GPU's warps busy.
			l, err := newSearch(c.g, p, cuda.Info{SMs: 132, SharedPerBlock: d.Info().SharedPerBlock}, Switches{})
			if err != nil {
				t.Fatal(err)
			}
			known := measuredBy(t, s, l)
			if !l.whole || !l.suitsWhole(known) || l.parts(known) < 2 {
				t.Fatalf("whole %v, %+v: %d parts", l.whole, known, l.parts(known))
			}
			var byHost, byDevice engine.Goal
			if c.root != plan.NoRoot {
				byHost.PerRoot = make([]engine.Uint128, c.g.NumVertices())
				byDevice.PerRoot = make([]engine.Uint128, c.g.NumVertices())
			}
			if err := sameCounts(s, c.g, p, l, byHost, byDevice); err != nil {
				t.Error(err)
			}
			got, err := runOn(context.Background(), s, l, engine.Goal{Limit: 100})
			if err != nil || got.Matches != engine.U64(100) || got.Complete {
				t.Errorf("limit 100: %v (complete %v, %v)", got.Matches, got.Complete, err)
			}
		}
	})
}

// measuredBy is what the first device of a session measures.
func measuredBy(t *testing.T, s *session.Session, l *Search) (known stats) {
	t.Helper()
	src, parts := l.source()
	_, err := s.Run(context.Background(), &session.Job{
		Name: "measure", Source: src, Parts: parts, Program: l.code.Program, Vertices: uint32(l.g.NumVertices()), Owner: l.g, Chunk: 1,
		Start: func(x *session.Exec) (func() error, error) {
			var err error
			_, known, err = l.measured(x)
			return func() error { return nil }, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}
