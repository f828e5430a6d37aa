// Package partition searches graphs that are larger than a GPU's memory, as PBE does. The paper is Guo et al., GPU-Accelerated
// Subgraph Enumeration on Partitioned Graphs, SIGMOD 2020.
//
// The vertices are cut into parts that fit the memory (package graph/partition). A match inside one part is found in the
// graph that the part induces, by another engine of GPUs that the caller names. A match in several parts has edges that
// cross between them. One of these is the first in a total order of all cross edges: the match's prime edge. Each
// such match is found once, from its prime edge, by a search breadth first over lists that the host gathers.
//
// It knows plans and graphs, and makes plans of one pattern for other graphs and other orders. It must not know the pattern
// language, single engines or where results go.
package partition

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/partition"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/vfs"
)

// Name is the engine's name.
const Name = "partition"

// Options are the engine's switches.
var Options = option.Table{
	option.Number("partition.parts", 0, 0, maxParts, "the number of parts; 0: as many as fit the memory of a GPU one at a time"),
	option.Choice("partition.method", "the program that cuts the graph into parts", partition.Methods[:]...),
	option.Switch("partition.share", true, "matches in several parts: one search for all edges of the pattern that its symmetries make alike; off: one for each edge"),
	option.Choice("partition.memory", "cut the graph into parts and gather lists in chunks, or search it whole: in host memory, which a GPU reads in place, or in managed memory, whose pages move to the GPU", "chunks", "unified", "managed"),
	option.Number("partition.batch", 0, 0, 1<<24, "the most rows of a table, and the most vertices whose lists are gathered at once; 0: as many as there is room for"),
}

// maxParts is the most parts: the device has the part of each vertex in 16 bits.
const maxParts = 1 << 16

// Engine is the engine over the devices of a session.
type Engine struct {
	s      *session.Session
	inCore func(s *session.Session) []engine.Engine
	chunk  int64 // the most bytes of a chunk of lists, in tests; 0: as many as there is room for
}

// New returns the engine for a session, which stays the caller's to close. The parts are searched by the first of the inCore
// engines that takes the plan. inCore makes these engines for a session, each time the same: for s, and for sessions of single devices.
func New(s *session.Session, inCore func(s *session.Session) []engine.Engine) *Engine {
	return &Engine{s: s, inCore: inCore}
}

// Name returns "partition".
func (*Engine) Name() string { return Name }

// prepared is a plan that is ready to run.
type prepared struct {
	s    *session.Session
	g    *graph.Graph
	p    *plan.Plan
	o    engine.Options
	room gpu.Room

	parts  partition.Options
	bytes  int64 // of the graph's lists that the plan reads
	batch  int
	chunk  int64
	entire engine.Prepared // searches the whole graph; nil: parts are searched
	where  string          // the whole graph lies, for people

	inCore   func(s *session.Session) []engine.Engine
	inner    inner    // for matches in one part
	searches []search // for those in several parts
	shared   bool     // searches stand for all edges that are alike
	// factor is the number of matches that a row of the searches stands for, where matches are counted.
	factor  uint64
	wants   need
	check   func(what string, need uint64, budget int64) error // of the host's memory
	program *kir.Program
	texts   map[string]string
	listing bool // kernels hand rows over, also where the host counts: rows that fulfil conditions, and choices of data edges
}

// Prepare plans the search of parts and the searches across them. It refuses plans whose conditions read more of the graph
// than a part has.
func (e *Engine) Prepare(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options) (engine.Prepared, error) {
	v, err := Options.Read(o.Opt)
	if err != nil {
		return nil, err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	x := &prepared{s: e.s, g: g, p: p, o: o, inCore: e.inCore, chunk: e.chunk, check: memory.Check, batch: v.Number("partition.batch"), listing: o.Listing || p.Rooted || len(p.Edges) > 0 || len(gpu.Conditions(p)) > 0}
	if x.room, err = gpu.ReadRoom(o); err != nil {
		return nil, err
	}
	if p.Empty != nil {
		return x, nil
	}
	if err := refused(p, o); err != nil {
		return nil, err
	}
	if x.inner, err = choose(ctx, e.inCore(e.s), g, p, o); err != nil {
		return nil, err
	}
	if how := v.Text("partition.memory"); how != "chunks" {
		place := "host"
		x.where = "in host memory"
		if how == "managed" {
			place, x.where = how, "in managed memory"
		}
		q, err := x.inner.compile(ctx, g, p, o, nil)
		if err == nil {
			x.entire, err = x.inner.engine.Prepare(ctx, g, q, gpu.Placed(o, place))
		}
		return x, err
	}
	method, err := partition.ParseMethod(v.Text("partition.method"))
	if err != nil {
		return nil, err
	}
	x.bytes = listBytes(p)
	x.parts = partition.Options{Method: method, Parts: v.Number("partition.parts"), Slack: partition.DefaultSlack, Threads: o.Threads}
	if x.parts.Parts == 0 {
		x.parts.Parts = partsFor(x.bytes, x.s)
	}
	x.program, x.texts = &kir.Program{Name: Name}, kernelTexts()
	if x.parts.Parts > 1 {
		if err := x.across(ctx, v.On("partition.share")); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// refused returns why the engine does not run a plan, if it does not.
func refused(p *plan.Plan, o engine.Options) error {
	switch {
	case p.Rooted && len(p.Edges) > 0:
		return plan.Refusef("counts per vertex of choices of data edges are not added up over parts of a graph")
	case o.Levels:
		return plan.Refusef("matches by level are not counted in parts of a graph")
	case p.Mode != pattern.Iso && p.Restricted:
		return plan.Refusef("restrictions of matches that may repeat vertices")
	}
	if !connected(p) {
		return plan.Refusef("the pattern is not connected, so its matches may be in several parts without an edge between them")
	}
	return nil
}

// fewCut is the largest share of a graph's edges between parts with which the search in parts pays. With 0.15 % it took 7 to 30 ms
// where lists in host memory took 76 to 243 ms; with 71 % it took 16 to 70 times as long (docs/notes/2026-11-23-gpu-out-of-core.md).
const fewCut = 0.05

// Pays reports whether the graph's lists that a plan reads are larger than the memory of a GPU, the graph's parts for
// that memory are kept in a file, and few edges are between them. To cut a large graph takes longer than most searches, so a
// caller that is free to choose does not begin it.
func (e *Engine) Pays(ctx context.Context, p *plan.Plan) bool {
	bytes, g := listBytes(p), p.Graph
	if p.Empty != nil || bytes <= e.s.Memory() {
		return false
	}
	o := partition.Options{Parts: partsFor(bytes, e.s), Slack: partition.DefaultSlack}
	if !partition.Kept(vfs.From(ctx), g.FileName(), g, o) {
		return false
	}
	parts, err := partsOf(ctx, g, o, func() (*partition.Partition, error) {
		return partition.Load(ctx, vfs.From(ctx), g.FileName(), g, o)
	})
	if err != nil {
		return false // it is not of use: another engine searches
	}
	all := parts.Cut
	for _, x := range parts.Parts {
		all += x.Inside
	}
	return float64(parts.Cut) <= fewCut*float64(all)
}

// Folder returns the name of the folder that keeps a graph's parts.
func Folder(g *graph.Graph) string { return partition.Folder(g.FileName()) }

// listBytes returns the bytes of the neighbour lists that a plan reads, with their offsets.
func listBytes(p *plan.Plan) (n int64) {
	seen := map[*graph.Handle]bool{}
	for i := range p.Adjs {
		if h := p.Adjs[i].Lists; !seen[h] {
			seen[h] = true
			n += 4*int64(h.Pairs()) + 8*int64(h.NumVertices()+1)
		}
	}
	return n
}

// partShare is the part of a GPU's memory that one part of the graph may take; the rest is the paper's θ, for what a
// search needs besides.
const partShare = 0.5

// partsFor returns into how many parts lists are cut, by their size in bytes. If they do not fit one device, there is at least one part for each.
func partsFor(bytes int64, s *session.Session) int {
	room := max(1, int64(partShare*float64(s.Memory())))
	n := (bytes + room - 1) / room
	if n > 1 {
		n = max(n, int64(len(s.Devices())))
	}
	return int(min(max(1, n), maxParts))
}

// Traits says the phases of the search.
func (x *prepared) Traits() engine.Traits {
	t := engine.Traits{Compiles: x.p.Empty == nil}
	switch {
	case x.p.Empty != nil:
	case x.entire != nil:
		t = x.entire.Traits()
		t.Phases = append([]string{fmt.Sprintf("engine %s searches the whole graph %s", x.inner.engine.Name(), x.where)}, t.Phases...)
	default:
		dealt := ""
		if n := len(x.s.Devices()); n > 1 && x.parts.Parts > 1 {
			dealt = fmt.Sprintf("; each of %d devices takes the next part, the largest first, and all search across parts together", n)
		}
		t.Phases = append(t.Phases,
			fmt.Sprintf("cut %s of lists into %d parts of about %s (%v); a GPU may use %s", memory.Text(uint64(x.bytes)), x.parts.Parts,
				memory.Text(uint64(x.bytes)/uint64(x.parts.Parts)), x.parts.Method, memory.Text(uint64(x.s.Memory()))),
			fmt.Sprintf("engine %s searches each part by itself (%v)%s", x.inner.engine.Name(), x.inner.method, dealt))
		if n := len(x.p.Order) - 2; n > 0 && x.parts.Parts > 1 {
			t.Phases = append(t.Phases, fmt.Sprintf("across parts, each of %d levels has an equal share of the memory: a third for rows, and two for lists in two chunks", n))
		}
		if x.parts.Parts > 1 {
			t.Memory = x.memory()
		}
		for i := range x.searches {
			t.Phases = append(t.Phases, x.searches[i].describe(x.p, x.shared))
		}
	}
	return t
}

// Compile starts compiling the kernels of searches across parts.
func (x *prepared) Compile(ctx context.Context) {
	switch {
	case x.entire != nil:
		x.entire.Compile(ctx)
	case len(x.searches) > 0:
		_ = x.s.Compile(ctx, x.job())
	}
}

// job is the search across parts for the session.
func (x *prepared) job() *session.Job {
	return &session.Job{
		Name: Name, Source: cuda.Source{Name: "partition.cu", Text: kernelsText}, Parts: x.texts, Needs: slices.Sorted(maps.Keys(x.needed())),
		Program: x.program, Chunk: 1,
	}
}

// Run counts or lists the matches.
func (x *prepared) Run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	none := engine.Result{Engine: Name, Device: x.s.String()}
	if err := goal.Check(x.p, x.o); err != nil {
		return none, err
	}
	if x.p.Empty != nil {
		none.Complete = true
		return none, nil
	}
	if x.entire != nil {
		res, err := x.entire.Run(ctx, goal)
		res.Stats = append(res.Stats, fmt.Sprintf("partition: engine %s searched the whole graph %s", x.inner.engine.Name(), x.where))
		res.Engine = Name
		return res, err
	}
	r := &run{prepared: x, goal: goal}
	r.res = none
	r.res.Complete, r.res.Threads = true, x.s.Workers()
	err := r.search(ctx)
	return r.result(ctx, err)
}

var _ engine.Engine = (*Engine)(nil)
