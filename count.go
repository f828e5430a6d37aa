package weft

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/route"
)

// job is a query made ready to run.
type job struct {
	g      *Graph
	q      *Query
	s      *settings
	plan   *plan.Plan
	choice route.Choice
	goal   engine.Goal
	start  time.Time
	spent  time.Duration // since then until it was ready
	took   time.Duration // planning
	early  time.Duration // for the driver to start, before the job
	open   time.Duration // for the driver and the devices, in all
}

// prepare plans q and chooses an engine. change adapts the plan's options to
// the purpose.
func (g *Graph) prepare(ctx context.Context, q *Query, s *settings, change func(*plan.Options)) (j *job, err error) {
	l, err := g.enter(&ctx)
	if err != nil {
		return nil, err
	}
	defer l.leave(&err, &j)
	j = &job{g: g, q: q, s: s, start: time.Now()}
	j.early = g.rt.r.Early()
	p, err := q.pattern(s)
	if err != nil {
		return nil, err
	}
	o, err := s.planOptions(p)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(&o)
	}
	o.Context = ctx
	j.goal = engine.Goal{Limit: s.limit, Progress: s.searching()}
	j.choice, err = route.Pick(ctx, route.Request{
		Runtime: g.rt.r,
		Engine:  s.engineName(), Device: s.device, Graph: g.g, Options: g.engineOptions(s), Listing: o.Listing, Method: o.Method, GPUMemory: s.gpuMemory,
		Compile: func(method, order string) (*plan.Plan, error) {
			o := o
			o.Method = method
			if o.Order == "" || o.Order == "auto" {
				o.Order = order
			}
			p, err := planner.Compile(g.g, p, o)
			var wrong *plan.QueryError
			if errors.As(err, &wrong) && wrong.Order {
				err = withKind(ErrQuery, q.q.AtOrder(wrong.Msg))
			} else if wrong != nil && wrong.Near != "" {
				err = withKind(ErrQuery, q.q.AtText(wrong.Near, wrong.Msg, wrong.Expected))
			}
			return p, planError(ctx, err)
		},
	})
	if err != nil {
		return nil, classify(err)
	}
	waited := j.choice.Waits.Driver + j.choice.Waits.Devices
	j.open = j.early + waited
	j.spent = time.Since(j.start)
	j.plan, j.took = j.choice.Plan, j.spent-waited
	return j, nil
}

// planError is err, of planning a query, with its kind: where planning was cut short
// by its context, the cause of that as it is.
func planError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return withKind(ErrQuery, classify(err))
}

// unplanned is the result of a query that was being planned, since start, when its
// context ended: none of its matches was found. After any other error it is empty.
func (g *Graph) unplanned(ctx context.Context, q *Query, s *settings, start time.Time) Result {
	p, err := q.pattern(s)
	if err != nil || ctx.Err() == nil {
		return Result{}
	}
	r := Result{
		Query: q.Name(), Semantics: p.Mode.String(), Induced: p.Induced, Automorphisms: p.Automorphisms().Order(),
		Embeddings: new(big.Int), Graph: g.Summary(), Load: g.load - g.check, Check: g.check, Plan: time.Since(start), PeakMemory: peakMemory(),
		Notes: []string{"the search had not begun: the query was being planned"},
	}
	if p.Mode == pattern.Iso {
		r.Subgraphs = new(big.Int)
	}
	r.Total = r.Load + r.Plan
	return r
}

// run runs the job under the memory budget. The error of a run that was cut
// short is the context's; the result says what was found until then.
func (j *job) run(ctx context.Context, s engine.Sink) (r Result, err error) {
	l, err := j.g.enter(&ctx)
	if err != nil {
		return r, err
	}
	defer l.leave(&err, &r)
	j.start = time.Now().Add(-j.spent) // between the two others may have run
	ctx, stop := watchMemory(ctx, j.s.memory)
	defer stop()
	if err := memoryCause(ctx); err != nil {
		return r, err
	}
	j.goal.Sink = s
	found, err := j.choice.Run(ctx, j.goal)
	r = j.result(found)
	if cause := memoryCause(ctx); cause != nil {
		return r, cause
	}
	if err != nil {
		r.Complete = false
	}
	if errors.Is(err, engine.ErrStop) {
		err = nil
	}
	return r, classify(err)
}

// result is what the engine found, in the user's terms.
func (j *job) result(found route.Result) Result {
	p := found.Plan
	r := Result{
		Query: j.q.Name(), Semantics: p.Mode.String(), Induced: p.Induced, Automorphisms: new(big.Int).Set(p.Aut),
		Complete: found.Complete, Engine: found.Engine, Device: found.Device,
		Graph: j.g.Summary(), Load: j.g.load - j.g.check, Check: j.g.check, Open: j.open, Plan: j.took, Prepare: found.Prepare, Search: found.Search,
		PeakMemory: peakMemory(), Stats: found.Stats, Reason: found.Reason, Method: p.Method.String(),
	}
	r.Total = j.early + j.g.load + time.Since(j.start)
	r.Notes = slices.Concat(p.Warnings, j.choice.Notes, found.Notes)
	if p.Empty != nil {
		r.Notes = append(r.Notes, p.Empty.Text)
	}
	n := found.Matches.Big()
	r.Embeddings = n
	if p.Restricted {
		r.Embeddings = new(big.Int).Mul(n, p.Aut)
	}
	if p.Mode == pattern.Iso {
		r.Subgraphs = new(big.Int).Quo(r.Embeddings, p.Aut)
	}
	return r
}

// Count counts the matches of q. Cut short by its context it returns what was
// found until then, marked as not complete, with the context's error.
func (g *Graph) Count(ctx context.Context, q *Query, options ...Option) (r Result, err error) {
	defer endedBy(ctx, &err)
	s, err := g.collect(callCount, options)
	if err != nil {
		return Result{}, err
	}
	return g.countQuery(ctx, q, s)
}

// countQuery is Count.
func (g *Graph) countQuery(ctx context.Context, q *Query, s *settings) (r Result, err error) {
	l, err := g.enter(&ctx)
	if err != nil {
		return r, err
	}
	defer l.leave(&err, &r)
	start := time.Now()
	j, err := g.prepareCount(ctx, q, s)
	if err != nil {
		return g.unplanned(ctx, q, s, start), err
	}
	return j.count(ctx)
}

// prepareCount is prepare for a count, or the job of the last count of q.
func (g *Graph) prepareCount(ctx context.Context, q *Query, s *settings) (*job, error) {
	j := g.prepared.take(q, s)
	if j == nil {
		var err error
		if j, err = g.prepare(ctx, q, s, nil); err != nil {
			return nil, err
		}
	}
	j.goal = engine.Goal{Limit: j.matches(s.limit, q.counts(s)), Progress: s.searching()}
	return j, nil
}

// count is run for a count.
func (j *job) count(ctx context.Context) (Result, error) {
	r, err := j.run(ctx, nil)
	if err == nil {
		j.g.prepared.put(j)
	}
	r.cut(j.s.limit, j.q.counts(j.s))
	return r, err
}

// counts is what the total of q is about, and its limit.
func (q *Query) counts(s *settings) What {
	if w, ok := q.AsksCount(); ok {
		return w
	}
	if s.what > 0 {
		return s.what - 1
	}
	return Subgraphs
}

// matches is how many matches of the plan make n subgraphs or embeddings.
func (j *job) matches(n int64, of What) int64 {
	aut := j.plan.Aut
	if n == 0 || !aut.IsInt64() {
		return n
	}
	k := aut.Int64()
	switch embeddings := of == Embeddings || j.plan.Mode != pattern.Iso; {
	case embeddings && j.plan.Restricted:
		return (n-1)/k + 1
	case !embeddings && !j.plan.Restricted && n <= math.MaxInt64/k:
		return n * k
	}
	return n
}

// cut takes off the embeddings that a last match had beyond the limit.
func (r *Result) cut(limit int64, of What) {
	most := big.NewInt(limit)
	if limit == 0 || of != Embeddings || r.Embeddings == nil || r.Embeddings.Cmp(most) <= 0 {
		return
	}
	r.Embeddings, r.Complete = most, false
	if r.Subgraphs != nil {
		r.Subgraphs = new(big.Int).Quo(most, r.Automorphisms)
	}
}

// Exists reports whether q has a match.
func (g *Graph) Exists(ctx context.Context, q *Query, options ...Option) (yes bool, r Result, err error) {
	defer endedBy(ctx, &err)
	l, err := g.enter(&ctx)
	if err != nil {
		return false, r, err
	}
	defer l.leave(&err, &yes, &r)
	s, err := g.collect(callExists, options)
	if err != nil {
		return false, r, err
	}
	start := time.Now()
	s.limit = 1
	j, err := g.prepare(ctx, q, s, func(o *plan.Options) { o.Listing = true })
	if err != nil {
		return false, g.unplanned(ctx, q, s, start), err
	}
	found := &first{}
	r, err = j.run(ctx, found)
	if found.yes() && !errors.Is(err, ErrInput) {
		r.Complete = true
		err = nil
	}
	return found.yes(), r, err
}

// Cliques counts the cliques of k vertices.
func (g *Graph) Cliques(ctx context.Context, k int, options ...Option) (r Result, err error) {
	defer endedBy(ctx, &err)
	s, err := g.collect(callCliques, options)
	if err != nil {
		return Result{}, err
	}
	q, err := cliqueQuery(k)
	if err != nil {
		return Result{}, err
	}
	return g.countQuery(ctx, q, s)
}
