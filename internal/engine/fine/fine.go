// Package fine runs plans on GPUs by gMatch's design (gMatch: Fine-Grained and
// Hardware-Efficient Subgraph Matching on GPUs, PVLDB 2026): a task is a partial
// match and one candidate, done by one thread; a warp's stack has 32 entries a
// level in shared memory, so that no memory grows with degrees; up to 32 partial
// matches share one pool of tasks; a breadth-first start makes tasks enough for
// all warps; who still runs out is given half of what a busy warp has waiting.
//
// The device code is fine/search.cuh and what it includes, over the checks view
// of package lower. It knows plans and sessions, and must not know other engines
// or which devices there are.
package fine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// Fine is the engine over the devices of a session.
type Fine struct{ s *session.Session }

// New returns the engine for a session, which stays the caller's to close.
func New(s *session.Session) *Fine { return &Fine{s} }

// Name returns "fine".
func (*Fine) Name() string { return "fine" }

// Check says why p cannot run here, or nil.
func (f *Fine) Check(_ *graph.Graph, p *plan.Plan, o engine.Options) error {
	if o.PerRoot != nil && !p.Rooted {
		return errors.New("counts per vertex need a rooted plan")
	}
	if p.Method != plan.Nest && p.Method != plan.Large {
		return fmt.Errorf("method %v: fine runs the methods nest and large", p.Method)
	}
	opt, err := optionsOf(o)
	if err != nil {
		return err
	}
	if p.Method == plan.Large || opt.index == indexBitmap || opt.index == indexHash {
		if _, err := f.indexed(p, o, opt, true); err != nil {
			return err
		}
	}
	_, err = lower.Plan(p, lower.Options{View: lower.Checks, Choices: true})
	return err
}

// indexed is the query that a candidate graph is made for; nil where none is
// wanted, with an error where one is asked for and cannot be. The large method is
// one here.
func (f *Fine) indexed(p *plan.Plan, o engine.Options, opt options, counting bool) (*query, error) {
	large := p.Method == plan.Large
	switch {
	case p.Empty != nil:
		return nil, nil
	case opt.index == indexNone && large:
		return nil, errors.New("fine.index=none: the large method searches a candidate graph; plan with nest")
	case opt.index == indexNone:
		return nil, nil
	}
	q, err := queryOf(p, o, opt, counting)
	if opt.index == indexAuto && !large && (err != nil || !q.worthwhile()) {
		return nil, nil
	}
	return q, err
}

// Run counts or lists the matches of p.
func (f *Fine) Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, s engine.Sink) (engine.Result, error) {
	if err := f.Check(g, p, o); err != nil {
		return engine.Result{Engine: "fine", Device: f.s.String()}, err
	}
	opt, err := optionsOf(o)
	if err != nil {
		return engine.Result{Engine: "fine", Device: f.s.String()}, err
	}
	q, err := f.indexed(p, o, opt, s == nil)
	if err != nil {
		return engine.Result{Engine: "fine", Device: f.s.String()}, err
	}
	res, err := f.search(ctx, g, p, o, opt, q, s)
	if q != nil && opt.index == indexAuto && p.Method != plan.Large && errors.Is(err, errNotIndexed) {
		res, err = f.search(ctx, g, p, o, opt, nil, s)
	}
	return res, err
}

// search runs one search, over a candidate graph if there is a query for one.
func (f *Fine) search(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, opt options, q *query, s engine.Sink) (engine.Result, error) {
	start := time.Now()
	res := engine.Result{Engine: "fine", Device: f.s.String()}
	if p.Empty != nil {
		res.Complete = true
		return res, nil
	}
	r := &search{ctx: ctx, p: p, o: o, opt: opt, query: q, devices: len(f.s.Devices())}
	if s != nil {
		r.rows = engine.NewRows(p, s, o.Limit)
	}
	if q != nil {
		r.prog = indexProgram(p)
	} else {
		var err error
		if r.prog, err = lowered(p, s == nil && opt.tail, false); err != nil {
			return res, err
		}
		r.bits = r.looksUpBits(f.s.Memory())
		if s == nil && (opt.share == siblingsOn || opt.share == siblingsAuto && r.bits) {
			if r.prog, err = lowered(p, opt.tail, true); err != nil {
				return res, err
			}
		}
	}
	_, r.siblings = r.prog.Define("W_SIBLINGS")
	got, err := f.s.Run(ctx, r.job(g))
	if err == nil {
		if err = r.allRan(&got); err != nil {
			return res, err
		}
	}
	res.Search, res.Prepare = got.Search, got.Upload+got.Prepare+got.Compile
	if res.Search == 0 {
		res.Search = time.Since(start)
	}
	if why := r.report(&res, &got); err == nil {
		err = why
	}
	var fault *session.Fault
	if errors.Is(err, session.ErrOverflow) || errors.As(err, &fault) && fault.Code == faultTooMany {
		err = engine.ErrOverflow
	}
	if errors.Is(err, engine.ErrStop) {
		err = nil
	}
	return res, err
}

// lowered is the program of p, with its tail closed where that is wanted and a
// count fits 128 bits, or with what siblings share where that is wanted. Where
// nothing is closed, or one level with several backward neighbours, each candidate
// of the last level is tested anyway: for siblings together, if they share.
func lowered(p *plan.Plan, tail, siblings bool) (*kir.Program, error) {
	walked, err := lower.Plan(p, lower.Options{View: lower.Checks, Choices: true, Siblings: siblings})
	if !tail || err != nil {
		return walked, err
	}
	closed, err := lower.Plan(p, lower.Options{View: lower.Checks, Choices: true, Counting: true})
	if err != nil {
		return walked, nil
	}
	_, share := walked.Define("W_SIBLINGS")
	last := len(p.Levels) - 1
	walks, _ := closed.Define("W_ENUM")
	if share && (int(walks) > last || int(walks) == last && len(p.Levels[last].Back) > 1) {
		return walked, nil
	}
	return closed, nil
}

var _ engine.Engine = (*Fine)(nil)
