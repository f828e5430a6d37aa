package join

import (
	"maps"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestGPUNeeds: a plan needs few of the kernels, and each of them has a text.
func TestGPUNeeds(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 50, M: 200, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("path(4)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		listing bool
		opt     map[string]string
		want    []string
	}{
		{false, map[string]string{"join.filter": "off"}, []string{"join_count", "join_roots_rows", "join_rows"}},
		{true, map[string]string{"join.filter": "off"}, []string{"join_list", "join_roots_rows", "join_rows"}},
		{false, map[string]string{"join.filter": "signature"}, []string{"join_count", "join_filter", "join_roots_rows", "join_rows"}},
		{false, map[string]string{"join.output": "twopass", "join.filter": "off"}, []string{"join_count", "join_placed", "join_roots_rows", "join_rows", "join_sizes"}},
		{false, map[string]string{"join.balance": "on", "join.filter": "off"}, []string{
			"join_block_count", "join_block_rows", "join_bounds", "join_count", "join_deal", "join_grid_count", "join_grid_rows", "join_histogram",
			"join_pool_count", "join_pool_rows", "join_roots_rows", "join_rows",
		}},
	} {
		p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Order: "gsi", NoTail: true, Listing: c.listing})
		if err != nil {
			t.Fatal(err)
		}
		opt := maps.Clone(c.opt)
		opt["join.extend"], opt["gpu.adjacency"] = "single", "device" // no device is asked whether the lists fit
		x, err := NewGPU(nil).Prepare(t.Context(), g, p, engine.Options{Opt: opt, Listing: c.listing})
		if err != nil {
			t.Fatal(err)
		}
		got := x.(*onGPU)
		if !slices.Equal(got.needs, c.want) {
			t.Errorf("%v: %v, want %v", c.opt, got.needs, c.want)
		}
		for _, name := range got.needs {
			if got.texts[name] == "" {
				t.Errorf("%s has no text", name)
			}
		}
	}
}
