package bind

import (
	"slices"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// Condition binds the conditions of p to a graph, apart from any search. In the returned plan,
// level v is vertex v of the pattern, and edge choice i is its edge i. The last level has one
// check, which holds where all conditions of p do. The plan is not for running.
func Condition(g *graph.Graph, p *pattern.Pattern) (*plan.Plan, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	b, err := bind(newTables(g), p)
	if err != nil {
		return nil, err
	}
	where := slices.Clone(p.Where)
	for i := range p.Edges {
		where = append(where, p.Edges[i].Where...)
	}
	var all pattern.Expr = pattern.Lit{Value: true}
	for i, x := range where {
		if x, err = b.plain(x); err != nil {
			return nil, err
		}
		if i == 0 {
			all = x
		} else {
			all = pattern.Binary{Op: pattern.OpAnd, X: all, Y: x}
		}
	}
	sc := b.scope()
	check := plan.Check{Text: pattern.FormatExpr(p, all), Expr: all, Eval: sc.Check(all), Cost: expr.Cost(all)}
	if err := compiled(sc); err != nil {
		return nil, err
	}
	pl := &plan.Plan{Graph: g, Pattern: p, Mode: p.Mode, Levels: make([]plan.Level, b.N), Warnings: b.warnings, Shared: b.shared}
	for v := range b.N {
		pl.Order, pl.LevelOf = append(pl.Order, v), append(pl.LevelOf, v)
		pl.Levels[v] = plan.Level{Vertex: v, Set: -1}
	}
	for i := range p.Edges {
		pl.Edges = append(pl.Edges, plan.EdgeChoice{Edge: i, From: p.Edges[i].From, To: p.Edges[i].To})
	}
	pl.Levels[b.N-1].Checks = []plan.Check{check}
	return pl, nil
}
