package codegen

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir/emit/c"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/native"
	"github.com/weftgraph/weft/internal/plan"
)

//go:embed runtime/nest.c
var nestC string

// CPU is the engine codegen on the cores of this machine: a plan's loop nest as
// C, compiled by the machine's compiler.
type CPU struct {
	Objects *native.Cache // keeps compiled code; nil: nothing is kept
}

// Name is the value of --engine.
func (CPU) Name() string { return "codegen" }

// onCPU is a plan that is ready to run.
type onCPU struct {
	g       *graph.Graph
	objects *native.Cache
	p       *plan.Plan
	o       engine.Options
	text    string
	code    *lower.NestCode
	arcs    bool
	own     sync.Once // gives the program's arrays memory that C code may read
	// vertexOf are the vertices of the sparse lists that a unit of work is a part of.
	rows     sync.Once
	vertexOf []uint32
}

// Prepare refuses plans of other methods than the nest, and options of GPUs.
func (e CPU) Prepare(_ context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	if p.Method != plan.Nest {
		return nil, plan.Refusef("method %s: codegen runs the loop nest only", p.Method)
	}
	if o.Levels {
		return nil, plan.Refusef("codegen does not measure single levels")
	}
	v, err := Options.Read(o.Opt)
	if err != nil {
		return nil, err
	}
	if given := v.Given(Options); len(given) > 0 {
		return nil, fmt.Errorf("%w %s: codegen has it on GPUs only", engine.ErrOption, given[0])
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	x := &onCPU{g: g, objects: e.Objects, p: p, o: o}
	if p.Empty == nil {
		x.text, x.code, x.arcs, err = Text(p, o)
	}
	return x, err
}

// Traits has nothing to say: on the processor the compiler takes cores from the search.
func (*onCPU) Traits() engine.Traits { return engine.Traits{} }

// Compile starts compiling the loop nest.
func (x *onCPU) Compile(ctx context.Context) {
	if x.code != nil {
		go func() { _, _ = x.objects.Compile(ctx, x.p.Pattern.Name, x.text, x.o.Compiler) }()
	}
}

// cpuArcs is the number of places in a unit of work. slack is the number of elements between
// the sets of a worker, so that no two threads write to one cache line.
const (
	cpuArcs = 64
	slack   = 32
)

// cpuExtra is struct Extra of nest.c.
type cpuExtra struct {
	first, end              uint64
	vertexOf                *uint32
	arcAdj, vertices, lists uint32
}

// Run counts the matches, or hands them to goal.Sink.
func (x *onCPU) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	res := engine.Result{Engine: CPU{}.Name(), Device: "cpu", Threads: x.o.Threads}
	if err := goal.Check(x.p, x.o); err != nil {
		return res, err
	}
	if x.p.Empty != nil {
		res.Complete = true
		return res, nil
	}
	begin := time.Now()
	j, err := x.job(ctx)
	if err != nil {
		return res, err
	}
	if err := memory.ShareOf(ctx).Take("sets of candidates", 4*int64(j.Words)*int64(x.o.Threads)); err != nil {
		return res, err
	}
	res.Prepare = time.Since(begin)
	begin = time.Now()
	j.Workers, j.Progress = x.o.Threads, goal.Progress
	if goal.PerRoot != nil {
		j.PerRoot = make([]native.Wide, len(goal.PerRoot))
	}
	limit := uint64(max(goal.Limit, 0))
	rows := &cpuRows{out: engine.NewRows(x.p, goal.Sink, goal.Limit), width: len(x.p.Levels), limit: limit}
	if goal.Sink == nil {
		j.Limit = limit
	} else {
		j.Rows, j.RowBytes = rows.take, 4*rows.width
	}
	r, err := native.Run(ctx, j)
	res.Search = time.Since(begin)
	res.Matches, res.Complete = engine.Uint128(r.Count), r.Complete
	if goal.Sink != nil {
		res.Matches = engine.U64(rows.matches())
	} else if r.Reached {
		res.Matches, res.Complete = engine.U64(j.Limit), false
	}
	for v, n := range j.PerRoot {
		goal.PerRoot[v] = engine.Uint128(n)
	}
	switch {
	case errors.Is(err, native.ErrOverflow):
		err = engine.ErrOverflow
	case errors.Is(err, engine.ErrStop):
		err = nil
	}
	return res, err
}

// Text is the C text of a plan's loop nest and of the workers over it. arcs says
// whether a unit of work is a run of places.
func Text(p *plan.Plan, o engine.Options) (text string, code *lower.NestCode, arcs bool, err error) {
	lists := lower.AsStored
	if p.OffsetsPay() {
		lists = lower.OwnOffsets
	}
	code, err = lower.Nest(p, lower.Options{View: lower.Sets, Counting: !o.Listing, Roomy: true, Sparse: lists, Made: o.Lowered})
	if err != nil {
		return "", nil, false, err
	}
	if code.Part != nil {
		_, arcs = firstList(p)
	}
	places := 0
	if arcs {
		places = cpuArcs
	}
	return fmt.Sprintf("%s#define ARCS %d\n%s", c.TextOf(code.Program, c.Options{Totals: code.Totals}), places, nestC), code, arcs, nil
}

// firstList is the set of level 1, if it is a single neighbour list and the lists are one
// sorted run. Work can then be cut by places in the list.
func firstList(p *plan.Plan) (s *plan.Set, ok bool) {
	if len(p.Levels) < 2 || p.Levels[1].Set < 0 {
		return nil, false
	}
	s = &p.Sets[p.Levels[1].Set]
	return s, s.Op == plan.SetList && !p.Adjs[s.Adj].Lists.InParts()
}

// job is the run of the plan, without the parts that depend on the goal.
func (o *onCPU) job(ctx context.Context) (*native.Job, error) {
	g, p, prog := o.g, o.p, o.code.Program
	lib, err := o.objects.Compile(ctx, p.Pattern.Name, o.text, o.o.Compiler)
	if err != nil {
		return nil, err
	}
	x := &cpuExtra{vertices: uint32(g.NumVertices())}
	roots := o.code.Roots
	x.first, x.end = uint64(roots[0].First), uint64(roots[0].End)
	for _, r := range roots {
		x.first, x.end = min(x.first, uint64(r.First)), max(x.end, uint64(r.End))
	}
	units := x.end - x.first
	if o.arcs {
		s, _ := firstList(p)
		lists := p.Adjs[s.Adj].Lists
		x.arcAdj, x.first, x.end = uint32(s.Adj), lists.Before(uint32(x.first)), lists.Before(uint32(x.end))
		x.lists = x.vertices
		if prog.Globals[s.Adj].Sparse != nil {
			o.rows.Do(func() { o.vertexOf = slices.Collect(lists.Sparse.Vertices) })
			x.lists, x.vertexOf = uint32(len(o.vertexOf)), unsafe.SliceData(o.vertexOf)
		}
		units = (x.end - x.first + cpuArcs - 1) / cpuArcs
	}
	var classes []c.Range
	for _, k := range g.Classes {
		classes = append(classes, c.Range{First: k.First, End: k.End})
	}
	o.own.Do(func() { prog.EachArray(g.Own) })
	room := lower.Room(p) + slack
	return &native.Job{
		Library: lib, Entry: "weft_nest", Memory: c.NewMemory(prog, classes), Extra: unsafe.Pointer(x),
		Units: units, Cap: uint32(room), Words: room*o.code.Slots + slack,
	}, nil
}

// cpuRows hands on the wanted number of rows of vertices.
type cpuRows struct {
	out   *engine.Rows
	width int
	limit uint64
	taken atomic.Uint64
}

func (r *cpuRows) take(worker int, rows []byte) error {
	vertices := unsafe.Slice((*uint32)(unsafe.Pointer(&rows[0])), len(rows)/4)
	if r.out.Chooses() {
		return r.out.Hand(worker, vertices)
	}
	n := uint64(len(vertices) / r.width)
	after := r.taken.Add(n)
	if r.limit > 0 && after > r.limit {
		over := min(after-r.limit, n)
		vertices = vertices[:(n-over)*uint64(r.width)]
	}
	if len(vertices) > 0 {
		if err := r.out.Hand(worker, vertices); err != nil {
			return err
		}
	}
	if r.limit > 0 && after >= r.limit {
		return engine.ErrStop
	}
	return nil
}

// matches is how many matches were handed on.
func (r *cpuRows) matches() uint64 {
	if r.out.Chooses() {
		return r.out.Matches()
	}
	n := r.taken.Load()
	if r.limit > 0 {
		n = min(n, r.limit)
	}
	return n
}

var _ engine.Engine = CPU{}
