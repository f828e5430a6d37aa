package join

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestSignatureRoom: a table of signatures that is larger than the memory is refused before it is made, and a query
// that only may have one (join.filter=auto) does without. With room again it is made.
func TestSignatureRoom(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 300, M: 3000, EdgeLabels: 2, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gql.Parse("MATCH (a)-[:0]-(b)-[:1]-(c)-[:0]-(d)-[:1]-(e)")
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Compile(g, q.Pattern, plan.Options{Root: plan.NoRoot, Order: "given", Given: []int{0, 1, 2, 3, 4}, NoTail: true})
	if err != nil {
		t.Fatal(err)
	}
	if !signaturesPay(g, p) {
		t.Fatal("signatures are not worth while, so that auto has none anyway")
	}
	for _, c := range []struct {
		filter        string
		memory        int64
		refused, used bool
	}{
		{"signature", 1, true, false},
		{"auto", 1, false, false},
		{"auto", 0, false, true},
		{"signature", 1, false, true}, // the graph has it already
	} {
		ready, err := New().Prepare(t.Context(), g, p, engine.Options{Threads: 1, Memory: c.memory, Opt: map[string]string{"join.filter": c.filter, "join.signature": "4096"}})
		var room *memory.Error
		if errors.As(err, &room) != c.refused || err != nil && !c.refused {
			t.Fatalf("filter %s in %d bytes: %v", c.filter, c.memory, err)
		}
		if c.refused {
			continue
		}
		said := strings.Join(ready.(*prepared).said, "; ")
		if used := strings.Contains(said, "signatures leave"); used != c.used || used == strings.Contains(said, "no filter by signatures") {
			t.Errorf("filter %s in %d bytes: %s", c.filter, c.memory, said)
		}
	}
}
