package join_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// TestOutOfCoreShortest: candidates are made of the shortest of a row's lists. Two hubs are neighbours of all others, which have few: one list
// of each row is long and the other short, in either place.
func TestOutOfCoreShortest(t *testing.T) {
	const n = 400
	var edges graph.EdgeChunk
	for v := uint64(2); v < n; v++ {
		edges.Src = append(edges.Src, 0, v, v)
		edges.Dst = append(edges.Dst, v, 1, 2+(v-1)%(n-2))
	}
	b := graph.NewBuilder(graph.BuildOptions{})
	if err := b.AddEdges(&edges); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	engines.WithSession(t, session.Options{Memory: 64 << 10, Ring: 1 << 16}, func(s *session.Session) {
		for _, c := range []struct {
			text      string
			root      int
			listing   bool
			mostMakes int
		}{
			{"MATCH (a)--(b)--(c)--(a)", plan.NoRoot, false, 60},
			{"MATCH (a)--(b)--(c)--(a)", 0, false, 60},
			{"MATCH (a)--(b)--(c)--(a)", plan.NoRoot, true, 60},
			{"MATCH REPEATABLE ELEMENTS (a)--(b)", 1, false, 0}, // counted by the lengths of lists,
			{"MATCH (a)--(b)--(c)", 0, false, 60},               // and by their ends
			{"MATCH (a)--(b)--(c)--(a), NOT (b)--(d), (c)--(d)--(a)", plan.NoRoot, false, 400},
		} {
			q, err := gql.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.Compile(g, q.Pattern, plan.Options{Root: c.root, Order: "gsi", Listing: c.listing, NoTail: true})
			if err != nil {
				t.Fatal(err)
			}
			find := func(e engine.Engine, opt map[string]string) (engine.Result, []engine.Uint128) {
				var goal engine.Goal
				if c.root != plan.NoRoot {
					goal.PerRoot = make([]engine.Uint128, g.NumVertices())
				}
				if c.listing {
					goal.Sink = sinkFunc(func(*engine.Batch) {})
				}
				r, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: opt}, goal)
				if err != nil || !r.Complete {
					t.Errorf("%s by %s: %v", c.text, e.Name(), err)
				}
				return r, goal.PerRoot
			}
			want, wantRoots := find(host.New(), nil)
			got, gotRoots := find(join.NewGPU(s), map[string]string{"join.segments": "4", "join.held": "2", "join.batch": "200", "join.filter": "off"})
			_, by := launches(t, got)
			t.Log(c.text, got.Matches, by)
			same := len(gotRoots) == len(wantRoots)
			for v := range gotRoots {
				same = same && gotRoots[v] == wantRoots[v]
			}
			if got.Matches != want.Matches || want.Matches.IsZero() || !same {
				t.Errorf("%s: %v matches, want %v; by vertex equal: %v", c.text, got.Matches, want.Matches, same)
			}
			one, _ := find(join.NewGPU(s), map[string]string{"join.segments": "4", "join.held": "2", "join.batch": "200", "join.filter": "off", "join.shorter": "0"})
			if one.Matches != want.Matches {
				t.Errorf("%s by the lists of one edge: %v matches, want %v", c.text, one.Matches, want.Matches)
			}
			if by["make"] > c.mostMakes {
				t.Errorf("%s: %d launches that make candidates", c.text, by["make"])
			}
		}
	}, device.Emulated(t, emu.Options{Seed: device.Seed()}))
}
