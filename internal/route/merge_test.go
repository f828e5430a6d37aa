package route

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
)

// TestAutoMerges: on a GPU auto takes the join for counts of patterns of eight vertices with labels, whose rows it merges. It takes fine for
// listings, where merges are off, and for patterns of fewer vertices with few matches.
func TestAutoMerges(t *testing.T) {
	d, err := cuda.New(device.Backend(t, emu.Options{}), device.Objects().Images)
	if err != nil {
		t.Fatal(err)
	}
	rt := finding(1, nil)
	defer rt.Close()
	if err := rt.Instead(d); err != nil {
		t.Fatal(err)
	}
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 300, M: 1500, VertexLabels: 8, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		vertices int
		listing  bool
		opt      map[string]string
		want     string
	}{
		{8, false, nil, "join"}, {8, true, nil, "fine"}, {8, false, map[string]string{"join.merge": "off"}, "fine"}, {5, false, nil, "fine"},
	} {
		var parts []string
		for v := range c.vertices {
			parts = append(parts, "("+string(rune('a'+v))+":"+g.VertexLabels[v%len(g.VertexLabels)]+")")
		}
		q, err := gql.Parse("MATCH " + strings.Join(parts, "--"))
		if err != nil {
			t.Fatal(err)
		}
		compile := func(method, order string) (*plan.Plan, error) {
			return planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: method, Order: order, Listing: c.listing})
		}
		got, err := Pick(t.Context(), Request{
			Runtime: rt, Device: "gpu:0", Graph: g, Listing: c.listing, Compile: compile, Options: engine.Options{Threads: 1, Opt: maps.Clone(c.opt)},
		})
		if err != nil || got.Engine.Name() != c.want {
			t.Errorf("%d vertices, listing %v, %v: %v (%s), %v; want %s", c.vertices, c.listing, c.opt, got.Engine, got.Reason, err, c.want)
			continue
		}
		if c.want != "join" {
			continue
		}
		p, err := compile("nest", "ri")
		if err != nil {
			t.Fatal(err)
		}
		want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil || want.Matches.IsZero() {
			t.Fatal(want.Matches, err)
		}
		if r, err := got.Run(t.Context(), engine.Goal{}); err != nil || r.Matches != want.Matches || !strings.Contains(strings.Join(r.Stats, "\n"), "merge") {
			t.Errorf("%v, %v, %v; want %v", r.Matches, err, r.Stats, want.Matches)
		}
	}
}

// TestMergesInCore: auto takes no join for its merges where the graph does not fit the GPU, because a join out of core merges no rows.
func TestMergesInCore(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 300, M: 1500, VertexLabels: 8, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for v := range 8 {
		parts = append(parts, "("+string(rune('a'+v))+":"+g.VertexLabels[v]+")")
	}
	q, err := gql.Parse("MATCH " + strings.Join(parts, "--"))
	if err != nil {
		t.Fatal(err)
	}
	compile := func(method, order string) (*plan.Plan, error) {
		return planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Method: method, Order: order})
	}
	for memory, want := range map[int64]bool{0: true, 16 << 10: false} {
		d, err := cuda.New(device.Backend(t, emu.Options{}), device.Objects().Images)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open([]*cuda.Device{d}, session.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		x := trial{Request: Request{Graph: g, Compile: compile, Options: engine.Options{Threads: 1}}, auto: true, session: s}
		if c, ok := x.merged(t.Context()); ok != want {
			t.Errorf("memory %d: %v (%s), want %v", memory, ok, c.Reason, want)
		}
		if err := errors.Join(s.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
}
