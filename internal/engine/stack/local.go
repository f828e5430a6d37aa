package stack

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sort"
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

//go:embed local_help.cuh
var localHelpText string

//go:embed local_wedges.cuh
var localWedgesText string

//go:embed local_sizes.cuh
var localSizesText string

//go:embed local_roots.cuh
var localRootsText string

// errUniverse: a neighbourhood is too large to be a bit matrix; a plan for the nest
// is the one to run.
var errUniverse = errors.New("a neighbourhood is too large for a bit matrix")

// outsideUniverse is the most neighbours in plans with rows for outside vertices:
// there is a row for each vertex two steps away, and those of hubs hold little.
const outsideUniverse = 4096

// errShape: the plan cannot be lowered to rows; the nest may run one.
var errShape = errors.New("the plan does not suit the local method")

// faultUniverse is FAULT_UNIVERSE of local_roots.cuh.
const faultUniverse = 1

// localChunk is how many roots a team takes at a time, at most.
const localChunk = 8

// local is a plan made ready for the local schedule.
type local struct {
	g       *graph.Graph
	prog    *kir.Program
	measure string // what is walked below a root, in words: equal where it is
	classes []class
	layouts []layout
	most    int // positions of a universe: the most of any vertex
	warps   int // that all devices hold, about
	gain    int // how many times as long as its matrix a root has to take for help; -1: there is none
	csr     *graph.CSR
}

// helpGain is what makes up for the second matrix, and for looking for it.
const helpGain = 2

// newLocal prepares p for a device; the error says why it cannot be run so.
func newLocal(g *graph.Graph, p *plan.Plan, info cuda.Info, opt map[string]string) (*local, error) {
	prog, err := lower.Plan(p, lower.Options{View: lower.Rows, Counting: true, NoMotion: opt["stack.code-motion"] == "off"})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errShape, err)
	}
	l := &local{g: g, prog: prog, warps: info.SMs * residentThreads / 32, csr: p.Adjs[0].CSR}
	l.most = l.mostNeighbours()
	level1 := &p.Levels[1]
	l.measure = fmt.Sprintf("work below roots %d %d %d %d %v %v", l.define("W_UNIVERSE"), l.define("W_OUTSIDE"), l.define("W_ROWS"), l.define("W_INNER"),
		len(level1.Above) > 0, len(level1.Below) > 0)
	if opt["stack.local.classes"] == "" && l.define("W_OUTSIDE") == 1 && l.define("W_SIZES") == 0 && l.most > outsideUniverse {
		return nil, fmt.Errorf("%w: some vertex has %d neighbours, and above %d rows for outside vertices are mostly empty", errUniverse, l.most, outsideUniverse)
	}
	return l, l.choose(info, opt)
}

// choose finds the classes of roots for a device.
func (l *local) choose(info cuda.Info, opt map[string]string) error {
	switch v := opt["stack.local.help"]; v {
	case "", "on":
		l.gain = helpGain
	case "off":
		l.gain = -1
	case "always":
		l.gain = 0
	default:
		return fmt.Errorf("%w stack.local.help=%s: want on, off or always", engine.ErrOption, v)
	}
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

// mostNeighbours is the size of the largest universe. Where ids ascend by falling
// degree it is that of one of the first vertices: a vertex has k neighbours below
// its own id only if it is behind k others of its degree or more.
func (l *local) mostNeighbours() (most int) {
	side := l.define("W_UNIVERSE")
	for v := range uint32(l.csr.NumVertices()) {
		n := l.csr.Degree(v)
		if n <= most {
			if falling(l.g, l.csr) {
				break
			}
			continue
		}
		list := l.csr.List(v)
		below := sort.Search(n, func(i int) bool { return list[i] >= v })
		switch side {
		case belowRoot:
			n = below
		case aboveRoot:
			n -= below
		}
		most = max(most, n)
	}
	return most
}

// Values of W_UNIVERSE, where not all neighbours of the root are in the universe.
const (
	belowRoot = 1
	aboveRoot = 2
)

// falling reports whether the degrees of an adjacency are known to fall with ids.
func falling(g *graph.Graph, csr *graph.CSR) bool {
	return len(g.Classes) == 1 && &csr.Off[0] == &g.Out.Off[0]
}

// larger bounds the vertices with more than n neighbours.
func (l *local) larger(n int) int {
	if !falling(l.g, l.csr) {
		return l.csr.NumVertices()
	}
	return sort.Search(l.csr.NumVertices(), func(v int) bool { return l.csr.Degree(uint32(v)) <= n })
}

// source is the text of the kernels.
func (l *local) source() cuda.Source {
	var b strings.Builder
	b.WriteString("#include \"plan.cuh\"\n#include \"local.cuh\"\n")
	for i := range l.classes {
		b.WriteString(l.classes[i].text(i, l.layouts[i]))
	}
	b.WriteString(`WEFT_KERNEL(local_measure, MeasureParams) { measure(p); }
WEFT_KERNEL(local_list, LocalParams) { list_roots(p.run, p.graph, p.x.roots); }
`)
	return cuda.Source{Name: "local.cu", Text: b.String(), Includes: map[string]string{
		"plan.cuh": kircuda.Text(l.prog), "local.cuh": localText, "local_team.cuh": localTeamText, "local_hood.cuh": localHoodText,
		"local_help.cuh": localHelpText, "local_wedges.cuh": localWedgesText, "local_sizes.cuh": localSizesText, "local_roots.cuh": localRootsText,
	}}
}

// run counts the matches of the plan on the session's devices.
func (l *local) run(ctx context.Context, s *session.Session, o engine.Options) (engine.Result, error) {
	n := uint32(l.g.NumVertices())
	r, err := s.Run(ctx, &session.Job{
		Name: "stack", Source: l.source(), Program: l.prog, Vertices: n, Owner: l.g, Tasks: uint64(n), Chunk: localChunk,
		PerRoot: o.PerRoot != nil, Progress: o.Progress, Limit: uint64(max(o.Limit, 0)),
		Start: func(x *session.Exec) (func() error, error) { return l.start(x, len(s.Devices()), o.Limit > 0) },
		FaultText: func(code uint32, about uint64) string {
			return fmt.Sprintf("vertex %s: %v", l.g.IDs.String(uint32(about)), errUniverse)
		},
	})
	var f *session.Fault
	if errors.As(err, &f) && f.Code == faultUniverse {
		return engine.Result{}, fmt.Errorf("%w: vertex %s", errUniverse, l.g.IDs.String(uint32(f.About)))
	}
	if errors.Is(err, session.ErrOverflow) {
		return engine.Result{}, engine.ErrOverflow
	}
	for v, n := range r.PerRoot { // none after a run that never began
		o.PerRoot[v] = engine.Uint128(n)
	}
	res := engine.Result{Matches: engine.Uint128(r.Matches), Complete: r.Complete, Search: r.Search, Prepare: r.Upload + r.Prepare + r.Compile}
	if err == nil {
		res.Notes = append(res.Notes, fmt.Sprintf("by rows of bits in %d classes of neighbourhoods, %d times with help of another block; upload %s, preparation %s, compilation %s",
			len(l.classes), r.StealsGrid, round(r.Upload), round(r.Prepare), round(r.Compile)))
	}
	if limit := engine.U64(uint64(o.Limit)); o.Limit > 0 && res.Matches.Cmp(limit) >= 0 {
		res.Matches, res.Complete = limit, false
	}
	return res, err
}

// scratchShare is the part of the device's free memory that the rows of one
// class may take: classes run one after the other, and each has its own.
const scratchShare = 6

// launch prepares the kernel of class i for up to count roots with up to most
// neighbours.
func (l *local) launch(x *session.Exec, stream *cuda.Stream, i, count, most int, args localArgs) (func() error, error) {
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
	blocks := (count + teams - 1) / teams
	helped := l.helped(c)
	if helped {
		blocks = max(blocks, x.Info().SMs)
	}
	launch.Blocks = min(launch.Blocks, blocks)
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
	if helped {
		desks := deskBytes * int64(launch.Blocks)
		b, err := x.Scratch("what teams share", desks+4*int64(count))
		if err != nil {
			return nil, err
		}
		if err := x.Context().Clear(b, x.Stream()); err != nil {
			return nil, err
		}
		args.Desks, args.Given, args.Gain = b.Ptr, b.Ptr+uint64(desks), uint32(l.gain)
	}
	return session.Prepared(x, k, launch, &args), nil
}

// helped reports whether teams of class c help each other: where a root has a
// matrix, and the team is a block of some size. Smaller ones have little to share.
func (l *local) helped(c *class) bool {
	return l.gain >= 0 && c.helps() && l.define("W_SIZES") == 0 && l.define("W_ROWS") != noRows
}
