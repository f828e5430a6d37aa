package oracle

import (
	"context"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph"
)

// TestCancelBuilding: making the world ready, which is slow at a hub, ends with
// the context.
func TestCancelBuilding(t *testing.T) {
	const leaves = 200_000
	edges := make([][2]uint32, leaves)
	for i := range edges {
		edges[i] = [2]uint32{0, uint32(i + 1)}
	}
	g := graph.FromEdges(leaves+1, edges, false)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := Embeddings(ctx, g, named(t, "path(2)"), func(Match) bool { return true })
	if took := time.Since(start); err == nil || took > 3*time.Minute {
		t.Errorf("%v after %v", err, took)
	}
}
