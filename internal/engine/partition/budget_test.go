package partition_test

import (
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
	"github.com/weftgraph/weft/internal/testing/long"
)

// TestBudgets: with less and less memory of the device the graph has more parts, and the count stays the same until
// an error says that the memory is too little. No run takes more than it may.
func TestBudgets(t *testing.T) {
	spec, triangles := gen.Spec{Model: "rmat", Scale: 9, M: 3500, Seed: 1}, []int64{1 << 16, 48 << 10, 1 << 14}
	if long.Asked() {
		spec, triangles = gen.Spec{Model: "rmat", Scale: 10, M: 9000, Seed: 1}, []int64{1 << 17, 1 << 16, 1 << 14}
	}
	g := generate(t, spec)
	worked := 0
	d := device.Emulated(t, emu.Options{SMs: 1})
	for name, budgets := range map[string][]int64{"triangle": triangles, "clique(4)": triangles[1:2]} {
		p := compile(t, g, name, plan.Options{})
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		for _, memory := range budgets {
			engines.WithSession(t, session.Options{Memory: memory}, func(s *session.Session) {
				got, err := engine.Once(t.Context(), over(s), g, p, engine.Options{}, engine.Goal{})
				switch {
				case err == nil && got.Matches == want.Matches && got.Complete:
					worked++
				case memory >= triangles[1] || !errors.Is(err, cuda.ErrMemory):
					t.Errorf("%s in %d bytes: %v (%v), want %v", name, memory, got.Matches, err, want.Matches)
				}
			}, d)
		}
	}
	if worked < 3 {
		t.Errorf("%d budgets worked", worked)
	}
}
