// Package neighbourhood counts plans with the local method on GPUs. The neighbourhood of the
// vertex at level 0 is a bit matrix. The levels below it are straight-line code of the plan over
// rows of bits, compiled into the kernels.
//
// neighbourhood/kernels.cuh has the kernels, and class.go their sizes. The engines of GPUs use
// it. It knows plans, their lowering and sessions. It must not know any single engine.
package neighbourhood

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// ErrUniverse: a neighbourhood is too large to be a bit matrix; a plan for the nest
// is the one to run.
var ErrUniverse = plan.Refusef("a neighbourhood is too large for a bit matrix")

// outsideUniverse is the largest number of neighbours in plans with rows for outside vertices.
// There is a row for each vertex two steps away, and the rows of hubs' neighbourhoods hold
// little.
const outsideUniverse = 4096

// ErrShape: the plan cannot be lowered to rows; the nest may run one.
var ErrShape = plan.Refusef("the plan does not suit the local method")

// faultUniverse is FAULT_UNIVERSE of neighbourhood/roots.cuh.
const faultUniverse = 1

// localChunk is how many roots a team takes at a time, at most.
const localChunk = 8

// Search is a plan made ready, for any number of runs.
type Search struct {
	name    string // of the engine
	s       *session.Session
	g       *graph.Graph
	p       *plan.Plan
	code    *lower.Code
	text    cuda.Source
	kernels map[string]string
	measure string // the amount walked below a root, in words; equal texts mean equal amounts
	classes []class
	layouts []layout
	most    int  // positions of a universe: the most of any vertex
	whole   bool // whether one kernel may go over all vertices
	warps   int  // that all devices hold, about
	Switches
	memory gpu.Room
	reads  gpu.Reads
	rel    *graph.Handle // the lists, which are in one run: the rows view refuses others
	// vertices are those that have lists, if the program reads sparse ones; else nil.
	vertices *kir.GlobalDef
}

// New prepares p for the devices of a session, with the options of the engine of
// that name. The error says why it cannot be run so: ErrShape, ErrUniverse, or
// engine.ErrOption.
func New(name string, s *session.Session, g *graph.Graph, p *plan.Plan, w Switches, o engine.Options) (*Search, error) {
	infos := s.Devices()
	info := infos[0]
	for _, i := range infos[1:] {
		info.SharedPerBlock = min(info.SharedPerBlock, i.SharedPerBlock)
	}
	w.made = o.Lowered
	memory, err := gpu.ReadRoom(o)
	if err != nil {
		return nil, err
	}
	w.sparse = memory.Sparse(p)
	l, err := newSearch(g, p, info, w)
	if err != nil {
		return nil, err
	}
	l.name, l.s, l.memory = name, s, memory
	l.text, l.kernels = l.source()
	rows := &l.code.Rows
	l.reads = l.memory.LocalReads(p, l.code.Program, gpu.Neighbourhoods{
		Hood: rows.Hood, Counted: rows.Rows == lower.NoRows, Level1: rows.Level1, Inner: rows.Inner,
	})
	return l, nil
}

// newSearch is New for one device.
func newSearch(g *graph.Graph, p *plan.Plan, info cuda.Info, w Switches) (*Search, error) {
	code, err := lower.Plan(p, lower.Options{View: lower.Rows, Counting: true, Sparse: w.sparse, Made: w.made})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrShape, err)
	}
	l := &Search{g: g, p: p, code: code, Switches: w, warps: info.SMs * residentThreads / 32, rel: p.Adjs[0].Lists}
	l.vertices = gpu.ListVertices(code.Program, l.adjacency(), l.rel)
	l.most = l.mostNeighbours()
	level1 := &p.Levels[1]
	rows := &code.Rows
	l.measure = fmt.Sprintf("work below roots %d %v %d %d %v %v", rows.Universe, rows.Outside, rows.Rows, rows.Inner,
		len(level1.Above) > 0, len(level1.Below) > 0)
	if l.vertices != nil {
		l.measure += " of sparse lists"
	}
	if w.universes == nil && rows.Outside && !rows.SizesOnly && l.most > outsideUniverse {
		return nil, fmt.Errorf("%w: some vertex has %d neighbours, and above %d rows for outside vertices are mostly empty", ErrUniverse, l.most, outsideUniverse)
	}
	return l, l.choose(info)
}

// choose finds the classes of roots for a device.
func (l *Search) choose(info cuda.Info) (err error) {
	all, rows := insideClasses, &l.code.Rows
	switch {
	case rows.SizesOnly:
		all, l.most = sizeClasses, 0
	case rows.Outside:
		all = outsideClasses
	case rows.Rows == lower.NoRows:
		all, l.most = innerClasses, 0
		l.whole = !l.lists && l.universes == nil
	}
	bytes := func(c *class) int { return c.layout(rows.Masks).cached }
	if l.classes, err = chooseClasses(all, l.most, info.SharedPerBlock, l.table, l.universes, bytes); err != nil {
		return err
	}
	l.layouts = nil
	for i := range l.classes {
		if !rows.Outside && l.code.Walked >= deepLevels {
			l.classes[i] = l.classes[i].deep()
		}
		// Where a task is one row, a root is done before help is there.
		l.classes[i].shares = l.classes[i].shares && !l.alone && (rows.Outside || rows.Parts)
		l.layouts = append(l.layouts, l.classes[i].layout(rows.Masks))
	}
	return nil
}

// mostNeighbours is the size of the largest universe. If ids ascend as degrees fall, one of the
// first vertices has it: a vertex has k neighbours with smaller ids only if k other vertices
// have its degree or more.
func (l *Search) mostNeighbours() (most int) {
	side := l.code.Rows.Universe
	var scratch graph.Scratch
	for v := range l.listed() {
		if !slices.ContainsFunc(l.code.Roots, func(r plan.Range) bool { return r.First <= v && v < r.End }) {
			continue
		}
		n := l.rel.Degree(v)
		if n <= most {
			if l.falling() {
				break
			}
			continue
		}
		// One neighbour says whether more than most of them are on the side.
		list := l.rel.List(v, &scratch)
		switch {
		case side == plan.LowerSide && list[most] < v:
			n = sort.Search(n, func(i int) bool { return list[i] >= v })
		case side == plan.UpperSide && list[n-1-most] >= v:
			n -= sort.Search(n, func(i int) bool { return list[i] >= v })
		case side == plan.LowerSide || side == plan.UpperSide:
			continue
		}
		most = n
	}
	return most
}

// listed returns the vertices that may have lists, ascending.
func (l *Search) listed() iter.Seq[uint32] {
	if l.rel.Sparse != nil {
		return l.rel.Sparse.Vertices
	}
	return func(yield func(uint32) bool) {
		for v := range uint32(l.rel.NumVertices()) {
			if !yield(v) {
				return
			}
		}
	}
}

// falling reports whether degrees are known to fall with ids.
func (l *Search) falling() bool { return len(l.g.Classes) == 1 && l.rel.DegreeOrdered }

// larger bounds the vertices with more than n neighbours.
func (l *Search) larger(n int) int {
	if !l.falling() {
		return l.places()
	}
	return sort.Search(l.rel.NumVertices(), func(v int) bool { return l.rel.Degree(uint32(v)) <= n })
}

// source is the common text of all kernels, and parts are the texts of each. A class's text
// depends on the plan and the device, and not on the graph, so that graphs share compiled
// kernels.
func (l *Search) source() (src cuda.Source, parts map[string]string) {
	const roots = `WEFT_KERNEL(local_measure, MeasureParams) { measure(p); }
WEFT_KERNEL(local_list, LocalParams) { list_roots(p.run, p.graph, p.x.roots); }
`
	parts = map[string]string{"local_measure": roots, "local_list": roots}
	for i := range l.classes {
		parts[l.classes[i].kernel()] = l.classes[i].text(l.layouts[i], l.classes[i].kernel(), "search_class")
	}
	if l.whole {
		c := wholeClass
		parts[wholeKernel] = "#include \"neighbourhood/whole.cuh\"\n" + c.text(c.layout(0), wholeKernel, "search_whole")
	}
	includes := map[string]string{"plan.cuh": kircuda.Text(l.code.Program)}
	text := "#include \"plan.cuh\"\n"
	if l.vertices != nil {
		text += "#define LOCAL_SPARSE\n"
	}
	return cuda.Source{Name: "local.cu", Text: text + "#include \"neighbourhood/kernels.cuh\"\n", Includes: includes}, parts
}

// job is the search for the session.
func (l *Search) job() *session.Job {
	return l.reads.Give(l.memory.Give(&session.Job{
		Name: l.name, Source: l.text, Parts: l.kernels, Program: l.code.Program, Tasks: uint64(l.places()), Chunk: localChunk,
		FaultText: func(code uint32, about uint64) string {
			return fmt.Sprintf("vertex %s: %v", l.g.IDs.String(uint32(about)), ErrUniverse)
		},
	}))
}

// Memory is engine.Traits.Memory.
func (l *Search) Memory() *engine.Memory { return gpu.Memory(l.s, l.job()) }

// Compile starts compiling the kernels, and returns at once.
func (l *Search) Compile(ctx context.Context) { _ = l.s.Compile(ctx, l.job()) }

// Compiled reports whether the kernels of Run are compiled.
func (l *Search) Compiled(ctx context.Context) bool { return l.s.Compiled(ctx, l.job()) }

// Run counts the matches of the plan. An error that is ErrUniverse says that a
// bound on neighbourhoods was too low; nothing was counted.
func (l *Search) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	d := newDealer(len(l.s.Devices()))
	var whole atomic.Bool // one kernel went over all vertices
	j := l.job()
	j.Start = func(x *session.Exec) (func() error, error) { return l.start(x, d, goal.Limit > 0, &whole) }
	run := gpu.Run{Session: l.s, Graph: l.g, Plan: l.p, Goal: goal, Room: l.memory}
	res, found, err := run.Do(ctx, j)
	var f *session.Fault
	if errors.As(err, &f) && f.Code == faultUniverse {
		return engine.Result{}, fmt.Errorf("%w: vertex %s", ErrUniverse, l.g.IDs.String(uint32(f.About)))
	}
	if err == nil {
		how := fmt.Sprintf("by rows of bits in %d classes of neighbourhoods, %d times with help for a root", len(l.classes), found.StealsGrid)
		if whole.Load() {
			how = "by one kernel over all vertices"
		}
		res.Stats = append(res.Stats, how+"; "+gpu.Times(&found))
	}
	return res, err
}

// scratchShare: the rows of one grid may take 1/scratchShare of the device's free memory. The
// grids of all classes, and those that help, run concurrently, and each has its own rows.
const scratchShare = 6

// launch prepares the kernel of class i for up to count roots with up to most
// neighbours.
func (l *Search) launch(r *rounds, stream *cuda.Stream, i, count, most int, args localArgs) (func() error, error) {
	c, x := &l.classes[i], r.x
	k, err := x.Kernel(c.kernel())
	if err != nil {
		return nil, err
	}
	args.Class = uint32(i)
	teams := c.threads / c.team
	launch := cuda.Launch{Threads: c.threads, Shared: l.layouts[i].shared(x) * teams, Stream: stream}
	if launch.Blocks, err = k.Resident(launch.Threads, launch.Shared); err != nil {
		return nil, err
	}
	if launch.Blocks == 0 {
		return nil, noRoom(l.name, *c, x)
	}
	launch.Blocks = min(launch.Blocks, (count-1)/teams+1)
	if c.global {
		rows := min(c.universe, most)*4*c.lanes*c.words + c.room*c.lanes*c.words*4
		words := int64(rows+15) / 16 * 4
		launch.Blocks = int(max(1, min(int64(launch.Blocks), x.Room()/scratchShare/(4*words*int64(teams)))))
		b, err := x.Scratch("the bit matrices of large neighbourhoods", 4*words*int64(teams)*int64(launch.Blocks))
		if err != nil {
			return nil, err
		}
		args.Scratch, args.ScratchWords = b.Ptr, uint64(words)
	}
	return session.Prepared(x, k, launch, &args), nil
}

// noRoom is the error of a kernel of which no block fits on a multiprocessor.
func noRoom(name string, c class, x *session.Exec) error {
	return &cuda.Error{Op: name, Text: fmt.Sprintf("the kernel for neighbourhoods of %d does not fit on %v", c.universe, x.Info()), Kind: cuda.ErrLaunch}
}

// residentThreads is how many threads a multiprocessor is to hold at once.
const residentThreads = 1024
