// Package search makes a query ready to run in a graph, and runs it. Its results are in the user's terms: they
// are counts, existence, listings, counts for each vertex, explanations, and counts of several queries one after the
// other.
//
// It knows queries, plans, the choice of an engine, and sinks. It must not know the types of the API: it has its own
// types of results.
package search

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kind"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
	"github.com/weftgraph/weft/internal/route"
	"github.com/weftgraph/weft/internal/runtime"
	"github.com/weftgraph/weft/internal/setting"
)

// Graph is a graph that queries are asked of. Safe for concurrent use.
type Graph struct {
	*runtime.Graph
	cache cache
}

// NewGraph returns a graph of a runtime.
func NewGraph(rt *runtime.Runtime, data *graph.Graph) *Graph {
	g := &Graph{cache: cache{most: mostJobs(data.NumVertices())}}
	g.Graph = runtime.NewGraph(rt, data, g.cache.drop)
	return g
}

// EngineOptions are the settings for an engine that searches in g.
func (g *Graph) EngineOptions(s *setting.Settings) engine.Options {
	return s.EngineOptions(g.Runtime.Crew)
}

// Job is a query made ready to run.
type Job struct {
	Question
	Plan *plan.Plan
	Took time.Duration // planning

	g      *Graph
	choice route.Choice
	goal   engine.Goal
	notes  []string // besides the plan's warnings. The plan is not changed, because callers that ran it before may still read it
	start  time.Time
	spent  time.Duration // since then until it was ready
	early  time.Duration // for the driver to start, before the job
	open   time.Duration // for the driver and the devices, in all
}

// Engine is the engine that will run the job, and why.
func (j *Job) Engine() (name, reason string) { return j.choice.Engine.Name(), j.choice.Reason }

// Phases says what the engine will do one after the other; nil: it is the plan's nest.
func (j *Job) Phases() []string { return j.choice.Phases() }

// Prepare plans a query and chooses an engine. change adapts the plan's options to the purpose.
func (g *Graph) Prepare(ctx context.Context, a Question, change func(*plan.Options)) (j *Job, err error) {
	l, err := g.Enter(&ctx)
	if err != nil {
		return nil, err
	}
	defer l.Leave(&err, &j)
	s := a.Settings
	j = &Job{Question: a, g: g, start: time.Now()}
	j.early = g.Runtime.Early()
	p, err := a.Pattern()
	if err != nil {
		return nil, err
	}
	o, err := s.PlanOptions(p)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(&o)
	}
	within, planned := planningTime(s.Planning, j.start)
	defer planned()
	j.goal = engine.Goal{Limit: s.Limit, Progress: s.Searching(), Details: s.Details}
	j.choice, err = route.Pick(ctx, route.Request{
		Runtime: g.Runtime,
		Engine:  s.EngineName(), Device: s.Device, Graph: g.Data, Options: g.EngineOptions(s), Listing: o.Listing, Method: o.Method, GPUMemory: s.GPUMemory,
		Compile: func(method, order string) (*plan.Plan, error) {
			o := o
			ctx, cancel := within(ctx)
			defer cancel()
			o.Context = ctx
			o.Method = method
			if o.Order == "" || o.Order == "auto" {
				o.Order = order
			}
			p, err := planner.Compile(g.Data, p, o)
			if err == nil && errors.Is(context.Cause(ctx), errPlanning) {
				err = errPlanning // it came too late
			}
			return p, planError(ctx, a.Placed(err))
		},
	})
	if err != nil {
		return nil, Classify(err)
	}
	waited := j.choice.Waits.Driver + j.choice.Waits.Devices
	j.open = j.early + waited
	j.spent = time.Since(j.start)
	j.Plan, j.Took = j.choice.Plan, j.spent-waited
	return j, nil
}

// errPlanning is the error of a query whose planning takes longer than it may.
var errPlanning = kind.With(kind.Query, errors.New("planning the query takes longer than the limit on planning time"))

// planningTime limits contexts until the time for planning is over, or until planned is called: a plan that is made later, because an engine
// needs another one, is not limited.
func planningTime(most time.Duration, start time.Time) (within func(context.Context) (context.Context, context.CancelFunc), planned func()) {
	var done atomic.Bool
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		if most <= 0 || done.Load() {
			return ctx, func() {}
		}
		return context.WithDeadlineCause(ctx, start.Add(most), errPlanning)
	}, func() { done.Store(true) }
}

// Run runs the job under the memory budget. If the run is cut short, the error is the context's,
// and the result has the matches found so far.
func (j *Job) Run(ctx context.Context, s engine.Sink) (r Result, err error) {
	l, err := j.g.Enter(&ctx)
	if err != nil {
		return r, err
	}
	defer l.Leave(&err, &r)
	j.start = time.Now().Add(-j.spent) // between the two others may have run
	share := memory.ShareOf(ctx)
	defer func(before int64) { share.Give(share.Taken() - before) }(share.Taken())
	ctx, stop := memory.Watch(ctx, j.Settings.Memory)
	defer stop()
	if err := memory.Cause(ctx); err != nil {
		return r, err
	}
	j.goal.Sink = s
	found, err := j.choice.Run(ctx, j.goal)
	r = j.result(found)
	if cause := memory.Cause(ctx); cause != nil {
		return r, cause
	}
	if err != nil {
		r.Complete = false
	}
	if errors.Is(err, engine.ErrStop) {
		err = nil
	}
	return r, Classify(err)
}

// matches is the number of matches of the plan that make n subgraphs or embeddings.
func (j *Job) matches(n int64, of setting.What) int64 {
	aut := j.Plan.Aut
	if n == 0 || !aut.IsInt64() {
		return n
	}
	k := aut.Int64()
	switch embeddings := of == setting.Embeddings || j.Plan.Mode != pattern.Iso; {
	case embeddings && j.Plan.Restricted:
		return (n-1)/k + 1
	case !embeddings && !j.Plan.Restricted && n <= math.MaxInt64/k:
		return n * k
	}
	return n
}

// edgeAt is the place of a pattern edge among a row's chosen edges, or -1.
func (j *Job) edgeAt(e int) int {
	return slices.IndexFunc(j.Plan.Edges, func(c plan.EdgeChoice) bool { return c.Edge == e })
}

// result is the engine's result, in the user's terms.
func (j *Job) result(found route.Result) Result {
	p := found.Plan
	r := Result{
		Query: j.Name(), Semantics: p.Mode.String(), Induced: p.Induced, Automorphisms: new(big.Int).Set(p.Aut),
		Complete: found.Complete, Engine: found.Engine, Device: found.Device,
		Open: j.open, Plan: j.Took, Prepare: found.Prepare, Search: found.Search, Total: j.early + time.Since(j.start),
		PeakMemory: PeakMemory(), Stats: found.Stats, Meters: found.Meters, Reason: found.Reason, Method: p.Method.String(),
	}
	r.Notes = slices.Concat(p.Warnings, j.notes, j.choice.Notes, found.Notes)
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
