package partition

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// inner is how the graph of one part is searched: an engine, with a method and an order that it took for the whole graph.
// They are the same for all parts, so that they have the same kernels.
type inner struct {
	engine engine.Engine
	method plan.Method
	order  []int
}

// choose returns the first engine that takes a plan of p's pattern, by the local method or as a nest.
func choose(ctx context.Context, engines []engine.Engine, g *graph.Graph, p *plan.Plan, o engine.Options) (inner, error) {
	var refusals []error
	for _, e := range engines {
		for _, method := range []plan.Method{plan.Local, plan.Nest} {
			if method == plan.Local && o.Listing {
				continue
			}
			x := inner{engine: e, method: method}
			if method == p.Method || method == plan.Nest {
				x.order = p.Order
			}
			q, err := x.compile(ctx, g, p, o)
			if err == nil {
				x.order = q.Order
				_, err = e.Prepare(ctx, g, q, o)
			}
			var refusal *plan.Refusal
			var query *plan.QueryError
			switch {
			case err == nil:
				return x, nil
			case errors.As(err, &query): // the pattern does not suit the method
			case errors.As(err, &refusal):
				refusals = append(refusals, fmt.Errorf("%s: %w", e.Name(), err))
			default:
				return x, err
			}
		}
	}
	if len(refusals) == 0 {
		return inner{}, plan.Refusef("no engine searches parts of the graph")
	}
	return inner{}, errors.Join(refusals...)
}

// compile plans p's pattern in g, for the method and in the order.
func (x *inner) compile(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (*plan.Plan, error) {
	po := plan.Options{
		Embeddings: !p.Restricted, Listing: o.Listing, NoTail: p.NoTail, Root: plan.NoRoot, Method: x.method.String(), Context: ctx, Threads: o.Threads,
	}
	if x.order != nil {
		po.Order, po.Given, po.Quick = "given", x.order, true
	}
	q, err := planner.Compile(g, p.Pattern, po)
	if err == nil && q.Restricted != p.Restricted {
		return nil, plan.Refusef("parts of the graph have other restrictions")
	}
	return q, err
}

// prepare makes the plan ready to run in g.
func (x *inner) prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	q, err := x.compile(ctx, g, p, o)
	if err != nil {
		return nil, err
	}
	return x.engine.Prepare(ctx, g, q, o)
}

// inside searches each part by itself.
func (r *run) inside(ctx context.Context) error {
	members := make([][]uint32, len(r.sizes))
	for v, part := range r.of {
		members[part] = append(members[part], uint32(v))
	}
	for i, vertices := range members {
		members[i] = nil
		if r.ended() {
			return nil
		}
		if len(vertices) == 0 {
			r.empty++
			continue
		}
		if err := r.part(ctx, i, vertices); err != nil {
			return err
		}
	}
	return nil
}

// part searches the graph that vertices induce.
func (r *run) part(ctx context.Context, i int, vertices []uint32) (err error) {
	var sub *graph.Graph
	err = r.g.Guard(func() (err error) {
		sub, err = r.g.Induced(ctx, vertices, r.o.Threads)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.s.ForgetOwner(sub), sub.Close())
	}()
	ready, err := r.inner.prepare(ctx, sub, r.p, r.o)
	if err != nil {
		return fmt.Errorf("part %d: %w", i, err)
	}
	goal := engine.Goal{Limit: r.left(), Progress: r.progress(i)}
	if r.goal.Sink != nil {
		goal.Sink = &renamed{sink: r.goal.Sink, vertices: vertices, rows: make([][]uint32, r.s.Workers())}
	}
	res, err := ready.Run(ctx, goal)
	if errors.Is(err, session.ErrShort) && r.room.Auto() { // nothing was searched
		r.hosted++
		if ready, err = r.inner.prepare(ctx, sub, r.p, gpu.Placed(r.o, "host")); err != nil {
			return err
		}
		res, err = ready.Run(ctx, goal)
	}
	r.add(&res, 1)
	return err
}

// renamed hands the matches of a part to a sink, with the vertices of the whole graph.
type renamed struct {
	sink     engine.Sink
	vertices []uint32
	rows     [][]uint32 // by worker
}

// Emit implements engine.Sink.
func (x *renamed) Emit(worker int, b *engine.Batch) error {
	to := *b
	to.Vertices = slices.Grow(x.rows[worker][:0], len(b.Vertices))
	for _, v := range b.Vertices {
		to.Vertices = append(to.Vertices, x.vertices[v])
	}
	x.rows[worker] = to.Vertices
	return x.sink.Emit(worker, &to)
}
