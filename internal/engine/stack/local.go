package stack

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// The local schedule runs plans for the local method: the neighbourhood of level
// 0's vertex is a bit matrix, and all that lies below works on rows of bits.
// local.cuh has the kernels, local_class.go their sizes.

//go:embed local.cuh
var localText string

//go:embed local_team.cuh
var localTeamText string

//go:embed local_hood.cuh
var localHoodText string

//go:embed local_wedges.cuh
var localWedgesText string

//go:embed local_sizes.cuh
var localSizesText string

//go:embed local_roots.cuh
var localRootsText string

// errUniverse: a neighbourhood is too large to be a bit matrix; the nest runs the
// same plan.
var errUniverse = errors.New("a neighbourhood is too large for a bit matrix")

// outsideUniverse is the most neighbours in plans with rows for outside vertices:
// there is a row for each vertex two steps away, and those of hubs hold little.
const outsideUniverse = 4096

// errShape: the plan cannot be lowered to rows; the nest may run it.
var errShape = errors.New("the plan does not suit the local method")

// faultUniverse is FAULT_UNIVERSE of local_roots.cuh.
const faultUniverse = 1

// localChunk is how many roots a team takes at a time, at most.
const localChunk = 8

// local is a plan made ready for the local schedule.
type local struct {
	g       *graph.Graph
	prog    *kir.Program
	classes []class
	layouts []layout
	most    int // neighbours of a vertex, a bound
	warps   int // that all devices hold, about
}

// newLocal prepares p for a device; the error says why it cannot be run so.
func newLocal(g *graph.Graph, p *plan.Plan, info cuda.Info, opt map[string]string) (*local, error) {
	prog, err := lower.Plan(p, lower.Options{View: lower.Rows, Counting: true, NoMotion: opt["stack.code-motion"] == "off"})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errShape, err)
	}
	l := &local{g: g, prog: prog, most: mostNeighbours(g, p), warps: info.SMs * residentThreads / 32}
	if opt["stack.local.classes"] == "" && l.define("W_OUTSIDE") == 1 && l.define("W_SIZES") == 0 && l.most > outsideUniverse {
		return nil, fmt.Errorf("%w: some vertex has %d neighbours, and above %d rows for outside vertices are mostly empty", errUniverse, l.most, outsideUniverse)
	}
	return l, l.choose(info, opt)
}

// choose finds the classes of roots for a device.
func (l *local) choose(info cuda.Info, opt map[string]string) error {
	universes, err := universeList(opt["stack.local.classes"])
	if err != nil {
		return err
	}
	table := 0
	if text := opt["stack.local.table"]; text != "" {
		if table, err = strconv.Atoi(text); err != nil || table < 1 {
			return fmt.Errorf("%w stack.local.table=%s: want a number of outside vertices", engine.ErrOption, text)
		}
	}
	all := insideClasses
	switch {
	case l.define("W_SIZES") == 1:
		all, l.most = sizeClasses, 0
	case l.define("W_OUTSIDE") == 1:
		all = outsideClasses
	case l.define("W_ROWS") == noRows:
		all, l.most = innerClasses, 0
	}
	bytes := func(c *class) int { return c.layout(l.define("W_MASKS")).bytes }
	if l.classes, err = chooseClasses(all, l.most, info.SharedPerBlock, table, universes, bytes); err != nil {
		return err
	}
	l.layouts = nil
	for i := range l.classes {
		l.layouts = append(l.layouts, l.classes[i].layout(l.define("W_MASKS")))
	}
	return nil
}

func (l *local) define(name string) int {
	n, _ := l.prog.Define(name)
	return int(n)
}

// noRows is the W_ROWS of plans that ask for no rows but their sizes.
const noRows = 3

// mostNeighbours bounds the universes of p: in one class of vertices ids ascend
// by falling degree, so that lists cut at their own vertex have at most √(2m)
// elements.
func mostNeighbours(g *graph.Graph, p *plan.Plan) int {
	csr := p.Adjs[0].CSR
	most := 0
	for v := range uint32(csr.NumVertices()) {
		most = max(most, csr.Degree(v))
		if len(g.Classes) == 1 && &csr.Off[0] == &g.Out.Off[0] {
			break
		}
	}
	if len(g.Classes) == 1 && lowerOnly(p) {
		most = min(most, int(math.Sqrt(float64(len(csr.Adj))))+1)
	}
	return most
}

// lowerOnly reports whether all levels are below level 0.
func lowerOnly(p *plan.Plan) bool {
	below := make([]bool, len(p.Levels))
	below[0] = true
	for l := 1; l < len(p.Levels); l++ {
		for _, j := range p.Levels[l].Below {
			below[l] = below[l] || below[j]
		}
		if !below[l] {
			return false
		}
	}
	return true
}

// source is the text of the kernels.
func (l *local) source() cuda.Source {
	var b strings.Builder
	b.WriteString("#include \"plan.cuh\"\n#include \"local.cuh\"\n")
	for i := range l.classes {
		b.WriteString(l.classes[i].text(i, l.layouts[i]))
	}
	b.WriteString(`WEFT_KERNEL(local_measure, LocalParams) { measure_roots<Class0::Row>(p.run, p.graph, p.x.roots); }
WEFT_KERNEL(local_count, LocalParams) { count_roots(p.run, p.graph, p.x.roots); }
WEFT_KERNEL(local_place, LocalParams) { place_classes(p.x.roots); }
WEFT_KERNEL(local_write, LocalParams) { write_roots(p.run, p.graph, p.x.roots); }
`)
	return cuda.Source{Name: "local.cu", Text: b.String(), Includes: map[string]string{
		"plan.cuh": kircuda.Text(l.prog), "local.cuh": localText, "local_team.cuh": localTeamText, "local_hood.cuh": localHoodText,
		"local_wedges.cuh": localWedgesText, "local_sizes.cuh": localSizesText, "local_roots.cuh": localRootsText,
	}}
}

// run counts the matches of the plan on the session's devices.
func (l *local) run(ctx context.Context, s *session.Session, o engine.Options) (engine.Result, error) {
	n := uint32(l.g.NumVertices())
	r, err := s.Run(ctx, &session.Job{
		Name: "stack", Source: l.source(), Program: l.prog, Vertices: n, Owner: l.g, Tasks: uint64(n), Chunk: localChunk,
		PerRoot: o.PerRoot != nil, Progress: o.Progress,
		Start: func(x *session.Exec) (func() error, error) { return l.start(x, len(s.Devices()) == 1) },
		FaultText: func(code uint32, about uint64) string {
			return fmt.Sprintf("vertex %s: %v", l.g.IDs.String(uint32(about)), errUniverse)
		},
	})
	var f *session.Fault
	if errors.As(err, &f) && f.Code == faultUniverse {
		return engine.Result{}, fmt.Errorf("%w: vertex %s", errUniverse, l.g.IDs.String(uint32(f.About)))
	}
	for v := range o.PerRoot {
		if v < len(r.PerRoot) {
			o.PerRoot[v] = engine.Uint128(r.PerRoot[v])
		}
	}
	res := engine.Result{Matches: engine.Uint128(r.Matches), Complete: r.Complete, Search: r.Search, Prepare: r.Upload + r.Prepare + r.Compile}
	if limit := engine.U64(uint64(o.Limit)); o.Limit > 0 && res.Matches.Cmp(limit) >= 0 {
		res.Matches, res.Complete = limit, false
	}
	return res, err
}

// roots is struct Roots, and localArgs struct Local.
type roots struct {
	List, Starts, Counts, Work, Total, Next uint64
	Classes, Stretches                      uint32
	Most, Wedges                            [maxClasses]uint32
}

type localArgs struct {
	Roots        roots
	Scratch      uint64
	ScratchWords uint64
}

// nextBytes is the distance of the classes' counters of roots that were taken: a
// line each.
const nextBytes = 128

// rootThreads is a block of the kernels that list roots.
const rootThreads = 256

// start lists the roots, which depends on the graph and the plan's conditions
// alone and is done before the clock runs, and makes the kernels of the classes
// that there are ready. They run beside each other: the large neighbourhoods have
// the device first, the small ones fill what those leave.
func (l *local) start(x *session.Exec, alone bool) (search func() error, err error) {
	args := localArgs{}
	starts, err := l.list(x, &args, alone)
	if err != nil {
		return nil, err
	}
	var launches []func() error
	for i := range l.classes {
		if count := starts[i+1] - starts[i]; count > 0 {
			var s *cuda.Stream
			// Kernels that the host gives parts of one list must not wait for
			// each other's.
			if alone && len(launches) > 0 {
				if s, err = x.Branch(); err != nil {
					return nil, err
				}
			}
			launch, err := l.launch(x, s, i, count, args)
			if err != nil {
				return nil, err
			}
			launches = append(launches, launch)
		}
	}
	return func() error {
		for _, launch := range launches {
			if err := launch(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// limits says what each class takes. Where all there is to do is little, a root
// with more than a warp's part of it (mean) is the work of several.
func (l *local) limits(a *roots, mean uint64) {
	for i, c := range l.classes {
		limit := uint64(c.limit)
		if c.part > 0 {
			part := max(uint64(c.part)*mean, leastWork)
			if limit == 0 || part < limit {
				limit = part
			}
		}
		if limit == 0 || limit >= math.MaxUint32 {
			limit = math.MaxUint32
		}
		a.Most[i], a.Wedges[i] = uint32(c.universe), uint32(limit)
	}
}

// leastWork is what one warp always does alone, in elements walked.
const leastWork = 256

// list makes the list of roots by class, and returns where each class begins.
func (l *local) list(x *session.Exec, args *localArgs, alone bool) ([]uint64, error) {
	a := &args.Roots
	n := l.g.NumVertices()
	a.Classes, a.Stretches = uint32(len(l.classes)), uint32(max(1, min(1024, (n+rootThreads-1)/rootThreads)))
	starts := make([]uint64, len(l.classes)+1)
	// Starts is followed by Total, and Total by Next, which begin as zeros.
	zeros := 8*len(starts) + 8
	line := (zeros + nextBytes - 1) / nextBytes * nextBytes
	var state cuda.Buffer
	for _, m := range []struct {
		to    *uint64
		bytes int
	}{
		{&a.List, 4 * n}, {&a.Work, 4 * n}, {&a.Counts, 4 * len(l.classes) * int(a.Stretches)},
		{&a.Starts, line + nextBytes*len(l.classes)},
	} {
		b, err := x.Scratch("the list of roots", int64(max(m.bytes, 8)))
		if err != nil {
			return nil, err
		}
		*m.to, state = b.Ptr, b
	}
	a.Total, a.Next = a.Starts+uint64(8*len(starts)), a.Starts+uint64(line)
	if err := x.Context().Clear(state, x.Stream()); err != nil {
		return nil, err
	}
	run := func(name string, launch cuda.Launch) error {
		k, err := x.Kernel(name)
		if err != nil {
			return err
		}
		return session.Launch(x, k, launch, args)
	}
	grid := cuda.Launch{Blocks: int(min(int64(n+rootThreads-1)/rootThreads, int64(8*x.Info().SMs))), Threads: rootThreads}
	if err := run("local_measure", grid); err != nil {
		return nil, err
	}
	if err := x.Stream().Synchronize(); err != nil {
		return nil, err
	}
	total := make([]uint64, 1)
	if err := cuda.Download(x.Context(), total, state, int64(8*len(starts))); err != nil {
		return nil, err
	}
	l.limits(a, total[0]/uint64(max(1, l.warps)))
	for _, name := range []string{"local_count", "local_place", "local_write"} {
		launch := cuda.Launch{Blocks: int(a.Stretches), Threads: rootThreads, Shared: 4 * maxClasses * (1 + rootThreads/32)}
		if name == "local_place" {
			launch = cuda.Launch{Blocks: 1, Threads: 32}
		}
		if err := run(name, launch); err != nil {
			return nil, err
		}
	}
	if err := x.Stream().Synchronize(); err != nil {
		return nil, err
	}
	if err := cuda.Download(x.Context(), starts, state, 0); err != nil {
		return nil, err
	}
	if !alone {
		a.Next = 0
		return starts, nil
	}
	return starts, x.SetTasks(starts[len(l.classes)])
}

// scratchShare is the part of the device's free memory that the rows of one
// class may take: classes run one after the other, and each has its own.
const scratchShare = 6

// launch prepares the kernel of class i for so many roots.
func (l *local) launch(x *session.Exec, stream *cuda.Stream, i int, count uint64, args localArgs) (func() error, error) {
	c := &l.classes[i]
	k, err := x.Kernel(fmt.Sprintf("local_%d", i))
	if err != nil {
		return nil, err
	}
	teams := c.threads / c.team
	launch := cuda.Launch{Threads: c.threads, Shared: l.layouts[i].bytes * teams, Stream: stream}
	if launch.Blocks, err = k.Resident(launch.Threads, launch.Shared); err != nil {
		return nil, err
	}
	if launch.Blocks == 0 {
		return nil, &cuda.Error{Op: "stack", Text: fmt.Sprintf("the kernel for neighbourhoods of %d does not fit on %v", c.universe, x.Info()), Kind: cuda.ErrLaunch}
	}
	launch.Blocks = int(min(uint64(launch.Blocks), (count+uint64(teams)-1)/uint64(teams)))
	if c.global {
		rows := min(c.universe, l.most)*4*c.lanes*c.words + c.room*c.lanes*c.words*4
		words := int64(rows+15) / 16 * 4
		launch.Blocks = int(max(1, min(int64(launch.Blocks), x.Room()/scratchShare/(4*words*int64(teams)))))
		b, err := x.Scratch("the bit matrices of large neighbourhoods", 4*words*int64(teams)*int64(launch.Blocks))
		if err != nil {
			return nil, err
		}
		args.Scratch, args.ScratchWords = b.Ptr, uint64(words)
	}
	return func() error { return session.Launch(x, k, launch, &args) }, nil
}
