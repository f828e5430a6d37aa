package join

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/graph/layout"
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

// TestSignatureShare: a new table counts to the memory of the query that makes it, as long as it is read; that of a size of its own is made again for each
// query whose memory is limited, and goes with it.
func TestSignatureShare(t *testing.T) {
	g, err := gen.Generate(t.Context(), gen.Spec{Model: "er", N: 3000, M: 9000, EdgeLabels: 2, Seed: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	account := memory.NewAccount("this user may have")
	table := func(size int, limit int64) (*layout.Signatures, func(), error) {
		s := account.Share(limit)
		t.Cleanup(s.Close)
		return signatureTable(memory.WithShare(t.Context(), s), g, size, engine.Options{Threads: 1})
	}
	for _, c := range []struct {
		size  int
		again int64 // bytes that a second query counts
	}{{64, 3000 * 8}, {usualSignature, 0}} {
		bytes := int64(3000 * c.size / 8)
		var short *memory.Error
		if _, _, err := table(c.size, bytes-1); !errors.As(err, &short) || short.Need != uint64(bytes) || account.Used() != 0 {
			t.Errorf("%d bits: %v, %d counted", c.size, err, account.Used())
		}
		first, release, err := table(c.size, bytes)
		if err != nil || account.Used() != bytes {
			t.Fatalf("%d bits: %v, %d counted", c.size, err, account.Used())
		}
		release()
		second, release, err := table(c.size, bytes)
		if err != nil || account.Used() != c.again || (first == second) != (c.again == 0) {
			t.Errorf("%d bits again: %v, %d counted, the same table %t", c.size, err, account.Used(), first == second)
		}
		if release(); account.Used() != 0 {
			t.Errorf("%d bits: %d are still counted", c.size, account.Used())
		}
	}
	// Queries without a limit keep each size.
	one, _, err := table(96, 0)
	if err != nil {
		t.Fatal(err)
	}
	if other, _, err := table(96, 0); err != nil || one != other {
		t.Errorf("a table without a limit is made again: %v", err)
	}
}
