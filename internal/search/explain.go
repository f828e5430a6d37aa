package search

import (
	"context"
	"errors"
	"slices"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/explain"
	"github.com/weftgraph/weft/internal/setting"
)

// Explanation describes how a query would be answered and, if it was run as well, the run's
// result.
type Explanation struct {
	Job    *Job
	Result *Result // nil: it was not run
	Actual []explain.Actual
	Memory *engine.Memory // of a GPU; nil: none is used, or the engine does not say
}

// Explain plans a listing or a count, as the query's RETURN says. If the settings ask for
// levels, it runs the query as well, without keeping rows.
func (g *Graph) Explain(ctx context.Context, a Question) (*Explanation, error) {
	if a.Query == nil {
		return nil, ErrNoQuery
	}
	returns := a.Query.Return.Kind
	lists := a.listed() || returns == gql.ReturnExists
	root := plan.NoRoot
	if returns == gql.ReturnParticipation {
		root = a.Query.Return.Vertex
	}
	j, err := g.Prepare(ctx, a, func(o *plan.Options) {
		o.Estimates, o.Listing, o.Root = true, lists, root
		o.Embeddings = lists && returns != gql.ReturnExists && a.lists() == setting.Embeddings
	})
	if err != nil {
		return nil, err
	}
	e := &Explanation{Job: j}
	goal := engine.Goal{}
	if lists {
		goal.Sink = discard{}
	} else if root != plan.NoRoot {
		if err := memory.ShareOf(ctx).Take("counts by vertex", 2*16*int64(g.Data.NumVertices())); err != nil {
			return e, Classify(err)
		}
		goal.PerRoot = make([]engine.Uint128, g.Data.NumVertices())
	}
	if e.Memory, err = j.choice.Memory(ctx, goal); err != nil {
		return e, Classify(err)
	}
	j.Plan = j.choice.Plan // of another engine, if the first needs too much memory
	if !a.Settings.Levels {
		return e, nil
	}
	ctx, stop := memory.Watch(ctx, a.Settings.Memory)
	defer stop()
	switch {
	case returns == gql.ReturnExists:
		j.goal.Sink, j.goal.Limit = &first{}, 1
	case lists:
		j.goal.Sink = discard{}
		if j.goal.Limit = a.limit(); j.goal.Limit < 0 {
			return e, nil
		}
	case root != plan.NoRoot:
		j.goal.PerRoot = make([]engine.Uint128, g.Data.NumVertices())
	}
	found, err := j.choice.Run(ctx, j.goal)
	if returns == gql.ReturnExists && errors.Is(err, engine.ErrStop) {
		err = nil
	}
	r := j.result(found)
	if root != plan.NoRoot {
		r.sum(j.goal.PerRoot, j.Plan)
	}
	e.Result = &r
	if !slices.Equal(found.Plan.Order, j.Plan.Order) { // of another plan, after a GPU failed
		found.Levels, found.Filters = nil, nil
	}
	e.Actual = actual(ctx, j.Plan, &found.Result, a.Settings.Workers())
	if cause := memory.Cause(ctx); cause != nil {
		err = cause
	}
	return e, Classify(err)
}

// actual returns a run's figures for each level of its plan.
func actual(ctx context.Context, p *plan.Plan, found *engine.Result, threads int) []explain.Actual {
	out := make([]explain.Actual, len(p.Levels))
	for l := range out {
		if l < len(found.Levels) {
			out[l].Matches, out[l].Seconds = found.Levels[l].Matches.Big(), found.Levels[l].Time.Seconds()
		}
		if p.Empty != nil {
			continue
		}
		left, err := p.Filters(ctx, l, threads)
		if err != nil {
			continue // there is no time for it
		}
		if l < len(found.Filters) {
			left = append(left, found.Filters[l]...)
		}
		out[l].Filters = left
	}
	return out
}

// discard is a sink that wants all rows and keeps none.
type discard struct{}

func (discard) Emit(int, *engine.Batch) error { return nil }
