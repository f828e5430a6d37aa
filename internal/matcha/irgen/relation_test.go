package irgen

import (
	"context"
	"slices"
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/matcha/data"
	"github.com/weftgraph/weft/internal/matcha/library"
	"github.com/weftgraph/weft/internal/matcha/passes"
	"github.com/weftgraph/weft/internal/testing/matchatest"
	"github.com/weftgraph/weft/internal/testing/nodiff"
)

// TestRelation: workers make the relations of a join, and nothing of them is made before.
func TestRelation(t *testing.T) {
	entries := library.Entries()
	join := slices.IndexFunc(entries, func(e library.Entry) bool { return e.Name == "join" })
	p := matchatest.Build(t, entries[join].Text)
	passes.Optimize(p)
	one := []string{"1"}
	spec := nodiff.Spec{N: 4, Labels: [][]string{one, one, one, one}, Edges: []nodiff.SpecEdge{{U: 0, V: 1}, {U: 1, V: 2}, {U: 2, V: 0}, {U: 0, V: 3}}}
	g := spec.Build()
	in := map[string]data.Input{"G": {Graph: g}}
	for _, l := range []string{"l0", "l1", "l2", "l3"} {
		in[l] = data.Input{Var: 1}
	}
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Lower(context.Background(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	parallel, words := 0, 0
	for _, ph := range c.Phases {
		if ph.Item != nil {
			parallel++
		}
	}
	for _, g := range c.Program.Globals {
		if g.Kind != kir.Adj {
			words += len(g.Adj) + len(g.Words)
		}
	}
	if vertices := g.NumVertices(); parallel != 4 || words != vertices+1 {
		t.Errorf("%d parallel phases, and %d words that are made before; want 4 and where %d lists begin", parallel, words, vertices)
	}
	if got := run(t, nil, c); got != "[2]" {
		t.Errorf("%s, want the triangle with its tail twice", got)
	}
}

// TestSemiJoins: relations of relations, with conditions on numbers of neighbours, are made by all workers too.
func TestSemiJoins(t *testing.T) {
	text := `input G: Graph
let A = mk_graph(apply(lambda e: e, lambda e: get(e, 0) + get(e, 1) > 1, edges(G)))
let B = mk_graph(apply(lambda e: e, lambda e: size(neighbor(A, get(e, 1))) > 1, edges(A)))
let C = mk_graph(apply(lambda e: e, lambda e: size(neighbor(B, get(e, 0))) < size(neighbor(A, get(e, 1))), edges(B)))
return sum(apply(lambda v: size(neighbor(C, v)), None, vertices(G)))
`
	g := graph.FromEdges(5, [][2]uint32{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}}, false)
	in := map[string]data.Input{"G": {Graph: g}}
	p := matchatest.Build(t, text)
	set, err := data.Bind(p, in)
	if err != nil {
		t.Fatal(err)
	}
	want := oracle(t, p, set)
	passes.Optimize(p)
	if set, err = data.Bind(p, in); err != nil {
		t.Fatal(err)
	}
	c, err := Lower(context.Background(), p, set)
	if err != nil {
		t.Fatal(err)
	}
	parallel, words := 0, 0
	for _, ph := range c.Phases {
		if ph.Item != nil {
			parallel++
		}
	}
	for _, g := range c.Program.Globals {
		if g.Kind != kir.Adj {
			words += len(g.Adj) + len(g.Words)
		}
	}
	if vertices := g.NumVertices(); parallel != 4 || words != vertices+1 {
		t.Errorf("%d parallel phases, and %d words that are made before; want 4 and where %d lists begin", parallel, words, vertices)
	}
	if got := run(t, nil, c); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
