package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/lower/matchatext"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/setting"
)

// MatchaText writes the plan of a query as a program that gives the query's answer.
func (g *Graph) MatchaText(ctx context.Context, a Question) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	p, err := a.Pattern()
	if err != nil {
		return "", err
	}
	o, err := a.Settings.PlanOptions(p)
	if err != nil {
		return "", err
	}
	ret := &a.Query.Return
	if a.Query.HasReturn && ret.Limit >= 0 {
		return "", kind.With(kind.Query, a.Query.AtLimit("a Matcha program does not stop at LIMIT: run it with a limit"))
	} else if len(ret.GroupBy) > 0 {
		return "", kind.With(kind.Query, a.Query.AtItem(ret.GroupBy[0], "a Matcha program does not GROUP BY what it counts: it emits vertices"))
	}
	to := matchatext.Options{List: a.listed(), Exists: ret.Kind == gql.ReturnExists, Number: matchatext.Subgraphs}
	if a.counts() == setting.Embeddings {
		to.Number = matchatext.Embeddings
	}
	o.Estimates, o.Listing, o.Context = true, to.List, ctx
	o.Embeddings = to.List && a.lists() == setting.Embeddings
	if ret.Kind == gql.ReturnParticipation {
		o.Root = ret.Vertex
	}
	if to.List && ret.Kind == gql.ReturnItems {
		if to.Columns, err = a.vertices(); err != nil {
			return "", err
		}
	}
	pl, err := planner.Compile(g.Data, p, o)
	if err == nil && o.Method == "" && (pl.Method == plan.Local || pl.Method == plan.Temporal) {
		// Its order suits that method: others would go over all pairs of vertices, or
		// bind edges last.
		o.Method = plan.Nest.String()
		pl, err = planner.Compile(g.Data, p, o)
	}
	if err != nil {
		return "", planError(ctx, err)
	}
	text, err := matchatext.Program(pl, to)
	return text, kind.With(kind.Query, err)
}

// ForestText writes the plans of several queries as one program, after a line of comment.
func (g *Graph) ForestText(ctx context.Context, comment string, qs []Question) (string, error) {
	var plans []*plan.Plan
	for _, a := range qs {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		p, err := a.Pattern()
		if err != nil {
			return "", err
		}
		o, err := a.Settings.PlanOptions(p)
		if err != nil {
			return "", err
		}
		o.Context = ctx
		if o.Method = plan.Nest.String(); o.Order == "" {
			o.Order = "ri" // orders that are alike share their first levels
		}
		pl, err := planner.Compile(g.Data, p, o)
		if err != nil {
			return "", planError(ctx, err)
		}
		plans = append(plans, pl)
	}
	text, err := matchatext.Forest(comment, plans)
	return text, kind.With(kind.Query, err)
}

// vertices are the vertices that a RETURN of items names.
func (a Question) vertices() (out []int, err error) {
	items, err := a.Items(a.Query.Return.Items)
	if err != nil {
		return nil, kind.With(kind.Query, err)
	}
	for _, item := range items {
		x, ok := item.Expr.(pattern.RefExpr)
		if !ok || x.Of.Kind != pattern.VertexRef {
			text := strings.TrimSpace(pattern.FormatExpr(a.Query.Pattern, item.Expr))
			return nil, kind.With(kind.Query, a.Query.AtItem(item, fmt.Sprintf("a Matcha program does not return %s: it emits vertices", text)))
		}
		out = append(out, x.Of.Index)
	}
	return out, nil
}
