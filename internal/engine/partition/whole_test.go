package partition_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/cuda/emu"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/engine/partition"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/device"
	"github.com/weftgraph/weft/internal/testing/engines"
)

// matchesOf keeps the rows of a listing, as texts.
type matchesOf struct {
	mu   sync.Mutex
	rows []string
}

func (s *matchesOf) Emit(_ int, b *engine.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range b.Rows {
		s.rows = append(s.rows, fmt.Sprint(b.Vertices[i*b.Width:(i+1)*b.Width], b.Edges[i*b.EdgeWidth:(i+1)*b.EdgeWidth]))
	}
	return nil
}

// TestWholeGraph: conditions look at the whole graph and not at a part; counts by vertex are added up over the parts; data edges that are
// listed have their numbers in the whole graph.
func TestWholeGraph(t *testing.T) {
	g := generate(t, gen.Spec{Model: "er", N: 40, M: 110, Seed: 3, EdgeLabels: 2, Directed: true})
	d := device.Emulated(t, emu.Options{SMs: 1})
	engines.WithSession(t, session.Options{}, func(s *session.Session) {
		e := partition.New(s, joins)
		opt := map[string]string{"partition.parts": "3"}
		for _, c := range []struct {
			text    string
			root    int
			listing bool
		}{
			{"MATCH (a)--(b)--(c) WHERE deg(a) > 4", plan.NoRoot, false},
			{"MATCH (a)--(b)--(c) WHERE deg(a) > deg(b)", plan.NoRoot, false},
			{"MATCH (a)-->(b)-->(c) WHERE deg(a) > deg(c) AND deg(b) > 3", plan.NoRoot, true},
			{"MATCH (a)--(b)--(c)--(a) WHERE EXISTS { (a)-->(x)-->(y) }", plan.NoRoot, false},
			{"MATCH (a)--(b)--(c) WHERE NOT EXISTS { (a)--(x)--(c), (x)--(b) }", plan.NoRoot, false},
			{"MATCH (a)-[e]->(b)-[f]-(c)", plan.NoRoot, true},
			{"MATCH DIFFERENT EDGES (a)-[e]->(b)-[f]-(c)-[g]->(d)", plan.NoRoot, true},
			{"MATCH (a)--(b)--(c)", 0, false},
			{"MATCH (a)--(b)--(c)--(a), (c)--(d)", 3, false},
			{"MATCH (a)--(b)--(c)--(d)--(a) WHERE deg(b) > 3", 1, false},
		} {
			q, err := gql.Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.Compile(g, q.Pattern, plan.Options{Root: c.root, Listing: c.listing})
			if err != nil {
				t.Fatal(err)
			}
			find := func(e engine.Engine, opt map[string]string) (engine.Result, []engine.Uint128, []string) {
				var goal engine.Goal
				var rows matchesOf
				if c.root != plan.NoRoot {
					goal.PerRoot = make([]engine.Uint128, g.NumVertices())
				}
				if c.listing {
					goal.Sink = &rows
				}
				r, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: opt}, goal)
				if err != nil || !r.Complete {
					t.Errorf("%s by %s: %v", c.text, e.Name(), err)
				}
				slices.Sort(rows.rows)
				return r, goal.PerRoot, rows.rows
			}
			want, wantRoots, wantRows := find(host.New(), nil)
			got, gotRoots, gotRows := find(e, opt)
			if want.Matches.IsZero() || got.Matches != want.Matches || !slices.Equal(gotRoots, wantRoots) || !slices.Equal(gotRows, wantRows) {
				t.Errorf("%s: %v matches, want %v; by vertex %v, want %v; rows %v, want %v", c.text, got.Matches, want.Matches, gotRoots, wantRoots, gotRows, wantRows)
			}
		}
	}, d)
}
