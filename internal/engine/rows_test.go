package engine_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// edgeCounter counts matches and those whose two edges are the same.
type edgeCounter struct {
	mu         sync.Mutex
	rows, same int
}

func (c *edgeCounter) Emit(_ int, b *engine.Batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows += b.Rows
	for i := range b.Rows {
		if e := b.Edges[i*b.EdgeWidth:]; e[0] == e[1] {
			c.same++
		}
	}
	return nil
}

// TestRowsChooseEdges hands over a vertex pair with three parallel edges, for a
// pattern of two edges, by several workers at once.
func TestRowsChooseEdges(t *testing.T) {
	b := graph.NewBuilder(graph.BuildOptions{})
	err := b.AddEdges(&graph.EdgeChunk{Src: []uint64{0, 0, 0}, Dst: []uint64{1, 1, 1}, Time: []int64{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	edge := pattern.Edge{To: 1, Min: 1, Max: 1}
	for _, c := range []struct {
		mode       pattern.Mode
		limit      int64
		rows, same int
		stop       bool
	}{
		{pattern.Trail, 0, 4 * 6, 0, false},
		{pattern.Trail, 7, 7, 0, true},
		{pattern.Hom, 0, 4 * 9, 4 * 3, false},
	} {
		p := &pattern.Pattern{Vertices: make([]pattern.Vertex, 2), Edges: []pattern.Edge{edge, edge}, Mode: c.mode}
		p.Edges[0].Name, p.Edges[1].Name = "e", "f"
		pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot, Listing: true, Method: "nest"})
		if err != nil {
			t.Fatal(err)
		}
		var sink edgeCounter
		r := engine.NewRows(pl, &sink, c.limit)
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for w := range errs {
			wg.Go(func() { errs[w] = r.Hand(w, []uint32{0, 1}) })
		}
		wg.Wait()
		if sink.rows != c.rows || sink.same != c.same || r.Matches() != uint64(c.rows) {
			t.Errorf("%v, limit %d: %d matches and %d of one edge twice, %d told; want %d and %d",
				c.mode, c.limit, sink.rows, sink.same, r.Matches(), c.rows, c.same)
		}
		if err := errors.Join(errs...); errors.Is(err, engine.ErrStop) != c.stop {
			t.Errorf("%v, limit %d: %v", c.mode, c.limit, err)
		}
	}
}
