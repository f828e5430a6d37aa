package weft

import (
	"context"
	"iter"
	"time"
)

// CountEach counts one query after the other, and yields what Count returns of each;
// whether to go on after an error is the caller's to say. While one is counted on
// GPUs, the kernels of those behind it are compiled, as many at once as there are
// threads: for that they are planned ahead, a few, whatever the number of queries.
// With a budget of memory, which compilers would take from, none is compiled ahead.
// Result.Prepare has of the compilation only what was still waited for.
func (g *Graph) CountEach(ctx context.Context, qs []*Query, options ...Option) iter.Seq2[Result, error] {
	s, err := g.collect(callCountEach, options)
	if err != nil {
		return func(yield func(Result, error) bool) { yield(Result{}, err) }
	}
	return g.each(ctx, qs, s)
}

// turn is a query that waits for its turn, or why it cannot be counted.
type turn struct {
	q    *Query
	job  *job
	none Result // without a job
	err  error
}

// each is CountEach.
func (g *Graph) each(ctx context.Context, qs []*Query, s *settings) iter.Seq2[Result, error] {
	return func(next func(Result, error) bool) {
		yield := func(r Result, err error) bool {
			endedBy(ctx, &err)
			return next(r, err)
		}
		ctx := ctx
		l, err := g.enter(&ctx)
		if err != nil {
			yield(Result{}, err)
			return
		}
		defer l.end()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // what is not yet being compiled is not wanted any more
		most := min(len(qs), g.aheadOf(s))
		var ready []turn
		for qs := qs; len(qs)+len(ready) > 0; {
			for len(qs) > 0 && (len(ready) == 0 || len(ready) < most && ready[len(ready)-1].goesOn(ctx)) {
				ready = append(ready, g.ready(ctx, qs[0], s, most > 1))
				qs = qs[1:]
			}
			now := ready[0]
			ready = ready[1:]
			if now.err == nil && now.job.choice.Stale() { // since it was planned
				now = g.ready(ctx, now.q, s, false)
			}
			if !yield(now.take(ctx)) {
				return
			}
		}
	}
}

// aheadOf is how many queries are planned at the same time: those whose kernels can
// be compiled at once.
func (g *Graph) aheadOf(s *settings) int {
	if s.memory > 0 {
		return 1
	}
	return min(s.workers(), g.rt.r.Objects.Images.Compilers())
}

// ready plans a query, and begins to compile its kernels if it is to.
func (g *Graph) ready(ctx context.Context, q *Query, s *settings, compile bool) (t turn) {
	l, err := g.enter(&ctx)
	if err != nil {
		return turn{err: err}
	}
	defer l.leave(&t.err)
	t.q = q
	start, planning, cancel := time.Now(), ctx, context.CancelFunc(func() {})
	if s.timeout > 0 {
		planning, cancel = context.WithTimeout(ctx, s.timeout)
	}
	defer cancel()
	if t.job, t.err = g.prepareCount(planning, q, s); t.err != nil {
		t.none = g.unplanned(planning, q, s, start)
	} else if compile {
		t.job.choice.Compile(ctx)
	}
	return t
}

// goesOn reports whether the query behind this one is to be planned, too, before this
// one is counted.
func (t turn) goesOn(ctx context.Context) bool {
	return t.err == nil && t.job.choice.Compiles() && ctx.Err() == nil
}

// take counts the query whose turn it is.
func (t turn) take(ctx context.Context) (Result, error) {
	if t.err != nil {
		return t.none, t.err
	}
	if d := t.job.s.timeout; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d-t.job.spent) // planning is part of it
		defer cancel()
	}
	return t.job.count(ctx)
}
