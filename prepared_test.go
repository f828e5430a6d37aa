package weft_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/weftgraph/weft"
)

// TestCountedAgain: a second count of a query does not plan it again, unless something has changed that its plan
// depends on.
func TestCountedAgain(t *testing.T) {
	g, err := weft.Open(t.Context(), filepath.Join("testdata", "graphs", "karate.txt"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := weft.Parse("MATCH (a)--(b)--(c) WHERE id(a) > $x RETURN count(*)")
	if err != nil {
		t.Fatal(err)
	}
	count := func(q *weft.Query, o ...weft.Option) weft.Result {
		t.Helper()
		r, err := g.Count(t.Context(), q, o...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, o := range [][]weft.Option{
		{weft.WithParam("x", 10)}, {weft.WithParam("x", 20)}, {weft.WithParam("x", 20), weft.WithSemantics("hom")},
		{weft.WithParam("x", 20), weft.WithInduced(true)}, {weft.WithParam("x", 20), weft.WithEngine("oracle")},
	} {
		fresh, err := weft.Parse("MATCH (a)--(b)--(c) WHERE id(a) > $x RETURN count(*)")
		if err != nil {
			t.Fatal(err)
		}
		want := count(fresh, o...)
		for i := range 3 {
			got := count(q, o...)
			if got.Embeddings.Cmp(want.Embeddings) != 0 || got.Engine != want.Engine || got.Semantics != want.Semantics {
				t.Errorf("time %d: %v by %s, want %v by %s", i, got.Embeddings, got.Engine, want.Embeddings, want.Engine)
			}
			if i > 0 && got.Plan != 0 {
				t.Errorf("time %d: planned for %v", i, got.Plan)
			}
			got.Automorphisms.SetInt64(0) // is the caller's
		}
	}
	// A limit is of one run.
	x := weft.WithParam("x", 20)
	if r := count(q, x, weft.WithLimit(2)); r.Complete || r.Embeddings.Int64() != 2 {
		t.Errorf("limit: %v, complete %v", r.Embeddings, r.Complete)
	}
	if r := count(q, x); !r.Complete || r.Plan != 0 {
		t.Errorf("without the limit: complete %v, planned for %v", r.Complete, r.Plan)
	}
	want := count(q, x).Embeddings
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if r, err := g.Count(t.Context(), q, x); err != nil || r.Embeddings.Cmp(want) != 0 {
					t.Errorf("side by side: %v, %v; want %v", r.Embeddings, err, want)
				}
			}
		})
	}
	wg.Wait()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}
