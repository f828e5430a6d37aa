// Package codegen runs plans on GPUs by compiling them whole: the generated text of
// every level of the loop nest, unrolled into one kernel per plan, or, for plans
// for the local method, the text of what lies below a root, over rows of bits.
//
// It knows plans, their lowering, sessions, tables of members and the local method; it
// must not know other engines.
package codegen

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/gpu/neighbourhood"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// Engine is the engine codegen over the devices of a session.
type Engine struct{ s *session.Session }

// New returns the engine; the session stays the caller's to close.
func New(s *session.Session) *Engine { return &Engine{s} }

// Name is what --engine takes.
func (*Engine) Name() string { return "codegen" }

// errCounts says that a plan for the local method cannot be listed.
var errCounts = errors.New("codegen only counts by the local method; plan with nest for a listing")

// Check says why the engine cannot run p, or nil. What is planned for the local
// method is only counted: Run lists plans for the nest.
func (e *Engine) Check(g *graph.Graph, p *plan.Plan, o engine.Options) error {
	on, err := neighbourhood.On(e.Name(), o.Opt)
	switch {
	case err != nil:
		return err
	case p.Method != plan.Nest && p.Method != plan.Local:
		return fmt.Errorf("method %s: codegen runs the methods nest and local", p.Method)
	case o.Levels:
		return errors.New("codegen does not measure single levels")
	case o.PerRoot != nil && !p.Rooted:
		return errors.New("counts per vertex need a rooted plan")
	case p.Method == plan.Local && !on:
		return errors.New("codegen.local=off: plan with nest")
	case p.Method == plan.Local && p.Empty == nil:
		_, err := neighbourhood.New(e.Name(), e.s, g, p, o.Opt)
		return err
	}
	for l := 1; l < len(p.Levels); l++ {
		if p.Levels[l].Set < 0 {
			return errors.New("the pattern has several components")
		}
	}
	if _, err := membership.Parse(lookupSwitch, o.Opt[lookupSwitch]); err != nil {
		return err
	}
	_, err = lower.Plan(p, lower.Options{View: lower.Sets, Roomy: true})
	return err
}

// Run counts the matches of p, or hands them to sink.
func (e *Engine) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, sink engine.Sink) (engine.Result, error) {
	res := engine.Result{Engine: e.Name(), Device: e.s.String()}
	if p.Empty != nil {
		res.Complete = true
		return res, nil
	}
	if p.Method == plan.Local {
		if sink != nil {
			return res, errCounts
		}
		l, err := neighbourhood.New(e.Name(), e.s, g, p, o.Opt)
		if err != nil {
			return res, err
		}
		return l.Run(ctx, o)
	}
	n, err := e.nestOf(ctx, p, o, sink == nil)
	if err != nil {
		return res, err
	}
	prog := n.prog
	j := &session.Job{
		Name: "codegen", Program: prog, Vertices: uint32(g.NumVertices()), Owner: g,
		Tasks: uint64(g.NumVertices()), Chunk: 1, PerRoot: o.PerRoot != nil, Progress: o.Progress,
		Source: cuda.Source{Name: "nest.cu", Text: n.text()},
	}
	x := extra{Cap: uint32(lower.Room(p))}
	// Level 1 in one neighbour list alone is cut into runs of places in it.
	if walked, _ := prog.Define("W_ENUM"); walked > 1 {
		if s, run, ok := firstList(p); ok {
			x.ArcAdj, x.Arcs = uint32(s.Adj), uint64(len(run.Adj))
			j.Tasks = (x.Arcs + arcsOfTask - 1) / arcsOfTask
			j.Source.Options = append(j.Source.Options, "-DARCS="+strconv.Itoa(arcsOfTask))
		}
	}
	rows := engine.NewRows(p, sink, o.Limit)
	if sink != nil {
		j.Width, j.Columns, j.Rows = len(p.Levels), p.LevelOf, rows.Hand
	}
	if o.Limit > 0 && !(sink != nil && rows.Chooses()) {
		j.Limit = uint64(o.Limit)
		x.Often = 1
	}
	slots, _ := prog.Define("W_SLOTS")
	j.Start = func(d *session.Exec) (func() error, error) { return n.start(d, x, int(slots)) }
	r, err := e.s.Run(ctx, j)
	res.Notes = append(res.Notes, n.notes.All()...)
	if err == nil {
		if err = n.allRan(&r); err != nil {
			return res, err
		}
	}
	res.Matches, res.Complete = engine.Uint128(r.Matches), r.Complete
	if sink != nil && rows.Chooses() {
		res.Matches = engine.U64(rows.Matches())
	}
	switch {
	case errors.Is(err, session.ErrOverflow):
		err = engine.ErrOverflow
	case errors.Is(err, engine.ErrStop):
		err = nil
	}
	res.Search, res.Prepare = r.Search, r.Upload+r.Prepare+r.Compile
	if limit := engine.U64(uint64(o.Limit)); o.Limit > 0 && sink == nil && res.Matches.Cmp(limit) >= 0 {
		res.Matches, res.Complete = limit, false
	}
	for v, c := range r.PerRoot {
		o.PerRoot[v] = engine.Uint128(c)
	}
	if err == nil {
		res.Stats = append(res.Stats, fmt.Sprintf("on the device: upload %v, preparation %v, compilation %v, search %v",
			r.Upload, r.Prepare, r.Compile, r.Search))
	}
	return res, err
}
