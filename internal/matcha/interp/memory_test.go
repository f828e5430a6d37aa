package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/matcha/asg"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/types"
	"github.com/weftgraph/weft/internal/testing/matchatest"
)

// TestCounterMemory: a Counter does not remember each add, and is still empty after reset.
func TestCounterMemory(t *testing.T) {
	k := counter{dense: make([]types.Word, 100), keys: 100}
	p := matchatest.Build(t, `
let c = Counter(100)
def change(i):
    return add(c, 3, 1) + add(c, i - i / 100 * 100, 1) + add(c, 7, -1)
let a = sum(apply(change, None, range(100000)))
let b = get(c, 3)
reset(c)
return a - a + b + sum(apply(lambda i: get(c, i), None, range(100)))
`)
	set, err := data.Bind(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{ctx: t.Context(), p: p, in: set, cells: make([]cell, p.Nodes()), runs: map[*asg.Func]*uint64{}}
	m.prepare(p.Main)
	m.begin(p.Main)
	m.perform(p.Main)
	if got := m.words(p.Main.Result); got[0] != 101000 {
		t.Errorf("the result is %v", got)
	}
	found := false
	for i := range m.cells {
		if c := m.cells[i].count; c != nil {
			found = true
			if cap(c.touched) > len(c.dense) {
				t.Errorf("%d keys are remembered of %d", cap(c.touched), len(c.dense))
			}
		}
	}
	if !found {
		t.Error("there is no Counter")
	}
	if k.size() != 0 {
		t.Error("an empty Counter has work")
	}
}

// TestBesides: tables of what a list is compared with count as memory.
func TestBesides(t *testing.T) {
	p := matchatest.Build(t, `
input G: Graph
input l: List[int]
return size(intersect(vertices(G), l))
`)
	in := map[string]data.Input{"G": {Graph: graph.FromEdges(2, [][2]uint32{{0, 1}}, false)}, "l": {Items: make([]types.Word, 1000)}}
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	var room *data.MemoryError
	if _, err := Run(t.Context(), p, set, Options{Memory: 63_000}); !errors.As(err, &room) {
		t.Errorf("a table of 1000 items within 63 kB: %v", err)
	}
	if _, err := Run(t.Context(), p, set, Options{Memory: 70_000}); err != nil {
		t.Error(err)
	}
}

// TestEndOfWork: a run ends soon after its context, also inside operators that look at much at a time.
func TestEndOfWork(t *testing.T) {
	var edges [][2]uint32
	for v := range uint32(200_000) {
		edges = append(edges, [2]uint32{v, v + 1})
	}
	g := graph.FromEdges(200_001, edges, false)
	for _, what := range []string{"size(vertices(G)) + i", "size(edges(G)) + i", "add(Counter(1000000), 1, i)"} {
		p := matchatest.Build(t, fmt.Sprintf("input G: Graph\nreturn sum(apply(lambda i: %s, None, range(100000000)))\n", what))
		set, err := data.Bind(p, map[string]data.Input{"G": {Graph: g}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		_, err = Run(ctx, p, set, Options{})
		cancel()
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > time.Second {
			t.Errorf("%s: %v after %v", strings.Fields(what)[0], err, took)
		}
	}
}
