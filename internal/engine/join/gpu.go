package join

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/engine/tail"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/plan"
)

// GPU is the engine over the devices of a session: the same phases, by kernels that are the same
// for all plans.
type GPU struct{ s *session.Session }

// NewGPU returns the engine for a session, which stays the caller's to close.
func NewGPU(s *session.Session) *GPU { return &GPU{s} }

// Name returns "join".
func (*GPU) Name() string { return Name }

// onGPU is a plan that is ready to run on GPUs.
type onGPU struct {
	*prepared
	s      *session.Session
	memory gpu.Room
	data   *globals // nil: the plan is empty
	id     uint64   // of what runs of the plan leave on a device for later ones
	texts  map[string]string
	needs  []string // the kernels that runs launch, sorted
	// listing: the kernels hand rows over, also where the host counts: choices of data edges, and rows that
	// fulfil conditions.
	listing bool
	cache   bool
	share   bool // rows of a block with the same list read it once
	balance bool // rows are joined in four layers
	output  int  // how new rows get their places
	// Of joins out of core. out is how memory is used; nil: the join is in core.
	out       *outPlan
	relations []*relation // by adjacency
	free      []*relation // of candidates that no list generates
	groups    []*group    // whose candidates are tested, that of level 0 first
	probes    []*probe    // by step; nil where a step has none
	tail      *tail.Sum   // of the last step; nil: it is not counted by arithmetic
	sizes     []*probe    // of the tail's blocks
	sizeOrder []int       // in which they are counted
	nest      string      // see paysNested
	shorter   uint64      // see byWays; 0: all candidates are made of the lists of one edge
	// spare prepares the join out of core, for a run in core that finds too little memory; nil: it is not possible.
	spare func(ctx context.Context) (*onGPU, error)
	// moved is the join out of core, once a run has found that the device has too little memory, and that no other process has it.
	moved atomic.Pointer[onGPU]
}

// Prepare cuts the plan into phases, whatever its method. It refuses plans with conditions that
// are known only in the search.
func (e *GPU) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	v, err := read(o, hostOptions, "on GPUs")
	if err != nil {
		return nil, err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	x := &onGPU{s: e.s, listing: o.Listing || len(p.Edges) > 0 || len(gpu.Conditions(p)) > 0, cache: v.On("join.cache"), share: v.On("join.share"), balance: v.On("join.balance")}
	segments := v.Number("join.segments") > 0
	x.output = option.Pick(v, "join.output", map[string]int{"atomic": atomically, "prealloc": combined, "twopass": twice})
	switch {
	case v.Text("join.index") != "auto" && (segments || v.Text("join.lists") != "interval"):
		return nil, fmt.Errorf("%w join.index: only with join.lists=interval, and not with join.segments", engine.ErrOption)
	case x.share && x.balance:
		return nil, fmt.Errorf("%w join.share: rows of layers, as join.balance=on has them, do not share lists", engine.ErrOption)
	case segments && v.Text("join.sets") == "naive":
		return nil, fmt.Errorf("%w join.sets: naive is not possible with join.segments", engine.ErrOption)
	case segments && (x.share || x.balance || x.output != atomically || v.Text("join.extend") == "multi"):
		return nil, fmt.Errorf("%w join.segments: not with join.share, join.balance, join.output or join.extend=multi", engine.ErrOption)
	case x.output != atomically && (x.share || x.balance):
		return nil, fmt.Errorf("%w join.output: with join.share=on or join.balance=on only atomic", engine.ErrOption)
	}
	if x.memory, err = gpu.ReadRoom(o); err != nil {
		return nil, err
	}
	w := way{extend: extension(v), signatures: filters(g, p, v), device: true, counting: !x.listing && !o.Levels}
	if w.extend == "auto" {
		w.extend = "auto on GPUs"
	}
	w.merging = w.counting && !x.share && !x.balance && x.output == atomically
	if segments {
		return x.outOfCore(ctx, g, p, o, v, w)
	}
	if x.prepared, err = prepare(ctx, g, p, o, v, w); err != nil {
		return nil, err
	}
	if p.Empty != nil {
		return x, nil
	}
	if err := x.refused(); err != nil {
		return nil, err
	}
	x.data, x.id, x.texts, x.needs = x.globals(), graph.NewRelationID(), kernelTexts(), x.needed()
	if x.memory.Auto() && !x.share && !x.balance && !x.naive && x.output == atomically && v.Text("join.extend") != "multi" {
		x.spare = func(ctx context.Context) (*onGPU, error) { return x.outOfCore(ctx, g, p, o, v, w) }
		if x.s.HostBytes(x.memory.Give(x.job())) > 0 {
			return x.spare(ctx)
		}
	}
	return x, nil
}

// Traits says the phases of the plan, and how much of it host memory has.
func (x *onGPU) Traits() engine.Traits {
	if out := x.moved.Load(); out != nil {
		return out.Traits()
	}
	t := x.prepared.Traits()
	if x.out != nil {
		t.Compiles, t.Memory = true, &engine.Memory{Budget: x.out.limit, Least: x.out.least, Parts: x.out.explain()}
		t.Host = x.out.host
	} else if x.data != nil {
		t.Compiles = true
		t.Host = x.s.HostBytes(x.memory.Give(x.job()))
	}
	return t
}

// Compile starts compiling the kernels.
func (x *onGPU) Compile(ctx context.Context) {
	if x.p.Empty == nil {
		_ = x.s.Compile(ctx, x.job())
	}
}

// Compiled reports whether these kernels are compiled: see engine.Compiled.
func (x *onGPU) Compiled(ctx context.Context) bool {
	return x.p.Empty != nil || x.s.Compiled(ctx, x.job())
}

// rootChunk is how many roots a warp takes at a time: more where there are so many that taking them would
// take long.
func (x *onGPU) rootChunk() uint32 { return uint32(min(max(x.rootCount()>>16, 1), 32) * 32) }

// job is the plan for the session.
func (x *onGPU) job() *session.Job {
	if x.out != nil {
		return x.outJob()
	}
	return &session.Job{
		Name: Name, Source: cuda.Source{Name: "join.cu", Text: kernelsText}, Parts: x.texts, Needs: x.needs, Program: x.data.program,
		Tasks: x.rootCount(), Chunk: x.rootChunk(),
	}
}

// gpuBatch is the most rows of a table.
func (x *onGPU) gpuBatch() int {
	if x.batch > 0 {
		return x.batch
	}
	if x.merges() {
		return 1 << 20 // rows of later tables depend on how many are merged at a time
	}
	return 1 << 18
}

// gpuRun is one run on GPUs.
type gpuRun struct {
	*onGPU
	gpu.Run
	bytes    atomic.Uint64     // that all tables have room for
	filtered atomic.Uint64     // launches of filters
	pruned   [][]plan.Filtered // by filters

	mu       sync.Mutex
	launches map[string]int // by kernel
	rows     []uint64       // that each phase has handed to the next
	most     uint64         // bytes of rows that tables had at a time, of all devices
}

// searched takes what a device's tables have had.
func (r *gpuRun) searched(t *tables) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range t.phase {
		r.rows[i] += t.phase[i].handed
	}
	r.most += t.most
}

// launched counts a launch.
func (r *gpuRun) launched(kernel string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.launches[kernel]++
}

// ran says which kernels ran.
func (r *gpuRun) ran() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.launches)) {
		all = append(all, fmt.Sprintf("%s %d times", name, r.launches[name]))
	}
	return "join: kernels: " + strings.Join(all, ", ")
}

// The run's counters: lists that warps read with others, and parts of rows that warps left to others.
const (
	sharedLists = 1
	splitParts  = 2
)

// Run counts or lists the matches. A run for which the device has too little memory is out of core.
func (x *onGPU) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	if out := x.moved.Load(); out != nil {
		return out.run(ctx, goal)
	}
	res, err := x.run(ctx, goal)
	if x.spare == nil || !errors.Is(err, session.ErrShort) {
		return res, err
	}
	out, failed := x.spare(ctx)
	if failed != nil {
		return res, errors.Join(err, failed)
	}
	if !errors.Is(err, session.ErrTaken) {
		x.moved.Store(out)
	}
	return out.run(ctx, goal)
}

func (x *onGPU) run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	none := engine.Result{Engine: Name, Device: x.s.String()}
	if err := goal.Check(x.p, x.o); err != nil {
		return none, err
	}
	if x.p.Empty != nil {
		none.Complete = true
		return none, nil
	}
	if goal.Sink == nil && x.listing {
		goal.Sink = discard{}
	}
	r := &gpuRun{onGPU: x, Run: gpu.Run{Session: x.s, Graph: x.g, Plan: x.p, Goal: goal, Room: x.memory, Tells: x.out != nil}, launches: map[string]int{}, rows: make([]uint64, len(x.steps))}
	if x.ids != nil {
		r.IDs = x.ids.Old
	}
	r.Keep = gpu.Keep(x.p)
	j := x.job()
	if x.out != nil {
		return r.runOut(ctx, j)
	}
	r.Launched = &r.filtered
	j.Start = r.start
	res, found, err := r.Do(ctx, j)
	res.Notes = append(res.Notes, x.notes...)
	res.Stats = append(res.Stats, x.stats(r.rows, r.most)...)
	res.Stats = append(res.Stats, fmt.Sprintf("join: tables have room for %d bytes", r.bytes.Load()))
	res.Stats = append(res.Stats, r.ran())
	res.Filters = r.pruned
	if x.share {
		res.Stats = append(res.Stats, fmt.Sprintf("join: %d lists were not read again", found.User[sharedLists]))
	}
	if n := found.User[splitParts]; n > 0 {
		res.Stats = append(res.Stats, fmt.Sprintf("join: %d parts of long rows went to other warps", n))
	}
	if x.o.Levels {
		res.Levels = make([]engine.LevelStat, len(x.p.Levels))
		for l := range min(len(res.Levels), len(found.Visits)) {
			res.Levels[l].Matches = engine.U64(found.Visits[l])
		}
		res.Levels[len(res.Levels)-1].Matches = res.Matches
	}
	return res, err
}

var _ engine.Engine = (*GPU)(nil)
