package search

import (
	"context"
	"iter"
	"time"

	"github.com/weftgraph/weft/internal/gql"
	"github.com/weftgraph/weft/internal/setting"
)

// turn is a query that waits for its turn, or why it cannot be counted.
type turn struct {
	question Question
	job      *Job
	none     Result // without a job
	err      error
}

// CountEach counts one query after the other, and yields the results of Count. While GPUs count one
// query, the kernels of the next ones are compiled in the background, at most one on each thread. A
// few queries are planned ahead for that. With a budget of memory nothing is compiled ahead,
// because compilers would need a part of it.
func (g *Graph) CountEach(ctx context.Context, qs []*gql.Query, s *setting.Settings) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // compilations that have not begun are no longer wanted
		most := min(len(qs), g.ahead(s))
		var ready []turn
		for qs := qs; len(qs)+len(ready) > 0; {
			for len(qs) > 0 && (len(ready) == 0 || len(ready) < most && ready[len(ready)-1].goesOn(ctx)) {
				ready = append(ready, g.ready(ctx, Question{Query: qs[0], Settings: s}, most > 1))
				qs = qs[1:]
			}
			now := ready[0]
			ready = ready[1:]
			if now.err == nil && now.job.choice.Stale() { // since it was planned
				now = g.ready(ctx, now.question, false)
			}
			if !yield(now.take(ctx)) {
				return
			}
		}
	}
}

// ahead is the number of queries that are planned at the same time: those whose kernels can be
// compiled at once.
func (g *Graph) ahead(s *setting.Settings) int {
	if s.Memory > 0 {
		return 1
	}
	return min(s.Workers(), g.Runtime.Objects.Images.Compilers())
}

// ready plans a query, and begins to compile its kernels if it is to.
func (g *Graph) ready(ctx context.Context, a Question, compile bool) (t turn) {
	l, err := g.Enter(&ctx)
	if err != nil {
		return turn{err: err}
	}
	defer l.Leave(&t.err)
	t.question = a
	start, planning, cancel := time.Now(), ctx, context.CancelFunc(func() {})
	if d := a.Settings.Timeout; d > 0 {
		planning, cancel = context.WithTimeout(ctx, d)
	}
	defer cancel()
	if t.job, t.err = g.prepareCount(planning, a); t.err != nil {
		t.none = a.unplanned(planning, start)
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
	if d := t.job.Settings.Timeout; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d-t.job.spent) // planning is part of it
		defer cancel()
	}
	return t.job.count(ctx)
}
