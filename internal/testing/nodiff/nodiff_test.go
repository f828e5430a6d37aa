package nodiff

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/oracle"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// bare makes plans that only the oracle can run.
func bare(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
	pl := &plan.Plan{Graph: g, Pattern: p, Aut: oracle.Automorphisms(p), Rooted: o.Root >= 0}
	pl.Restricted = p.Mode == pattern.Iso && !o.Embeddings && !o.NoRestrictions
	pl.Order = []int{max(o.Root, 0)}
	for _, e := range oracle.Choices(p) {
		pl.Edges = append(pl.Edges, plan.EdgeChoice{Edge: e})
	}
	return pl, nil
}

func TestOracleAgreesWithItself(t *testing.T) {
	c := Config{Engine: oracle.New(), Compile: bare}
	Check(t, c)
	Suite{Plans: 20, Graphs: 10}.Run(t, c, []engine.Engine{oracle.New(), oracle.New()})
	c.MaxVertices, c.MaxPattern = 3, 4
	Laws(t, c)
}

// failing prepares no plan.
type failing struct {
	engine.Engine
	err error
}

func (f failing) Prepare(context.Context, *graph.Graph, *plan.Plan, engine.Options) (engine.Prepared, error) {
	return nil, f.err
}

// TestRefusals: an engine that says that it does not run a plan refuses, and any other error is a failure of the test.
func TestRefusals(t *testing.T) {
	p, err := pattern.ByName("triangle")
	if err != nil {
		t.Fatal(err)
	}
	g := (&Spec{N: 3}).Build()
	broken := errors.New("the engine is broken")
	for _, c := range []struct {
		prepare, compile error
		method           string
		refused          bool
	}{
		{prepare: plan.Refusef("it lists only"), refused: true},
		{prepare: fmt.Errorf("a method: %w", plan.Refusef("it counts only")), refused: true},
		{prepare: broken},
		{compile: plan.Errorf("no formula"), method: "formula", refused: true},
		{compile: broken, method: "formula"},
		{compile: plan.Errorf("no plan")}, // nothing was asked for that may not suit the pattern
	} {
		compile := func(g *graph.Graph, p *pattern.Pattern, o plan.Options) (*plan.Plan, error) {
			if c.compile != nil {
				return nil, c.compile
			}
			return bare(g, p, o)
		}
		of := Config{Engine: failing{oracle.New(), c.prepare}, Compile: compile}
		_, refused, err := of.accept(g, p[0], plan.Options{Root: plan.NoRoot, Method: c.method}, engine.Options{})
		if (refused != "") != c.refused || (err == nil) != c.refused {
			t.Errorf("prepare %v, compile %v, method %q: refused %q, error %v", c.prepare, c.compile, c.method, refused, err)
		}
	}
}
