package fine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/host"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/testing/nodiff"
	"github.com/weftgraph/weft/internal/testing/parts"
)

// TestPruneRounds: a path that hangs on a triangle goes vertex by vertex, in more
// rounds than are launched at once, and the triangle stays.
func TestPruneRounds(t *testing.T) {
	const n = 90
	pairs := [][2]uint32{{0, 2}}
	for v := range uint32(n - 1) {
		pairs = append(pairs, [2]uint32{v, v + 1})
	}
	g := graph.FromEdges(n, pairs, false)
	ps, err := pattern.ByName("clique(3)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		r, err := engine.Once(t.Context(), e, g, p, engine.Options{Opt: map[string]string{"fine.prune": "on"}}, engine.Goal{})
		if err != nil || r.Matches != engine.U64(1) || !r.Complete {
			t.Fatalf("%v matches, complete %v, %v", r.Matches, r.Complete, err)
		}
		rounds, notes := 0, strings.Join(r.Stats, "; ")
		_, rest, _ := strings.Cut(notes, "are left out, in ")
		if _, err := fmt.Sscanf(rest, "%d rounds", &rounds); err != nil || rounds <= 8 || rounds > n {
			t.Errorf("%d rounds: %s", rounds, notes)
		}
	})
}

// TestPruneCached: tables are made of pruned lists where the graph's own lists are in host memory with copies of some.
func TestPruneCached(t *testing.T) {
	g := denseGraph(t)
	ps, err := pattern.ByName("diamond")
	if err != nil {
		t.Fatal(err)
	}
	p, err := nest(g, ps[0], plan.Options{Root: plan.NoRoot, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Once(t.Context(), host.New(), g, p, engine.Options{}, engine.Goal{})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(t *testing.T, e engine.Engine) {
		for _, adjacency := range []string{"host", "cached"} {
			for _, lookup := range []string{"bits", "hash", "search"} {
				o := engine.Options{Opt: map[string]string{
					"fine.prune": "on", "fine.index": "none", "fine.batch": "off", "fine.siblings": "on", "fine.lookup": lookup, "gpu.adjacency": adjacency,
				}}
				got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
				if err != nil {
					t.Fatalf("%s, %s: %v", adjacency, lookup, err)
				}
				if got.Matches != want.Matches || !got.Complete {
					t.Errorf("%s, %s: %v matches (complete: %v), the host says %v", adjacency, lookup, got.Matches, got.Complete, want.Matches)
				}
			}
		}
	})
}

// TestPruneSparse: sparse lists are pruned, and looked up in each way, with one level of bitmaps and with two, and where all of a vertex's
// list goes.
func TestPruneSparse(t *testing.T) {
	for _, n := range []int{200, 20_000} {
		// A clique, a ring without chords, and a path that goes vertex by vertex; most vertices have other edges alone.
		s := &nodiff.Spec{N: n, EdgeLabels: true}
		edge := func(u, v int, label string) { s.Edges = append(s.Edges, nodiff.SpecEdge{U: u, V: v, Label: label}) }
		at := func(k int) int { return k * (n / 100) }
		for i := range 24 {
			for j := range i {
				edge(at(i), at(j), "A")
			}
		}
		for i := 30; i < 60; i++ {
			edge(at(i), at(i+1), "A")
		}
		edge(at(60), at(0), "A")
		for v := range n - 1 {
			edge(v, v+1, "B")
			edge(v, (7*v+1)%n, "B")
		}
		g := s.Build()
		parts.Sparse.Store(g)
		q, err := gql.Parse("MATCH (a)-[:A]-(b)-[:A]-(c)-[:A]-(d)-[:A]-(a), (a)-[:A]-(c), (b)-[:A]-(d)")
		if err != nil {
			t.Fatal(err)
		}
		p, err := nest(g, q.Pattern, plan.Options{Root: plan.NoRoot, NoTail: true})
		if err != nil || p.Adjs[0].Lists.Sparse == nil {
			t.Fatal(err)
		}
		if levels := p.Adjs[0].Lists.Sparse.Index().Levels; (levels > 1) != (n > 200) {
			t.Fatalf("%d levels of bitmaps", levels)
		}
		onDevice(t, func(t *testing.T, e engine.Engine) {
			for i, lookup := range []string{"bits", "hash", "search"} {
				o := engine.Options{Opt: map[string]string{
					"fine.prune": "on", "fine.index": "none", "fine.batch": "off", "fine.lookup": lookup, gpu.Offsets: "off", "gpu.adjacency": []string{"device", "host", "cached"}[i],
				}}
				got, err := engine.Once(t.Context(), e, g, p, o, engine.Goal{})
				if err != nil {
					t.Fatalf("%s: %v", lookup, err)
				}
				if got.Matches != engine.U64(24*23*22*21/24) || !got.Complete || !strings.Contains(strings.Join(got.Stats, "; "), "are left out, in ") {
					t.Errorf("%s, %d vertices: %v matches (complete: %v): %s", lookup, n, got.Matches, got.Complete, got.Stats)
				}
			}
		})
	}
}
