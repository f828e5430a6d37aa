package partition

import (
	"context"
	"errors"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestMakersEnd: makers whose context ends before all rows are made say so, because a search that took the end of their
// rows for all rows would count too few matches.
func TestMakersEnd(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 4000, M: 120000, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := pattern.ByName("path(2)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, ps[0], plan.Options{Root: plan.NoRoot, Embeddings: true})
	if err != nil {
		t.Fatal(err)
	}
	s := search{plan: p, above: make([]uint32, 2), below: make([]uint32, 2)}
	if err := s.makeLevels(g, pairs(p), 0); err != nil {
		t.Fatal(err)
	}
	of := make([]uint32, g.NumVertices())
	for v := range of {
		of[v] = uint32(v % 2)
	}
	took := func(ctx context.Context) (int, error) {
		m := (&crossing{g: g, of: of, s: &s}).make(ctx, 2)
		defer m.stop()
		rows, err := m.take(make([]uint32, 0, 4*len(g.Out.Adj)))
		return len(rows), err
	}
	all, err := took(t.Context())
	if err != nil || all < 2*4*pieceRows {
		t.Fatalf("%d numbers, %v", all, err)
	}
	cause := errors.New("ended")
	ctx, end := context.WithCancelCause(t.Context())
	end(cause)
	for range 5 {
		if n, err := took(ctx); !errors.Is(err, cause) && (err != nil || n != all) {
			t.Errorf("%d numbers of %d, %v", n, all, err)
		}
	}
}
