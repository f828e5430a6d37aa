package large

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
)

// scratchPool keeps buffers from run to run: the set-up of a small query must
// not cost more than its search.
var scratchPool = sync.Pool{New: func() any { return &scratch{first: &worker{}} }}

// defaultCache is the memory that all caches of one run may take together if
// the options set no limit.
const defaultCache = 1 << 27

// A run is one search over all workers.
type run struct {
	sp         *space
	threads    int
	cacheLimit int // entries per worker
	share      *memory.Share
	sink       engine.Sink
	listing    bool
	limited    bool
	free       bool         // no restrictions
	allowance  atomic.Int64 // matches that may still be listed, if limited
	halt       atomic.Bool
	mute       atomic.Bool // the sink wants no more
	idle       atomic.Int32

	mu      sync.Mutex
	wake    sync.Cond
	queue   []*task
	started int // workers
	waiting int
	done    bool
	wg      sync.WaitGroup
	caught  atomic.Pointer[any] // a panic of a worker

	progress func(done, total uint64)
	roots    atomic.Uint64 // candidates of the first branching
	rooted   atomic.Uint64 // of those done
	reported atomic.Int64  // when progress was last told

	total engine.Uint128 // under mu
	over  bool
	err   error
	nodes uint64
}

func (r *run) stopped() bool { return r.halt.Load() }

// Run counts the matches of p, or hands every match to goal.Sink. A
// count ignores p's restrictions and divides the number of embeddings by |Aut|.
func Run(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, goal engine.Goal) (engine.Result, error) {
	start := time.Now()
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	res := engine.Result{Engine: "host", Device: "cpu", Threads: o.Threads}
	if err := Supports(p); err != nil {
		return res, err
	}
	if goal.PerRoot != nil {
		return res, errors.New("the large method does not count per vertex")
	}
	if p.Empty != nil || len(p.Levels) == 0 {
		res.Complete = true
		return res, nil
	}
	if err := ctx.Err(); err != nil {
		return res, err
	}
	r := &run{threads: o.Threads, sink: goal.Sink, listing: goal.Sink != nil || goal.Limit > 0, progress: goal.Progress}
	r.wake.L = &r.mu
	if goal.Limit > 0 {
		r.limited = true
		r.allowance.Store(goal.Limit)
	}
	mem := int64(defaultCache)
	if o.Memory > 0 {
		mem = min(mem, o.Memory/2)
	}
	r.cacheLimit = int(mem / int64(entryBytes) / int64(o.Threads))
	r.share = memory.ShareOf(ctx)
	if err := r.share.Take("arrays over the vertices", int64(g.NumVertices())*int64(4+(len(p.Levels)+7)/8)); err != nil {
		return res, err
	}

	stop := context.AfterFunc(ctx, r.cancel)
	defer stop()
	sc := scratchPool.Get().(*scratch)
	pb := &sc.problem
	pb.compile(g, p, p.Restricted && r.listing)
	sc.prepare(pb)
	sc.stop = r.stopped
	const graphs = "candidate graphs"
	within := func(bytes int64) error {
		if o.Memory > 0 && bytes > o.Memory {
			return &memory.Error{What: graphs, Need: uint64(bytes), Left: uint64(o.Memory), Limit: memory.Budget(o.Memory)}
		}
		return r.share.Fits(graphs, bytes)
	}
	sc.fits = func(bytes int) bool {
		if err := within(int64(bytes)); err != nil {
			r.fail(err)
		}
		return !r.stopped()
	}
	if o.Levels {
		res.Filters = make([][]plan.Filtered, pb.n)
		sc.left = func(filter string) {
			for u := range res.Filters {
				res.Filters[u] = append(res.Filters[u], plan.Filtered{Filter: filter, Left: uint64(len(sc.cand[u]))})
			}
		}
	}
	live, some := pb.all, pb.filter(sc)
	sc.left = nil
	candidates := int64(0)
	for u := range pb.n {
		candidates += 4 * int64(cap(sc.cand[u]))
	}
	if err := r.share.Take("sets of candidates", candidates); err != nil {
		r.fail(err)
		some = false
	}
	if some && !r.listing {
		live, some = pb.settle(sc)
	}
	if some && live == 0 {
		r.total = engine.U64(1)
	} else if some {
		sc.space.build(pb, sc, live)
		need := sc.space.bytes(o.Threads)
		if err := cmp.Or(within(need), r.share.Take(graphs, need)); err != nil {
			r.fail(err)
		}
		if !r.stopped() {
			r.sp = &sc.space
			r.search(sc.first)
		}
	}
	sc.clear(pb)
	pb.forget()
	scratchPool.Put(sc)

	res.Matches = r.total
	res.Complete = !r.stopped()
	res.Search = time.Since(start)
	if o.Levels {
		res.Notes = append(res.Notes, fmt.Sprintf("the large method chooses the next vertex at each step, so there are no figures for levels; its search had %d nodes", r.nodes))
	}
	switch {
	case r.err != nil && !errors.Is(r.err, engine.ErrStop):
		return res, r.err
	case r.over && !r.listing && p.Restricted:
		return res, fmt.Errorf("%w (of embeddings, which the large method divides by the %v symmetries)", engine.ErrOverflow, p.Aut)
	case r.over:
		return res, engine.ErrOverflow
	}
	if !r.listing && p.Restricted {
		if err := divide(&res, p); err != nil {
			return res, err
		}
	}
	if !res.Complete && ctx.Err() != nil {
		return res, ctx.Err()
	}
	return res, nil
}

// divide turns embeddings into subgraphs.
func divide(res *engine.Result, p *plan.Plan) error {
	if !p.Aut.IsUint64() {
		return errors.New("the pattern has more than 2^64-1 automorphisms")
	}
	q, rem := res.Matches.Div64(p.Aut.Uint64())
	if rem != 0 && res.Complete {
		return fmt.Errorf("internal error: %v embeddings are not a multiple of |Aut| = %v", res.Matches, p.Aut)
	}
	res.Matches = q
	return nil
}

func (r *run) cancel() {
	r.halt.Store(true)
	r.mu.Lock()
	r.wake.Broadcast()
	r.mu.Unlock()
}

// fail stops the run with err.
func (r *run) fail(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.mute.Store(true)
	r.cancel()
}

// report tells the progress, a few times a second.
func (r *run) report() {
	now := time.Now().UnixNano()
	last := r.reported.Load()
	if now-last > int64(250*time.Millisecond) && r.reported.CompareAndSwap(last, now) {
		done := r.rooted.Load()
		r.progress(done, max(done, r.roots.Load()))
	}
}
