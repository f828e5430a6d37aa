package explain_test

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/explain"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestConcurrentText: a plan that is explained may be explained and read elsewhere at the same time. The race detector
// finds writes to the plan.
func TestConcurrentText(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 40, P: 0.3, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pattern.ByName("star(4)") // its leaves are counted by arithmetic, and restricted among themselves
	if err != nil {
		t.Fatal(err)
	}
	pl, err := planner.Compile(g, p[0], plan.Options{Root: plan.NoRoot, Seed: 1, Method: "nest", Estimates: true})
	if err != nil {
		t.Fatal(err)
	}
	if pl.Tail.K < 2 {
		t.Fatalf("the tail has %d levels: it is to have several", pl.Tail.K)
	}
	var want bytes.Buffer
	if err := explain.Text(pl, &want); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			var got bytes.Buffer
			if err := explain.Text(pl, &got); err != nil || got.String() != want.String() {
				t.Errorf("%v, and\n%snot\n%s", err, got.String(), want.String())
			}
			if err := explain.JSON(pl, io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
