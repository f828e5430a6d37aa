package neighbourhood

import (
	"context"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestLocalAgreesWithHost draws plans for the local method and compares counts,
// in all and per root, with the host's. Each plan has a class of its own forced, and half of them read sparse lists.
func TestLocalAgreesWithHost(t *testing.T) {
	plans := 12
	if !long.Asked() {
		plans = 5
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ran, sparse := 0, 0
		for seed := 0; ran < plans && seed < 100*plans; seed++ {
			spec := nodiff.Graphs(14).Example(seed)
			g := spec.Build()
			pat := nodiff.Hubs(spec, 5).Example(seed)
			po := plan.Options{Root: plan.NoRoot, Method: "local", Seed: 1, Embeddings: seed%3 == 0, NoTail: seed%5 == 0}
			if seed%4 == 0 {
				po.Root = seed % len(pat.Vertices)
			}
			p, err := planner.Compile(g, pat, po)
			if err != nil || p.Empty != nil {
				continue
			}
			opt := localCases[ran%len(localCases)]
			w := with(t, opt)
			if ran%2 == 1 {
				p, w.sparse = overSparse(p), lower.AsStored
			}
			l, err := newSearch(g, p, d.Info(), w)
			if err != nil {
				continue
			}
			ran++
			if l.vertices != nil {
				sparse++
			}
			want, got := engine.Goal{}, engine.Goal{}
			if po.Root >= 0 {
				want.PerRoot = make([]engine.Uint128, g.NumVertices())
				got.PerRoot = make([]engine.Uint128, g.NumVertices())
			}
			if err := sameCounts(s, g, p, l, want, got); err != nil {
				t.Errorf("seed %d, %v, %+v: %v\n%s", seed, opt, po, err, spec)
			}
		}
		if ran < plans || sparse < plans/2 {
			t.Errorf("%d plans of %d, %d of sparse lists", ran, plans, sparse)
		}
	})
}

func sameCounts(s *session.Session, g *graph.Graph, p *plan.Plan, l *Search, want, got engine.Goal) error {
	w, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, want)
	if err != nil {
		return err
	}
	r, err := runOn(context.Background(), s, l, got)
	if err != nil || r.Matches != w.Matches || !r.Complete {
		return fmt.Errorf("%v matches (complete %v, %w), want %v", r.Matches, r.Complete, err, w.Matches)
	}
	for v := range want.PerRoot {
		if want.PerRoot[v] != got.PerRoot[v] {
			return fmt.Errorf("root %d: %v, want %v", v, got.PerRoot[v], want.PerRoot[v])
		}
	}
	return nil
}
