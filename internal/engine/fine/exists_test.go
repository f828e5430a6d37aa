package fine_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/fine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestExistsLooksUp: lists that only a condition reads are in tables like the plan's own. This
// holds for all kinds of tables and for lists of any length. Vertices that are pruned for the
// pattern are still there for its conditions.
func TestExistsLooksUp(t *testing.T) {
	graphs := map[bool]*nodiff.Spec{}
	for _, directed := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		s := &nodiff.Spec{N: 60, Directed: directed}
		for range 900 {
			u := r.IntN(40)
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: (u + 1 + r.IntN(39)) % 40})
		}
		for leaf := 40; leaf < s.N; leaf++ {
			s.Edges = append(s.Edges, nodiff.SpecEdge{U: r.IntN(40), V: leaf})
		}
		graphs[directed] = s
	}
	queries := map[string]bool{
		"MATCH (a)-->(b)-->(c) WHERE NOT EXISTS { (a), (c), (a)--(c) }":           true,
		"MATCH (a)--(b)--(c)--(a) WHERE EXISTS { (a), (b), (a)--(z)--(b) }":       false,
		"MATCH (a)--(b)--(c)--(a) WHERE NOT EXISTS { (a)--(z) WHERE deg(z) < 2 }": false,
	}
	device.Each(t, func(t *testing.T, d *cuda.Device) {
		s, err := session.Open([]*cuda.Device{d}, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !long.Asked() {
			t.Log("without WEFT_LONG: bits with pruning and hash tables without it are left out, since each is compiled")
		}
		for text, directed := range queries {
			g := graphs[directed].Build()
			q, err := gql.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := nest(g, q.Pattern, plan.Options{Root: plan.NoRoot, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			want, err := engine.Once(context.Background(), host.New(), g, p, engine.Options{}, engine.Goal{})
			if err != nil {
				t.Fatal(err)
			}
			if want.Matches == (engine.Uint128{}) {
				t.Errorf("%s has no match", text)
			}
			for _, lookup := range []string{"bits", "hash"} {
				for _, prune := range []string{"off", "on"} {
					if !long.Asked() && (lookup == "bits") == (prune == "on") {
						continue
					}
					opt := map[string]string{"fine.lookup": lookup, "fine.prune": prune}
					got, err := engine.Once(context.Background(), fine.New(s), g, p, engine.Options{Opt: opt}, engine.Goal{})
					if err != nil || got.Matches != want.Matches {
						t.Errorf("%s with %v: %v matches (%v), want %v", text, opt, got.Matches, err, want.Matches)
					}
				}
			}
		}
	})
}
