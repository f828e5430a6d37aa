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

// TestTally: of the configurations for each technique, and of those for none, at least half must be accepted. What too few of them say
// is drawn again.
func TestTally(t *testing.T) {
	tech := Technique{Name: "a technique"}
	c := Config{Techniques: []Technique{tech}, LeastRuns: 1}
	for _, forced := range []*Technique{nil, &tech} {
		a := newTally()
		a.ran(&tech, engine.Result{}, 1)
		a.ran(nil, engine.Result{}, 1)
		for range 2 {
			if a.refuse(forced, "by design"); a.open(forced) != (len(a.wrong(c)) > 0) || a.open(forced) != a.unsettled(c) {
				t.Errorf("open: %v, wrong: %q", a.open(forced), a.wrong(c))
			}
		}
		if !a.open(forced) || (len(a.wanted(c)) > 0) != (forced != nil) {
			t.Errorf("with 1 accepted of 3: open: %v, wanted: %v", a.open(forced), a.wanted(c))
		}
		for range enough {
			a.refuse(forced, "by design")
		}
		if a.open(forced) || len(a.wanted(c)) > 0 || len(a.wrong(c)) != 1 {
			t.Errorf("with 1 accepted of many: open: %v, wrong: %q", a.open(forced), a.wrong(c))
		}
		for range enough + 1 {
			if forced != nil {
				a.without(forced)
			} else {
				a.ran(nil, engine.Result{}, 1)
			}
		}
		if got := a.wrong(c); len(got) > 0 {
			t.Errorf("with half accepted: %q", got)
		}
	}
}
