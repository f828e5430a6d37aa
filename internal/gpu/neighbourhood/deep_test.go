package neighbourhood

import (
	"context"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestDeep counts deep plans, whose tasks are pairs and shared by blocks, in
// neighbourhoods of more than one word.
func TestDeep(t *testing.T) {
	g, err := gen.Generate(context.Background(), gen.Spec{Model: "er", N: 110, P: 0.55, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, classes := range []string{"64,128", "256"} {
			p := planned(t, g, "clique(6)")
			l, err := newSearch(g, p, d.Info(), with(t, map[string]string{"stack.local.classes": classes}))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range l.classes {
				if want := c.universe > 64; c.shares != want || want != (c.grain == 1) {
					t.Errorf("class %d: grain %d, shares %v", c.universe, c.grain, c.shares)
				}
			}
			if err := sameCounts(s, g, p, l, engine.Goal{}, engine.Goal{}); err != nil {
				t.Errorf("classes %s: %v", classes, err)
			}
			r, err := runOn(context.Background(), s, l, engine.Goal{Limit: 1000})
			if err != nil || r.Matches != engine.U64(1000) || r.Complete {
				t.Errorf("classes %s, limit 1000: %v matches, complete %v, %v", classes, r.Matches, r.Complete, err)
			}
		}
	})
}
