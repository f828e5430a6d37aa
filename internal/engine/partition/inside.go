package partition

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"

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
	least  int64 // the memory of a device with which it searches the whole graph; 0: unknown
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
				var ready engine.Prepared
				if ready, err = e.Prepare(ctx, g, q, o); err == nil {
					if m := ready.Traits().Memory; m != nil {
						x.least = m.Least
					}
				}
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

// piece is a part that is ready to be searched.
type piece struct {
	part     int
	vertices []uint32
	graph    *graph.Graph
	ready    engine.Prepared
	err      error
	over     chan struct{} // closed when the part's graph is
}

// inside searches each part by itself. The graph of the next part is made while one is searched, if there is memory for both.
func (r *run) inside(ctx context.Context) (err error) {
	within, end := context.WithCancel(ctx)
	pieces := make(chan piece)
	go func() {
		defer close(pieces)
		r.pieces(within, func(x piece) bool {
			select {
			case pieces <- x:
				return true
			case <-within.Done():
				_ = x.close() // no file to close
				return false
			}
		})
	}()
	defer func() {
		end()
		for x := range pieces {
			err = errors.Join(err, x.close())
		}
	}()
	for x := range pieces {
		if err := r.part(ctx, &x); err != nil || r.ended() {
			return err
		}
	}
	return context.Cause(ctx)
}

// pieces calls yield with the parts that have vertices, until it returns false. An error ends it too.
func (r *run) pieces(ctx context.Context, yield func(piece) bool) {
	members := make([][]uint32, len(r.sizes))
	for v, part := range r.of {
		members[part] = append(members[part], uint32(v))
	}
	var last chan struct{} // of the part before
	for i, vertices := range members {
		members[i] = nil
		if len(vertices) == 0 {
			continue
		}
		x := piece{part: i, vertices: vertices, over: make(chan struct{})}
		x.err = r.g.Guard(func() (err error) {
			if err := r.await(ctx, vertices, last); err != nil {
				return err
			}
			x.graph, err = r.g.Induced(ctx, vertices, r.o.Threads)
			return err
		})
		if x.err == nil {
			x.ready, x.err = r.inner.prepare(ctx, x.graph, r.p, r.o)
		}
		if !yield(x) || x.err != nil {
			return
		}
		last = x.over
	}
}

// await waits until there is memory for the graph of a part: now, or when that of the part before is freed. The error is a
// *memory.Error if there is too little even then.
func (r *run) await(ctx context.Context, vertices []uint32, last <-chan struct{}) error {
	need := r.g.InducedBytes(vertices)
	check := func() error { return r.check("the graphs of single parts", need, r.o.Memory) }
	if check() == nil {
		return nil
	}
	if last != nil {
		r.waits.Add(1)
		select {
		case <-last:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	debug.FreeOSMemory() // garbage counts as memory in use
	return check()
}

// close frees the part's graph.
func (x *piece) close() error {
	defer close(x.over)
	if x.graph == nil {
		return nil
	}
	return x.graph.Close()
}

// part searches the graph of one part.
func (r *run) part(ctx context.Context, x *piece) (err error) {
	defer func() {
		if x.graph != nil {
			err = errors.Join(err, r.s.ForgetOwner(x.graph))
		}
		err = errors.Join(err, x.close())
	}()
	if x.err != nil {
		return x.err
	}
	goal := engine.Goal{Limit: r.left(), Progress: r.progress(x.part)}
	if r.goal.Sink != nil {
		goal.Sink = &renamed{sink: r.goal.Sink, vertices: x.vertices, rows: make([][]uint32, r.s.Workers()), some: &r.rows}
	}
	res, err := x.ready.Run(ctx, goal)
	if errors.Is(err, session.ErrShort) && r.room.Auto() { // nothing was searched
		r.hosted++
		ready, err := r.inner.prepare(ctx, x.graph, r.p, gpu.Placed(r.o, "host"))
		if err != nil {
			return err
		}
		res, err = ready.Run(ctx, goal)
		r.add(&res, 1)
		return err
	}
	r.add(&res, 1)
	return err
}

// renamed hands the matches of a part to a sink, with the vertices of the whole graph.
type renamed struct {
	sink     engine.Sink
	vertices []uint32
	rows     [][]uint32 // by worker
	some     *atomic.Bool
}

// Emit implements engine.Sink.
func (x *renamed) Emit(worker int, b *engine.Batch) error {
	to := *b
	to.Vertices = slices.Grow(x.rows[worker][:0], len(b.Vertices))
	for _, v := range b.Vertices {
		to.Vertices = append(to.Vertices, x.vertices[v])
	}
	x.rows[worker] = to.Vertices
	x.some.Store(true)
	return x.sink.Emit(worker, &to)
}
