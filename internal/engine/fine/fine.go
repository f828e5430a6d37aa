// Package fine runs plans on GPUs by gMatch's design (gMatch: Fine-Grained and
// Hardware-Efficient Subgraph Matching on GPUs, PVLDB 2026).
//
//   - A task is a partial match and one candidate, and one thread does it.
//   - A warp's stack has 32 entries for each level, in shared memory. Its memory does not grow
//     with degrees.
//   - Up to 32 partial matches share one pool of tasks.
//   - A breadth-first start makes enough tasks for all warps.
//   - A warp that runs out of tasks gets half of a busy warp's waiting tasks.
//
// The device code is fine/search.cuh and the files that it includes, over the checks view of
// package lower. The package knows plans and sessions. It must not know other engines, nor
// which devices there are.
package fine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// Fine is the engine over the devices of a session.
type Fine struct{ s *session.Session }

// New returns the engine for a session, which stays the caller's to close.
func New(s *session.Session) *Fine { return &Fine{s} }

// Name returns "fine".
func (*Fine) Name() string { return "fine" }

// prepared is a plan that is ready to run.
type prepared struct {
	f      *Fine
	g      *graph.Graph
	p      *plan.Plan
	o      engine.Options
	opt    options
	memory gpu.Room

	indexed *program // over a candidate graph, which is tried first; nil: none is wanted
	mu      sync.Mutex
	lists   *program // over the plan's lists; nil: not needed yet
}

// Prepare refuses plans of other methods than nest and large, and those for which a candidate
// graph was asked for and cannot be made.
func (f *Fine) Prepare(_ context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	if p.Method != plan.Nest && p.Method != plan.Large {
		return nil, plan.Refusef("method %v: fine runs the methods nest and large", p.Method)
	}
	opt, err := optionsOf(o.Opt)
	if err != nil {
		return nil, err
	}
	x := &prepared{f: f, g: g, p: p, o: o, opt: opt}
	if x.memory, err = gpu.ReadRoom(o); err != nil {
		return nil, err
	}
	q, err := f.indexed(p, opt, !o.Listing, false)
	switch {
	case err != nil:
		return nil, err
	case p.Empty != nil:
	case q != nil:
		x.indexed = &program{p: p, opt: opt, listing: o.Listing, indexed: true, memory: x.memory, code: lower.CandidateGraph(p, x.memory.Sparse(p))}
		x.indexed.source = x.indexed.text()
	default:
		if _, err = x.program(); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// program is the program over the plan's lists, made when it is first needed.
func (x *prepared) program() (*program, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.lists != nil {
		return x.lists, nil
	}
	var err error
	x.lists, err = programOf(x.p, x.opt, x.o, x.f.s.Memory())
	return x.lists, err
}

// Traits says how the search looks neighbours up.
func (x *prepared) Traits() engine.Traits {
	t := engine.Traits{Compiles: x.p.Empty == nil, Filters: x.indexed != nil}
	p := x.indexed
	if t.Compiles && !t.Filters {
		p = x.lists
		t.BitRows = p.bits
	}
	if p != nil {
		t.Memory, t.Rehearses = gpu.Memory(x.f.s, p.job()), true
		t.Host = t.Memory.Host()
	}
	return t
}

// Compile starts compiling the kernels that are tried first.
func (x *prepared) Compile(ctx context.Context) {
	p := x.indexed
	if p == nil {
		p = x.lists
	}
	if p != nil {
		_ = x.f.s.Compile(ctx, p.job())
	}
}

// Compiled reports whether these kernels are compiled: see engine.Compiled.
func (x *prepared) Compiled(ctx context.Context) bool {
	p := x.indexed
	if p == nil {
		p = x.lists
	}
	return p == nil || x.f.s.Compiled(ctx, p.job())
}

// indexed is the query that a candidate graph is made for; nil where none is
// wanted, with an error where one is asked for and cannot be. The large method is
// one here.
func (f *Fine) indexed(p *plan.Plan, opt options, counting, limited bool) (*query, error) {
	large := p.Method == plan.Large
	switch {
	case p.Empty != nil:
		return nil, nil
	case opt.index == indexNone && large:
		return nil, plan.Refusef("fine.index=none: the large method searches a candidate graph; plan with nest")
	case opt.index == indexNone:
		return nil, nil
	}
	q, err := queryOf(p, opt, counting, limited)
	if opt.index == indexAuto && !large && (err != nil || !q.worthwhile()) {
		return nil, nil
	}
	return q, err
}

// Run counts or lists the matches.
func (x *prepared) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	none := engine.Result{Engine: x.f.Name(), Device: x.f.s.String()}
	if err := goal.Check(x.p, x.o); err != nil {
		return none, err
	}
	if x.p.Empty != nil {
		none.Complete = true
		return none, nil
	}
	if x.indexed != nil {
		q, err := x.f.indexed(x.p, x.opt, !x.o.Listing, goal.Limit > 0)
		if err != nil {
			return none, err
		}
		res, err := x.search(ctx, x.indexed, goal, q)
		if x.opt.index != indexAuto || x.p.Method == plan.Large || !errors.Is(err, errNotIndexed) {
			return res, err
		}
	}
	p, err := x.program()
	if err != nil {
		return none, err
	}
	res, err := x.search(ctx, p, goal, nil)
	if m := goal.Memory; m != nil && err == nil && p.bits {
		// With little memory lists are searched, unless the options say otherwise: the least is that of these kernels.
		var lean *program
		if lean, err = programOf(x.p, x.opt, x.o, 0); err == nil {
			var least engine.Memory
			goal.Memory = &least
			_, err = x.search(ctx, lean, goal, nil)
			m.Least = min(m.Least, least.Least)
		}
	}
	return res, err
}

// search runs one search, over a candidate graph if there is a query for one.
func (x *prepared) search(ctx context.Context, p *program, goal engine.Goal, q *query) (engine.Result, error) {
	start := time.Now()
	r := &search{
		program: p, Run: gpu.Run{Session: x.f.s, Graph: x.g, Plan: x.p, Goal: goal, Room: x.memory}, ctx: ctx, query: q, devices: len(x.f.s.Devices()),
	}
	if x.o.Levels && q != nil {
		r.filtered = make([][]plan.Filtered, len(x.p.Levels))
	}
	r.Launched = &r.prepared
	res, found, err := r.Do(ctx, r.job())
	if res.Search == 0 {
		res.Search = time.Since(start)
	}
	if why := r.report(&res, &found, x.o.Levels); err == nil {
		err = why
	}
	var fault *session.Fault
	if errors.As(err, &fault) && fault.Code == faultTooMany {
		err = engine.ErrOverflow
	}
	return res, err
}

// programOf is the program of a search over p's lists.
func programOf(p *plan.Plan, opt options, o engine.Options, memory int64) (*program, error) {
	x := &program{p: p, opt: opt, listing: o.Listing}
	var err error
	if x.memory, err = gpu.ReadRoom(o); err != nil {
		return nil, err
	}
	sparse := x.memory.Sparse(p)
	x.bits = x.looksUpBits(lower.Lists(p, sparse), memory)
	siblings := !o.Listing && (opt.share == siblingsOn || opt.share == siblingsAuto && x.bits)
	if x.code, err = lowered(p, !o.Listing, siblings, sparse, o.Lowered); err != nil {
		return nil, err
	}
	x.listVertices()
	x.source, x.reads = x.text(), x.memory.Reads(p, x.code.Program)
	return x, nil
}

// lowered is the code of p. With tail, arithmetic closes its tail if a count fits 128 bits;
// with siblings, siblings share work. If no level is closed, or one level with several backward
// neighbours, each candidate of the last level is tested anyway, for siblings together if they
// share.
func lowered(p *plan.Plan, tail, siblings bool, sparse lower.SparseLists, made *atomic.Int64) (*lower.Code, error) {
	walk := lower.Options{View: lower.Checks, Choices: true, Siblings: siblings, Sparse: sparse, Made: made}
	closed := lower.Options{View: lower.Checks, Choices: true, Counting: true, Sparse: sparse, Made: made}
	last := len(p.Levels) - 1
	if siblings && lower.ShapeOf(p, walk).Siblings {
		walked := lower.ShapeOf(p, closed).Walked
		tail = tail && walked <= last && !(walked == last && len(p.Levels[last].Back) > 1)
	}
	if tail {
		if code, err := lower.Plan(p, closed); err == nil {
			return code, nil
		}
	}
	return lower.Plan(p, walk)
}

var _ engine.Engine = (*Fine)(nil)
