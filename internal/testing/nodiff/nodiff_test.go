package nodiff

import (
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
