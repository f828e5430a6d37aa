package weft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/sink"
)

// Match lists the matches of q, in no order. The iteration may be left at any
// time; an error ends it. Matches come in batches from all threads: one that is kept keeps
// its batch in memory, and may be read until the graph is closed and this loop has ended.
func (g *Graph) Match(ctx context.Context, q *Query, options ...Option) iter.Seq2[Match, error] {
	return func(next func(Match, error) bool) {
		yield := func(m Match, err error) bool {
			endedBy(ctx, &err)
			return next(m, err)
		}
		ctx := ctx
		l, err := g.enter(&ctx)
		if err != nil {
			yield(Match{}, err)
			return
		}
		defer l.end()
		s, err := g.collect(callMatch, options)
		if err != nil {
			yield(Match{}, err)
			return
		}
		j, err := g.prepareList(ctx, q, s)
		if err != nil {
			yield(Match{}, err)
			return
		}
		if j == nil {
			return
		}
		of, err := g.listing(j, q)
		err = q.atTime(err)
		if err != nil {
			yield(Match{}, withKind(ErrQuery, err))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		rows := &channel{ctx: ctx, to: make(chan engine.Batch, 4)}
		var runErr error
		go func() {
			defer close(rows.to)
			_, runErr = j.run(ctx, rows)
		}()
		defer func() { // the search ends before the lease does
			cancel()
			for range rows.to {
			}
		}()
		for b := range rows.to {
			for i := range b.Rows {
				if !yield(Match{of, b.Vertices[i*b.Width : (i+1)*b.Width], b.Edges[i*b.EdgeWidth : (i+1)*b.EdgeWidth]}, nil) {
					return
				}
			}
		}
		if runErr != nil {
			yield(Match{}, runErr)
		}
	}
}

// prepareList is prepare for a listing; a nil job lists nothing (LIMIT 0).
func (g *Graph) prepareList(ctx context.Context, q *Query, s *settings) (*job, error) {
	j, err := g.prepare(ctx, q, s, func(o *plan.Options) {
		o.Listing = true
		o.Embeddings = q.lists(s) == Embeddings
	})
	if err != nil {
		return nil, err
	}
	if j.goal.Limit = q.limit(s); j.goal.Limit < 0 {
		return nil, nil
	}
	return j, nil
}

// lists is what a listing of q is about: a RETURN of items lists what its
// count(*) would count, a pattern without RETURN its subgraphs.
func (q *Query) lists(s *settings) What {
	if s.what > 0 {
		return s.what - 1
	}
	switch q.q.Return.Kind {
	case gql.ReturnItems, gql.ReturnCount:
		return Embeddings
	}
	return Subgraphs
}

// channel is a sink that hands batches to an iteration.
type channel struct {
	ctx context.Context
	to  chan engine.Batch
}

func (c *channel) Emit(_ int, b *engine.Batch) error {
	own := *b // the engine uses b's memory again
	own.Vertices, own.Edges = slices.Clone(b.Vertices[:b.Rows*b.Width]), slices.Clone(b.Edges[:b.Rows*b.EdgeWidth])
	select {
	case c.to <- own:
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

// first is a sink that wants one match.
type first struct{ found atomic.Bool }

func (f *first) yes() bool { return f.found.Load() }

func (f *first) Emit(_ int, b *engine.Batch) error {
	if b.Rows > 0 {
		f.found.Store(true)
		return engine.ErrStop
	}
	return nil
}

// List writes the matches of q to w: its RETURN's items, or all names. The
// formats are table, json, ndjson, csv, arrow and parquet.
func (g *Graph) List(ctx context.Context, q *Query, w io.Writer, format string, options ...Option) (r Result, err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return r, err
	}
	defer l.leave(&err, &r)
	if err := sink.CheckFormat(format); err != nil {
		return Result{}, classify(err)
	}
	s, err := g.collect(callList, options)
	if err != nil {
		return Result{}, err
	}
	start := time.Now()
	j, err := g.prepareList(ctx, q, s)
	if err != nil {
		return g.unplanned(ctx, q, s, start), err
	}
	none := j == nil
	if none {
		if j, err = g.prepare(ctx, q, s, nil); err != nil {
			return g.unplanned(ctx, q, s, start), err
		}
	}
	cols, err := g.columns(j, q)
	err = q.atTime(err)
	if err != nil {
		return Result{}, withKind(ErrQuery, err)
	}
	out, err := sink.New(w, sink.Options{Format: format, Columns: cols, Graph: g.g, Workers: max(s.workers(), j.choice.Workers)})
	if err != nil {
		return Result{}, err
	}
	j.plan.Warnings = append(j.plan.Warnings, g.missingColumns(q.q.Return.Items, j.plan.Warnings)...)
	if !none {
		r, err = j.run(ctx, out)
	} else {
		r = j.result(route.Result{Result: engine.Result{Engine: j.choice.Engine.Name(), Device: "cpu"}, Plan: j.plan, Reason: j.choice.Reason})
	}
	if cerr := out.Close(); cerr != nil {
		err = cerr
	}
	return r, err
}

// edgeAt is the place of a pattern edge among a row's chosen edges, or -1.
func (j *job) edgeAt(e int) int {
	return slices.IndexFunc(j.plan.Edges, func(c plan.EdgeChoice) bool { return c.Edge == e })
}

// columns are the columns of a listing.
func (g *Graph) columns(j *job, q *Query) ([]sink.Column, error) {
	p := j.plan.Pattern
	var cols []sink.Column
	if j.s.queryCol {
		cols = append(cols, queryColumn(q))
	}
	if q.q.Return.Kind != gql.ReturnItems {
		for v := range p.Vertices {
			cols = append(cols, sink.Vertex(g.g, p.VertexName(v), v))
		}
		for e := range p.Edges { // in the order of the text, which is not the plan's
			if at := j.edgeAt(e); at >= 0 && p.Edges[e].Named() {
				cols = append(cols, sink.Edge(g.g, p.EdgeName(e), at))
			}
		}
		return cols, nil
	}
	items, err := g.items(q.q.Return.Items, p, j.s, j.edgeAt)
	return append(cols, items...), err
}

// queryColumn has the query's name in each row.
func queryColumn(q *Query) sink.Column {
	name := q.Name()
	return sink.Value("query", sink.String, func([]uint32, []uint64) any { return name })
}

// items are columns of the values of items.
func (g *Graph) items(items []gql.Item, p *pattern.Pattern, s *settings, edgeAt func(edge int) int) ([]sink.Column, error) {
	items, err := withParams(items, s.params)
	if err != nil {
		return nil, err
	}
	var cols []sink.Column
	for _, item := range items {
		c, err := sink.Expr(g.g, p, label(p, item), item.Expr, edgeAt)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	return cols, nil
}

// missingColumns are warnings of properties in items of a RETURN that no vertex or
// edge has, beside those that the plan has given.
func (g *Graph) missingColumns(items []gql.Item, given []string) (notes []string) {
	add := func(what, key string) {
		begin := fmt.Sprintf("no %s has the property %s", what, pattern.QuoteName(key))
		if !slices.ContainsFunc(slices.Concat(given, notes), func(s string) bool { return strings.HasPrefix(s, begin) }) {
			notes = append(notes, begin+": its column is empty")
		}
	}
	for _, i := range items {
		pattern.Walk(i.Expr, func(x pattern.Expr) bool {
			if p, ok := x.(pattern.Prop); ok && !sink.HasProperty(g.g, p) {
				add(map[pattern.RefKind]string{pattern.VertexRef: "vertex", pattern.EdgeRef: "edge"}[p.Of.Kind], p.Key)
			}
			return true
		})
	}
	return notes
}

// label is the name of an item's column.
func label(p *pattern.Pattern, item gql.Item) string {
	if item.Name != "" {
		return item.Name
	}
	return strings.TrimSpace(pattern.FormatExpr(p, item.Expr))
}

// atTime is err, a mistake in how an item uses times at its place in the query.
func (q *Query) atTime(err error) error {
	var wrong *pattern.TimeError
	if errors.As(err, &wrong) {
		return withKind(ErrQuery, q.q.AtText(wrong.Near, wrong.Msg, wrong.Expected))
	}
	return err
}

// withParams replaces the parameters in the items.
func withParams(items []gql.Item, params map[string]any) ([]gql.Item, error) {
	carrier := &pattern.Pattern{}
	for _, i := range items {
		carrier.Where = append(carrier.Where, i.Expr)
	}
	carrier, err := pattern.SubstituteParams(carrier, params)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(items)
	for i := range out {
		out[i].Expr = carrier.Where[i]
	}
	return out, nil
}
