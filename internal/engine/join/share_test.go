package join

import (
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestPartsOfARow: the parts of a row that a worker gives away have the matches of the whole row together, wherever it is cut.
func TestPartsOfARow(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "star", N: 30, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse("MATCH (a)--(b), (a)--(c), (a)--(d)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2, 3}, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	ready, err := New().Prepare(t.Context(), g, p, engine.Options{Threads: 1, Opt: map[string]string{"join.extend": "multi", "join.filter": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	const hub, all = 0, 30 * 29 * 28 / 6 // the vertex of most neighbours has the least id
	between := func(lo, hi uint32) uint64 {
		w := newWorker(newSearch(ready.(*prepared), engine.Goal{}), 0)
		pt := &w.parts[1]
		pt.lo, pt.hi = lo, hi
		w.step(1, []uint32{hub}, nil)
		return w.count.N.Lo
	}
	for cut := uint32(0); cut <= 31; cut++ {
		if a, b := between(0, cut), between(cut, ^uint32(0)); a+b != all {
			t.Errorf("cut at %d: %d and %d matches, want %d in all", cut, a, b, all)
		}
	}
}
