package weft

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weftgraph/weft/internal/lower/matchatext"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// Matcha writes the plan of q as a program whose input G is the graph, and which,
// run, gives the query's answer: the number that Count gives, subgraphs or
// embeddings as it does; with RETURN exists() whether there is a match; with
// RETURN participation(v) all vertices with the numbers of Participation; with
// other items, or WithListing, the matches' vertices. What of the query a program
// cannot say is an error of kind ErrQuery.
func (g *Graph) Matcha(ctx context.Context, q *Query, options ...Option) (m *Matcha, err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave(&err, &m)
	s, err := g.collect(callMatcha, options)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	p, err := q.pattern(s)
	if err != nil {
		return nil, err
	}
	o, err := s.planOptions(p)
	if err != nil {
		return nil, err
	}
	if ret := &q.q.Return; q.q.HasReturn && ret.Limit >= 0 {
		return nil, withKind(ErrQuery, q.q.AtLimit("a Matcha program does not stop at LIMIT: run it with a limit"))
	} else if len(ret.GroupBy) > 0 {
		return nil, withKind(ErrQuery, q.q.AtItem(ret.GroupBy[0], "a Matcha program does not GROUP BY what it counts: it emits vertices"))
	}
	kind := q.q.Return.Kind
	to := matchatext.Options{List: q.listed(s), Exists: kind == asksExists, Number: matchatext.Subgraphs}
	if q.counts(s) == Embeddings {
		to.Number = matchatext.Embeddings
	}
	o.Estimates, o.Listing, o.Context = true, to.List, ctx
	o.Embeddings = to.List && q.lists(s) == Embeddings
	if kind == asksParticipation {
		o.Root = q.q.Return.Vertex
	}
	if to.List && kind == asksItems {
		if to.Columns, err = q.columns(s); err != nil {
			return nil, err
		}
	}
	pl, err := planner.Compile(g.g, p, o)
	if err == nil && o.Method == "" && (pl.Method == plan.Local || pl.Method == plan.Temporal) {
		// Its order suits that method: others would go over all pairs of vertices, or
		// bind edges last.
		o.Method = plan.Nest.String()
		pl, err = planner.Compile(g.g, p, o)
	}
	if err != nil {
		return nil, planError(ctx, err)
	}
	text, err := matchatext.Program(pl, to)
	if err != nil {
		return nil, withKind(ErrQuery, err)
	}
	return g.rt.ParseMatcha("", text)
}

// MotifsMatcha writes a program whose input G is a graph without directions, and
// which counts every connected pattern of k vertices in one pass: what Motifs does,
// with the same options, in the same order. A directed graph is an error of kind
// ErrUsage without WithDirections(false).
func (g *Graph) MotifsMatcha(ctx context.Context, k int, options ...Option) (m *Matcha, err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave(&err, &m)
	s, err := g.collect(callMotifsMatcha, options)
	if err != nil {
		return nil, err
	}
	if g.g.Directed && !s.noDirections {
		return nil, withKind(ErrUsage, errors.New("a program of motifs does not look at directions: leave them out (--no-directions, WithDirections(false))"))
	}
	qs, err := motifQueries(k, false, s)
	if err != nil {
		return nil, err
	}
	return g.motifsMatcha(ctx, k, qs, s)
}

// motifsMatcha is MotifsMatcha for the motifs of k vertices.
func (g *Graph) motifsMatcha(ctx context.Context, k int, qs []*Query, s *settings) (*Matcha, error) {
	var plans []*plan.Plan
	for _, q := range qs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p, err := q.pattern(s)
		if err != nil {
			return nil, err
		}
		o, err := s.planOptions(p)
		if err != nil {
			return nil, err
		}
		o.Context = ctx
		if o.Method = plan.Nest.String(); o.Order == "" {
			o.Order = "ri" // orders that are alike share their first levels
		}
		pl, err := planner.Compile(g.g, p, o)
		if err != nil {
			return nil, planError(ctx, err)
		}
		plans = append(plans, pl)
	}
	what := "subgraphs"
	if *s.induced {
		what = "induced subgraphs"
	}
	text, err := matchatext.Forest(fmt.Sprintf("# Motifs of %d vertices, all of them in one pass: %s.", k, what), plans)
	if err != nil {
		return nil, withKind(ErrQuery, err)
	}
	return g.rt.ParseMatcha("", text)
}

// columns are the vertices that a RETURN of items names.
func (q *Query) columns(s *settings) (out []int, err error) {
	items, err := withParams(q.q.Return.Items, s.params)
	if err != nil {
		return nil, withKind(ErrQuery, err)
	}
	for _, item := range items {
		x, ok := item.Expr.(pattern.RefExpr)
		if !ok || x.Of.Kind != pattern.VertexRef {
			text := strings.TrimSpace(pattern.FormatExpr(q.q.Pattern, item.Expr))
			return nil, withKind(ErrQuery, q.q.AtItem(item, fmt.Sprintf("a Matcha program does not return %s: it emits vertices", text)))
		}
		out = append(out, x.Of.Index)
	}
	return out, nil
}
