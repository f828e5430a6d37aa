package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/planner"
)

// inner is how the graph of one part is searched: an engine, with a method and an order that it took for the whole graph.
// They are the same for all parts, so that they have the same kernels.
type inner struct {
	engine engine.Engine // over all devices
	number int           // of the engine among those that the caller names
	method plan.Method
	order  []int
	least  int64 // the memory of a device with which it searches the whole graph; 0: unknown
}

// choose returns the first engine that takes a plan of p's pattern, by the local method or as a nest.
func choose(ctx context.Context, engines []engine.Engine, g *graph.Graph, p *plan.Plan, o engine.Options) (inner, error) {
	var refusals []error
	for i, e := range engines {
		for _, method := range []plan.Method{plan.Local, plan.Nest} {
			if method == plan.Local && o.Listing {
				continue
			}
			x := inner{engine: e, number: i, method: method}
			if method == p.Method || method == plan.Nest {
				x.order = p.Order
			}
			q, err := x.compile(ctx, g, p, o, nil)
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

// compile plans p's pattern in g, the graph of some vertices of p's graph (nil: all), for the method and in the order. Conditions look at
// the whole graph, and choices of edges that are listed have their numbers there.
func (x *inner) compile(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, vertices []uint32) (*plan.Plan, error) {
	po := plan.Options{
		Embeddings: !p.Restricted, Listing: o.Listing, NoTail: p.NoTail, Root: plan.NoRoot, Method: x.method.String(), Context: ctx, Threads: o.Threads,
	}
	of := &plan.Whole{Graph: p.Graph, Vertices: vertices}
	looks := slices.ContainsFunc(p.Pattern.Where, plan.Looks)
	for i := range p.Pattern.Edges {
		looks = looks || slices.ContainsFunc(p.Pattern.Edges[i].Where, plan.Looks)
	}
	if looks {
		po.Of = of
	}
	if p.Rooted {
		po.Root = p.Order[0]
	}
	if x.order != nil {
		po.Order, po.Given, po.Quick = "given", x.order, true
	}
	q, err := planner.Compile(g, p.Pattern, po)
	if err == nil && q.Restricted != p.Restricted {
		return nil, plan.Refusef("parts of the graph have other restrictions")
	}
	if err == nil && o.Listing {
		choicesOf(q, p, of)
	}
	return q, err
}

// choicesOf has a plan for a part of the graph choose data edges by those of the plan for the whole graph.
func choicesOf(q, p *plan.Plan, of *plan.Whole) {
	for i := range q.Edges {
		at := slices.IndexFunc(p.Edges, func(e plan.EdgeChoice) bool { return e.Edge == q.Edges[i].Edge })
		there, here := &p.Edges[at], &q.Edges[i]
		here.Rows = func(u, v uint32, yield func(id uint64) bool) { there.Rows(of.Vertex(u), of.Vertex(v), yield) }
		here.Checks = slices.Clone(there.Checks)
		for k := range here.Checks {
			check := there.Checks[k].Eval
			here.Checks[k].Eval = func(m []uint32, e []uint64) bool {
				var mine [pattern.MaxVertices]uint32
				for l, v := range m {
					mine[p.LevelOf[q.Order[l]]] = of.Vertex(v)
				}
				return check(mine[:len(m)], e)
			}
		}
	}
}

// piece is a part whose graph is made.
type piece struct {
	part     int
	vertices []uint32
	graph    *graph.Graph
	plan     *plan.Plan // in the part's graph
	err      error
	freed    chan<- struct{} // gets a value when the part's graph is closed
}

// inside searches each part by itself. Each device takes the next part, the largest first, so that all end at about the same time. If
// there is one part, or one device, all devices search it.
func (r *run) inside(ctx context.Context) error {
	var members [][]uint32
	r.order, members = r.members()
	if len(r.order) <= 1 || len(r.s.Devices()) == 1 {
		return r.over(ctx, members, r.s)
	}
	return r.s.Apart(ctx, func(each []*session.Session) error { return r.over(ctx, members, each...) })
}

// members returns the parts that have vertices, the largest first, and the vertices of each.
func (r *run) members() (order []int, of [][]uint32) {
	of = make([][]uint32, len(r.sizes))
	for part, size := range r.sizes {
		if size.Vertices > 0 {
			order = append(order, part)
			of[part] = make([]uint32, 0, size.Vertices)
		}
	}
	for v, part := range r.of {
		of[part] = append(of[part], uint32(v))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.sizes[b].Inside, r.sizes[a].Inside) })
	return order, of
}

// errEnough ends the search of parts when no more matches are wanted.
var errEnough = errors.New("enough matches")

// over searches the parts over sessions, which take one part after the other. The graph of the next part is made while they
// search, if there is memory for it too. The first error ends the searches of all.
func (r *run) over(ctx context.Context, members [][]uint32, sessions ...*session.Session) error {
	within, end := context.WithCancelCause(ctx)
	defer end(nil)
	pieces := make(chan *piece)
	go func() {
		defer close(pieces)
		r.pieces(within, members, func(x *piece) bool {
			select {
			case pieces <- x:
				return true
			case <-within.Done():
				_ = x.close() // no file to close
				return false
			}
		})
	}()
	var all sync.WaitGroup
	workers := make([]*worker, len(sessions))
	for i, s := range sessions {
		w := &worker{run: r, s: s, engine: r.inCore(s)[r.inner.number], first: i * s.Workers()}
		workers[i] = w
		all.Go(func() {
			for x := range pieces {
				if err := w.part(within, x); err != nil {
					end(err)
				} else if r.ended() {
					end(errEnough)
				}
			}
		})
	}
	all.Wait()
	var search, prepare time.Duration
	for _, w := range workers { // they work at the same time
		search, prepare = max(search, w.search), max(prepare, w.prepare)
		r.dealt = append(r.dealt, w.parts)
	}
	r.took(search, prepare)
	if err := context.Cause(within); err != errEnough {
		return err
	}
	return nil
}

// pieces calls yield with the parts that have vertices, until it returns false. An error ends it too.
func (r *run) pieces(ctx context.Context, members [][]uint32, yield func(*piece) bool) {
	freed := make(chan struct{}, len(r.order))
	for made, part := range r.order {
		x := &piece{part: part, vertices: members[part], freed: freed}
		members[part] = nil
		x.err = r.g.Guard(func() (err error) {
			if err := r.await(ctx, x.vertices, freed, made); err != nil {
				return err
			}
			if x.graph, err = r.g.Induced(ctx, x.vertices, r.o.Threads); err == nil {
				x.plan, err = r.inner.compile(ctx, x.graph, r.p, r.o, x.vertices)
			}
			return err
		})
		failed := x.err != nil // read before yield: whoever gets the piece may change it
		if !yield(x) || failed {
			return
		}
	}
}

// await waits until there is memory for the graph of a part: now, or when some of those made before are freed. The error is a
// *memory.Error if there is too little even then.
func (r *run) await(ctx context.Context, vertices []uint32, freed <-chan struct{}, made int) error {
	need := r.g.InducedBytes(vertices)
	check := func() error { return r.check("the graphs of single parts", need, r.o.Memory) }
	err := check()
	if err != nil && made > r.gone {
		r.waits.Add(1)
	}
	for ; err != nil && made > r.gone; err = check() {
		select {
		case <-freed:
			r.gone++
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		debug.FreeOSMemory() // garbage counts as memory in use
	}
	if err != nil {
		debug.FreeOSMemory()
		err = check()
	}
	return err
}

// close frees the part's graph. A second call does nothing.
func (x *piece) close() error {
	if x.graph == nil {
		return nil
	}
	g := x.graph
	x.graph = nil
	defer func() { x.freed <- struct{}{} }()
	return g.Close()
}

// worker searches parts on the devices of one session.
type worker struct {
	*run
	s      *session.Session
	engine engine.Engine
	first  int // of the workers of the run's session that are this one's

	parts           int // that it has searched
	search, prepare time.Duration
}

// part searches the graph of one part, and frees it.
func (w *worker) part(ctx context.Context, x *piece) (err error) {
	g := x.graph
	defer func() {
		if g != nil {
			err = errors.Join(err, w.s.ForgetOwner(g), x.close())
		}
	}()
	switch {
	case x.err != nil:
		return x.err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	goal := engine.Goal{Limit: w.left(), Progress: w.progress(x.part)}
	if w.goal.PerRoot != nil {
		goal.PerRoot = make([]engine.Uint128, len(x.vertices))
	}
	if w.goal.Sink != nil {
		goal.Sink = &renamed{run: w.run, first: w.first, vertices: x.vertices, rows: make([][]uint32, w.s.Workers())}
	}
	res, err := w.runPlan(ctx, x, w.o, goal)
	if errors.Is(err, session.ErrShort) && w.room.Auto() && ctx.Err() == nil { // nothing was searched
		w.hosted.Add(1)
		res, err = w.runPlan(ctx, x, gpu.Placed(w.o, "host"), goal)
	}
	w.parts++
	w.search += res.Search
	w.prepare += res.Prepare
	if err != nil && ctx.Err() == nil {
		return err // before others take the result for the end of the search
	}
	w.add(&res, 1)
	w.addRoots(x.vertices, goal.PerRoot)
	if err == nil {
		w.finished(x.part)
	}
	return err
}

// runPlan searches the part's graph.
func (w *worker) runPlan(ctx context.Context, x *piece, o engine.Options, goal engine.Goal) (engine.Result, error) {
	ready, err := w.engine.Prepare(ctx, x.graph, x.plan, o)
	if err != nil {
		return engine.Result{}, err
	}
	return ready.Run(ctx, goal)
}

// renamed hands the matches of a part to a sink, with the vertices of the whole graph, up to the limit of the run. Devices
// that search other parts at the same time do not know how many there are.
type renamed struct {
	*run
	first    int
	vertices []uint32
	rows     [][]uint32 // by worker
}

// Emit implements engine.Sink.
func (x *renamed) Emit(worker int, b *engine.Batch) error {
	to := *b
	if limit := x.goal.Limit; limit > 0 {
		over := x.handed.Add(int64(b.Rows)) - limit
		to.Rows = int(min(max(int64(b.Rows)-over, 0), int64(b.Rows)))
		if to.Rows == 0 {
			return engine.ErrStop
		}
	}
	to.Vertices = slices.Grow(x.rows[worker][:0], to.Rows*b.Width)
	for _, v := range b.Vertices[:to.Rows*b.Width] {
		to.Vertices = append(to.Vertices, x.vertices[v])
	}
	x.rows[worker] = to.Vertices
	x.some.Store(true)
	return x.goal.Sink.Emit(x.first+worker, &to)
}
