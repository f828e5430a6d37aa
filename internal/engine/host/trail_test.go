package host_test

import (
	"testing"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// TestTrailsByFormula: trails of a simple graph as a sum over the vertices that
// coincide, against taking every match in hand. TestNoDiff has labels.
func TestTrailsByFormula(t *testing.T) {
	undirected := generate(t, gen.Spec{Model: "er", N: 40, P: 0.25, Seed: 3})
	var arcs [][2]uint32 // with reciprocal ones
	for u := range uint32(24) {
		for v := range uint32(24) {
			if u != v && (u*7+v*5)%4 == 0 {
				arcs = append(arcs, [2]uint32{u, v})
			}
		}
	}
	directed := graph.FromEdges(24, arcs, true)
	for _, name := range []string{"triangle", "path(3)", "path(4)", "star(3)", "cycle(4)", "cycle(5)", "diamond", "bowtie", "tailed_triangle"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p := ps[0].Clone()
		p.Mode = pattern.Trail
		for _, g := range []*graph.Graph{undirected, directed} {
			if g.Directed { // where an edge of either direction could be two
				for i := range p.Edges {
					p.Edges[i].Dir = pattern.Forward
				}
			}
			want, got := embeddings(t, g, p, "nest"), embeddings(t, g, p, "formula")
			if got == nil || got.Cmp(want) != 0 {
				t.Errorf("%s, directed=%v: %v trails by the formula, %v by the nest", name, g.Directed, got, want)
			}
		}
	}
}

// TestTrailsChoose: where a nest would take long the formula is chosen, and not
// where an edge table could have two edges between the same vertices.
func TestTrailsChoose(t *testing.T) {
	g := generate(t, gen.Spec{Model: "er", N: 400, P: 0.2, Seed: 1})
	ps, err := pattern.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	p := ps[0].Clone()
	p.Mode = pattern.Trail
	pl, err := plan.Compile(g, p, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	if pl.Method != plan.Decomposed || len(pl.Formula.Terms) != 1 {
		t.Errorf("triangles as trails are counted by %v, formula %v", pl.Method, pl.Formula)
	}
	if pl, err = plan.Compile(g, p, plan.Options{Root: plan.NoRoot, Listing: true}); err != nil || pl.Formula != nil {
		t.Errorf("a listing has the formula %v (%v)", pl.Formula, err)
	}
}
