package host_test

import (
	"context"
	"math/big"
	"testing"

	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph/gen"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// TestHomomorphismsByFormula: homomorphisms as a product over the parts at a cut vertex,
// of which nothing is taken off, against the oracle.
func TestHomomorphismsByFormula(t *testing.T) {
	g := generate(t, gen.Spec{Model: "er", N: 14, P: 0.3, Seed: 4})
	for _, name := range []string{"path(3)", "path(4)", "path(6)", "star(3)", "fork", "cycle(5)", "tailed_triangle", "bowtie", "dart", "lollipop(3,2)", "triangle"} {
		ps, err := pattern.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		p := ps[0].Clone()
		p.Mode = pattern.Hom
		want := new(big.Int)
		if err := oracle.Embeddings(context.Background(), g, p, func(oracle.Match) bool { want.Add(want, big.NewInt(1)); return true }); err != nil {
			t.Fatal(err)
		}
		if got := embeddings(t, g, p, "formula"); got == nil || got.Cmp(want) != 0 {
			t.Errorf("%s: %v homomorphisms by the formula, %v by the oracle", name, got, want)
		}
	}
}

// TestHomomorphismsChoose: a path that would take long is cut into rooted parts.
func TestHomomorphismsChoose(t *testing.T) {
	g := generate(t, gen.Spec{Model: "er", N: 400, P: 0.2, Seed: 1})
	ps, err := pattern.ByName("path(6)")
	if err != nil {
		t.Fatal(err)
	}
	p := ps[0].Clone()
	p.Mode = pattern.Hom
	pl, err := planner.Compile(g, p, plan.Options{Root: plan.NoRoot})
	if err != nil {
		t.Fatal(err)
	}
	if pl.Method != plan.Decomposed || len(pl.Formula.Terms) != 1 || len(pl.Formula.Terms[0].Dot) != 2 {
		t.Errorf("paths are counted by %v, formula %v", pl.Method, pl.Formula)
	}
}
