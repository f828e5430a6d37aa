package search

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/setting"
	"github.com/weftgraph/weft/internal/sink"
)

// listing is the purpose of a listing.
func (a Question) listing() purpose {
	if a.lists() == setting.Embeddings {
		return listingEmbeddings
	}
	return listingSubgraphs
}

// list is Run for a listing.
func (j *Job) list(ctx context.Context, s engine.Sink) (Result, error) {
	r, err := j.Run(ctx, s)
	if err == nil {
		j.g.cache.put(j, j.listing())
	}
	return r, err
}

// prepareList is Prepare for a listing; a nil job lists nothing (LIMIT 0).
func (g *Graph) prepareList(ctx context.Context, a Question) (*Job, error) {
	var j *Job
	if a.Query != nil { // otherwise Prepare says what is wrong
		j = g.cache.take(a, a.listing())
	}
	if j == nil {
		var err error
		j, err = g.Prepare(ctx, a, func(o *plan.Options) {
			o.Listing = true
			o.Embeddings = a.lists() == setting.Embeddings
		})
		if err != nil {
			return nil, err
		}
	}
	j.goal = engine.Goal{Progress: a.Settings.Searching(), Details: a.Settings.Details}
	if j.goal.Limit = a.limit(); j.goal.Limit < 0 {
		return nil, nil
	}
	return j, nil
}

// Match yields the matches of a query, in no order, and an error that ends them. Batches of them
// come from all threads.
func (g *Graph) Match(ctx context.Context, a Question) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		j, err := g.prepareList(ctx, a)
		if err != nil {
			yield(Match{}, err)
			return
		}
		if j == nil {
			return
		}
		of, err := newRows(j)
		if err != nil {
			yield(Match{}, a.wrongItem(err))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		batches := &channel{ctx: ctx, to: make(chan engine.Batch, 4)}
		var failed error
		go func() {
			defer close(batches.to)
			_, failed = j.list(ctx, batches)
		}()
		defer func() { // the search ends before the caller's lease does
			cancel()
			for range batches.to {
			}
		}()
		for b := range batches.to {
			for i := range b.Rows {
				if !yield(Match{of, b.Vertices[i*b.Width : (i+1)*b.Width], b.Edges[i*b.EdgeWidth : (i+1)*b.EdgeWidth]}, nil) {
					return
				}
			}
		}
		if failed != nil {
			yield(Match{}, failed)
		}
	}
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

// List writes the matches of a query to w: its RETURN's items, or all names.
func (g *Graph) List(ctx context.Context, a Question, w io.Writer, format string) (r Result, err error) {
	if err := sink.CheckFormat(format); err != nil {
		return r, Classify(err)
	}
	start := time.Now()
	j, err := g.prepareList(ctx, a)
	if err != nil {
		return a.unplanned(ctx, start), err
	}
	none := j == nil
	if none {
		if j, err = g.Prepare(ctx, a, nil); err != nil {
			return a.unplanned(ctx, start), err
		}
	}
	columns, err := j.columns()
	if err != nil {
		return r, a.wrongItem(err)
	}
	out, err := sink.New(w, sink.Options{Format: format, Columns: columns, Graph: g.Data, Workers: max(a.Settings.Workers(), j.choice.Workers)})
	if err != nil {
		return r, err
	}
	j.notes = j.missing(a.Query.Return.Items)
	if !none {
		r, err = j.list(ctx, out)
	} else {
		r = j.result(route.Result{Result: engine.Result{Engine: j.choice.Engine.Name(), Device: "cpu"}, Plan: j.Plan, Reason: j.choice.Reason})
	}
	if err != nil || !none && !r.Complete {
		out.Incomplete()
	}
	if cerr := out.Close(); cerr != nil {
		err = cerr
	}
	return r, err
}

// columns are the columns of a listing.
func (j *Job) columns() ([]sink.Column, error) {
	p, g := j.Plan.Pattern, j.g.Data
	columns := j.lead()
	if ret := &j.Query.Return; ret.Kind == gql.ReturnItems {
		items, err := j.valuesOf(ret.Items, p, j.edgeAt)
		return append(columns, items...), err
	}
	for v := range p.Vertices {
		columns = append(columns, sink.Vertex(g, p.VertexName(v), v))
	}
	for e := range p.Edges { // in the order of the text, which is not the plan's
		if at := j.edgeAt(e); at >= 0 && p.Edges[e].Named() {
			columns = append(columns, sink.Edge(g, p.EdgeName(e), at))
		}
	}
	return columns, nil
}

// lead is the column before all others, which has the query's name in each row, where it is asked
// for.
func (j *Job) lead() []sink.Column {
	if !j.Settings.QueryColumn {
		return nil
	}
	name := j.Name()
	return []sink.Column{sink.Value("query", sink.String, func([]uint32, []uint64) any { return name })}
}

// valuesOf are columns of the values of items.
func (j *Job) valuesOf(items []gql.Item, p *pattern.Pattern, edgeAt func(edge int) int) ([]sink.Column, error) {
	items, err := j.Items(items)
	if err != nil {
		return nil, err
	}
	var columns []sink.Column
	for _, item := range items {
		c, err := sink.Expr(j.g.Data, p, label(p, item), item.Expr, edgeAt)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// missing are warnings of properties in items of a RETURN that no vertex or edge has, besides those
// that the plan gives.
func (j *Job) missing(items []gql.Item) (notes []string) {
	add := func(what, key string) {
		begin := fmt.Sprintf("no %s has the property %s", what, pattern.QuoteName(key))
		if !slices.ContainsFunc(slices.Concat(j.Plan.Warnings, notes), func(s string) bool { return strings.HasPrefix(s, begin) }) {
			notes = append(notes, begin+": its column is empty")
		}
	}
	for _, i := range items {
		pattern.Walk(i.Expr, func(x pattern.Expr) bool {
			if p, ok := x.(pattern.Prop); ok && !sink.HasProperty(j.g.Data, p) {
				add(map[pattern.RefKind]string{pattern.VertexRef: "vertex", pattern.EdgeRef: "edge"}[p.Of.Kind], p.Key)
			}
			return true
		})
	}
	return notes
}
