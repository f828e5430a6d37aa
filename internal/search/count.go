package search

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/plan"
)

// Count counts the matches of a query. If ctx ends first, it returns the matches found so far,
// marked as not complete, with the context's error.
func (g *Graph) Count(ctx context.Context, a Question) (Result, error) {
	start := time.Now()
	j, err := g.prepareCount(ctx, a)
	if err != nil {
		return a.unplanned(ctx, start), err
	}
	return j.count(ctx)
}

// prepareCount is Prepare for a count, or the job of the last count of the query.
func (g *Graph) prepareCount(ctx context.Context, a Question) (*Job, error) {
	j := g.cache.take(a, counting)
	if j == nil {
		var err error
		if j, err = g.Prepare(ctx, a, nil); err != nil {
			return nil, err
		}
	}
	j.goal = engine.Goal{Limit: j.matches(a.Settings.Limit, a.counts()), Progress: a.Settings.Searching(), Details: a.Settings.Details}
	return j, nil
}

// count is Run for a count.
func (j *Job) count(ctx context.Context) (Result, error) {
	r, err := j.Run(ctx, nil)
	if err == nil {
		j.g.cache.put(j, counting)
	}
	r.cut(j.Settings.Limit, j.counts())
	return r, err
}

// Exists reports whether a query has a match.
func (g *Graph) Exists(ctx context.Context, a Question) (yes bool, r Result, err error) {
	start := time.Now()
	a.Settings.Limit = 1
	j := g.cache.take(a, finding)
	if j == nil {
		if j, err = g.Prepare(ctx, a, func(o *plan.Options) { o.Listing = true }); err != nil {
			return false, a.unplanned(ctx, start), err
		}
	}
	j.goal = engine.Goal{Limit: 1, Progress: a.Settings.Searching(), Details: a.Settings.Details}
	found := &first{}
	if r, err = j.Run(ctx, found); err == nil {
		g.cache.put(j, finding)
	}
	if yes = found.found.Load(); yes && kind.Of(err) != kind.Input {
		r.Complete = true
		err = nil
	}
	return yes, r, err
}

// first is a sink that wants one match.
type first struct{ found atomic.Bool }

func (f *first) Emit(_ int, b *engine.Batch) error {
	if b.Rows > 0 {
		f.found.Store(true)
		return engine.ErrStop
	}
	return nil
}
