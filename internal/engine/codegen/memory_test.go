package codegen_test

import (
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/codegen"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestMemoryOfPredicates: arrays that are made for a plan's predicates leave the device with the run.
// The graph's own lists stay.
func TestMemoryOfPredicates(t *testing.T) {
	spec := &nodiff.Spec{N: 40, Times: true}
	for u := range spec.N {
		x := int64(u)
		spec.X = append(spec.X, &x)
		for v := u + 1; v < min(u+6, spec.N); v++ {
			spec.Edges = append(spec.Edges, nodiff.SpecEdge{U: u, V: v, Time: int64(u*v) % 7})
		}
	}
	g := spec.Build()
	queries := 100
	if !long.Asked() {
		queries = 20
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		used := int64(0)
		for i := range queries {
			q, err := gql.Parse(fmt.Sprintf("MATCH (a)-[e]-(b)--(c)--(a) WHERE e.time > %d AND a.x > %d", i%6, i%20))
			if err != nil {
				t.Fatal(err)
			}
			p, err := nest(g, q.Pattern, plan.Options{Root: plan.NoRoot})
			if err != nil {
				t.Fatal(err)
			}
			got, err := engine.Once(t.Context(), codegen.New(s), g, p, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{Threads: 1}, engine.Goal{})
			if err != nil || got.Matches != want.Matches {
				t.Fatalf("query %d: %v matches, %v on host: %v", i, got.Matches, want.Matches, err)
			}
			if i == 0 {
				used = d.InUse()
			} else if n := d.InUse(); n != used {
				t.Fatalf("%d bytes in use after query %d, %d after the first", n, i, used)
			}
		}
		if used == 0 {
			t.Error("the graph's lists did not stay")
		}
	})
}
