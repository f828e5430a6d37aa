package planner_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/format"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestOrdersFrom: an order from given vertices takes a rare label before a vertex with as many neighbours, which comes first without
// the graph. Where it makes no clear difference, the order is that of the most neighbours before.
func TestOrdersFrom(t *testing.T) {
	labelled, err := format.Read(t.Context(), "../../../testdata/graphs/citeseer.graph.gz", format.ReadOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer labelled.Close()
	q, err := gql.Parse("MATCH (a)--(b)--(c)--(d), (b)--(e:0)--(f:5)")
	if err != nil {
		t.Fatal(err)
	}
	o := plan.Options{Embeddings: true, Listing: true, NoTail: true, Root: plan.NoRoot, Method: "nest"}
	all, err := planner.OrdersFrom(labelled, q.Pattern, o, false, [2]int{0, 1}, [2]int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, first := range [][]int{{0, 1}, {1, 2}} {
		order := all[i]
		at := func(v int) int { return slices.Index(order, v) }
		if len(order) != 6 || !slices.Equal(order[:2], first) || at(5) > at(3) || at(4) > at(3) {
			t.Errorf("from %v: %v", first, order)
		}
	}

	g, err := gen.Generate(t.Context(), gen.Spec{Model: "rmat", Scale: 8, M: 1200, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("tailed_triangle")
	if err != nil {
		t.Fatal(err)
	}
	if all, err = planner.OrdersFrom(g, ps[0], o, true, [2]int{0, 1}); err != nil || !slices.Equal(all[0], []int{0, 1, 2, 3}) {
		t.Errorf("%v, %v", all, err)
	}
	cause := errors.New("ended")
	ctx, end := context.WithCancelCause(t.Context())
	end(cause)
	o.Context = ctx
	if all, err = planner.OrdersFrom(g, ps[0], o, true, [2]int{0, 1}); !errors.Is(err, cause) {
		t.Errorf("%v, %v", all, err)
	}
}
