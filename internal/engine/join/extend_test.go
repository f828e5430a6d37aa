package join_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/bench/queryset"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/join"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/testing/long"
)

// sum takes rows, and has their number and a sum that does not depend on their order.
type sum struct {
	sync.Mutex
	rows int
	sum  uint64
}

func (s *sum) Emit(_ int, b *engine.Batch) error {
	s.Lock()
	defer s.Unlock()
	for i := range b.Rows {
		h := uint64(14695981039346656037)
		for _, v := range b.Vertices[i*b.Width : (i+1)*b.Width] {
			h = (h ^ uint64(v)) * 1099511628211
		}
		s.sum += h ^ h>>29
	}
	s.rows += b.Rows
	return nil
}

// TestExtend: one vertex in a phase, several, several with eliminations after them and those that auto takes find what the oracle finds:
// in queries of 3 to 12 vertices from graphs with many labels, in several orders, in large tables and in small ones.
func TestExtend(t *testing.T) {
	onDevice(t, func(t *testing.T, gpu engine.Engine) {
		seeds, each := []uint64{1, 2}, 1
		if long.Asked() {
			seeds, each = []uint64{1, 2, 3, 4, 5, 6, 7, 8}, 3
		}
		some := 0 // runs with phases of several vertices
		for _, seed := range seeds {
			g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 6, M: 130, Directed: seed%2 == 0, VertexLabels: 2, EdgeLabels: 6, Skew: 1, Seed: seed}, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"P2", "T3", "Ti3", "J3", "Tr1", "Tr2", "S1", "S3", "walk4", "walk6", "walk8", "walk10", "walk12"} {
				set, err := queryset.Draw(t.Context(), g, name, each, seed)
				if err != nil {
					t.Fatal(err)
				}
				for i, text := range set.Queries {
					some += extended(t, gpu, g, text, int(seed)+i)
				}
			}
		}
		if some < 20 {
			t.Errorf("%d runs with phases of several vertices", some)
		}
	})
}

// extended compares all ways to extend for one query. It returns how many runs had a phase of several vertices.
func extended(t *testing.T, gpu engine.Engine, g *graph.Graph, text string, turn int) (several int) {
	t.Helper()
	q, err := gql.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for k, order := range []string{"join", "geneva"} {
		p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: order, Listing: true, Estimates: true})
		if err != nil {
			t.Fatal(err)
		}
		found, err := engine.Once(t.Context(), oracle.New(), g, p, engine.Options{}, engine.Goal{})
		if err != nil {
			t.Fatal(err)
		}
		var want *sum // of the first run: which match stands for a subgraph follows from the plan
		for i, how := range []string{"single", "multi", "multi, after", "auto"} {
			extend, eliminate := how, "inside"
			if how == "multi, after" {
				extend, eliminate = "multi", "after"
			}
			for n, e := range []engine.Engine{join.New(), gpu} {
				batch := []string{"0", "7"}[(turn+k+i+n)%2]
				opt := map[string]string{"join.extend": extend, "join.eliminate": eliminate, "join.batch": batch, "join.filter": []string{"off", "signature"}[(turn+i)%2]}
				got := sum{}
				r, err := engine.Once(t.Context(), e, g, p, engine.Options{Listing: true, Threads: 2, Opt: opt}, engine.Goal{Sink: &got})
				if want == nil {
					want = &got
				}
				if err != nil || !r.Complete || r.Matches != found.Matches || engine.U64(uint64(got.rows)) != found.Matches || got.rows != want.rows || got.sum != want.sum {
					t.Errorf("%s\norder %s, %v on %s: %v, %d rows (%v), want %v: %v", text, order, opt, r.Device, r.Matches, got.rows, err, found.Matches, r.Stats)
				}
				if hasSeveral(r.Stats) {
					several++
				}
			}
		}
	}
	return several
}

// hasSeveral reports whether a run had a phase of several vertices.
func hasSeveral(stats []string) bool {
	for _, s := range stats {
		for n := 1; n <= 7; n++ {
			if strings.HasPrefix(s, "join: pattern 0") && strings.Contains(s, fmt.Sprintf("pattern %d", n)) {
				return true
			}
		}
	}
	return false
}
