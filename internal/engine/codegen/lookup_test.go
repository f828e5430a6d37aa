package codegen_test

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestLookup compares nests that look neighbours up in each way with the oracle, and
// with the host engine on a graph whose hubs' hash tables have many buckets.
func TestLookup(t *testing.T) {
	checks(t)
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 1500, Seed: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	on(t, func(t *testing.T, e engine.Engine) {
		e = hashed(e)
		if !long.Asked() {
			t.Log("without WEFT_LONG: P5 by bits and by hash tables alone, since each plan is compiled")
		}
		for _, how := range []string{"bits", "hash", "search"} {
			opt := map[string]string{"codegen.lookup": how}
			if how != "bits" { // what other tests have, since all small graphs do
				nodiff.Check(t, nodiff.Config{Engine: e, MaxVertices: 40, MaxPattern: 4, Compile: nest, Opt: opt})
			}
			for i, query := range []string{"gmatch:P5", "gmatch:P7", "cycle(5)"} {
				if !long.Asked() && (i > 0 || how == "search") {
					continue
				}
				qs, err := gql.ByName(query)
				if err != nil {
					t.Fatal(err)
				}
				for _, induced := range []bool{false, true} {
					qs[0].Pattern.Induced = induced
					p, err := planner.Compile(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot, Method: "nest"})
					if err != nil {
						t.Fatal(err)
					}
					want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{Threads: 1}, engine.Goal{})
					if err != nil {
						t.Fatal(err)
					}
					got, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: opt}, engine.Goal{})
					if err != nil || got.Matches != want.Matches || !got.Complete {
						t.Errorf("%s %s induced %v: %v on %s, %v on host: %v", query, how, induced, got.Matches, got.Device, want.Matches, err)
					}
				}
			}
		}
		qs, err := gql.ByName("triangle")
		if err != nil {
			t.Fatal(err)
		}
		p, err := nest(g, qs[0].Pattern, plan.Options{Root: plan.NoRoot})
		if err != nil {
			t.Fatal(err)
		}
		if err := engines.Refusal(e, g, p, engine.Options{Opt: map[string]string{"codegen.lookup": "perhaps"}}); !errors.Is(err, engine.ErrOption) {
			t.Errorf("codegen.lookup=perhaps: %v", err)
		}
	})
}
