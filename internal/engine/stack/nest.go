package stack

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// nest is the schedule of the loop nest over the set program: stack/stack.cuh.
type nest struct{}

func (nest) check(e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options) error {
	s, err := parse(o)
	if err != nil || p.Empty != nil {
		return err
	}
	_, err = newSearch(e, g, p, o, s, false)
	return err
}

func (nest) run(ctx context.Context, e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options, sink engine.Sink) (engine.Result, error) {
	s, err := parse(o)
	if err != nil {
		return engine.Result{}, err
	}
	r, err := newSearch(e, g, p, o, s, sink != nil)
	if err != nil {
		return engine.Result{}, err
	}
	rows := engine.NewRows(p, sink, o.Limit)
	found, err := e.s.Run(ctx, r.job(sink, rows))
	var tight *tightError
	if errors.As(err, &tight) && !r.parts {
		// The program itself relies on sets that are never left unfiltered: another
		// is needed. Nothing was searched yet, and the graph is on the device.
		s.slot = tight.cap
		if r, err = newSearch(e, g, p, o, s, sink != nil); err != nil {
			return engine.Result{}, err
		}
		found, err = e.s.Run(ctx, r.job(sink, rows))
	}
	if errors.Is(err, session.ErrOverflow) {
		return engine.Result{}, engine.ErrOverflow
	}
	if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Cause(ctx))) && !errors.Is(err, engine.ErrStop) {
		return engine.Result{}, err
	}
	if errors.Is(err, engine.ErrStop) {
		err = nil
	}
	if sink != nil && rows.Chooses() {
		found.Matches = session.Count{Lo: rows.Matches()}
	}
	return r.result(found), err
}

// search is one run of the nest, as it is prepared on the host.
type search struct {
	switches
	e       *Engine
	g       *graph.Graph
	p       *plan.Plan
	o       engine.Options
	listing bool

	prog  *kir.Program
	shape shape
	parts bool // some list is stored in parts
	roomy bool // no set is larger than cap
	cap   int  // elements that a set's memory has
	edges bool // tasks are places in lists, not vertices
	tasks uint64
	chunk int

	blocks int      // of the last launch
	cycles []uint64 // by level, with statistics
}

// shape is what of the lowered program decides sizes: its levels, those that have
// a list on the stack, nodes, and nodes with memory.
type shape struct{ levels, enum, walk, sets, slots int }

func newSearch(e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options, s switches, listing bool) (*search, error) {
	r := &search{switches: s, e: e, g: g, p: p, o: o, listing: listing}
	// Without a tail matches are assignments of vertices: where each counts as often
	// as its edges can be chosen, there is one.
	lo := lower.Options{View: lower.Sets, Counting: (s.tail || len(p.Edges) > 0) && !listing, NoMotion: !s.motion}
	if r.parts = lower.InParts(p); r.parts {
		// A list in parts is put together in a set's memory, and siblings' lists cannot be
		// one operation.
		r.unroll, lo.Roomy = 1, true
	}
	program := lower.Plan
	if s.table {
		program = lower.Table
	}
	var err error
	if r.prog, err = program(p, lo); err != nil {
		return nil, err
	}
	r.shape = shapeOf(r.prog)
	if r.budget(); r.parts && !r.roomy {
		return nil, &cuda.Error{
			Op: "stack", Kind: cuda.ErrMemory, Text: fmt.Sprintf("lists in parts need memory for sets of %d elements, and there is room for %d", lower.Room(p), r.cap),
		}
	}
	if r.roomy && !lo.Roomy {
		lo.Roomy = true
		if r.prog, err = program(p, lo); err != nil {
			return nil, err
		}
	}
	for r.unroll > 1 && r.sharedBytes() > r.sharedRoom() {
		r.unroll /= 2
	}
	if n, room := r.sharedBytes(), r.sharedRoom(); n > room {
		return nil, &cuda.Error{
			Op: "stack", Kind: cuda.ErrLaunch, Hint: "stack.threads makes it smaller",
			Text: fmt.Sprintf("%d levels and %d sets take %d bytes of shared memory a block of %d threads, and there are %d", r.shape.levels, r.shape.sets, n, r.thread, room),
		}
	}
	return r, r.cut()
}

func shapeOf(p *kir.Program) shape {
	get := func(name string) int {
		v, _ := p.Define(name)
		return int(v)
	}
	s := shape{levels: get("W_LEVELS"), enum: get("W_ENUM"), sets: get("W_SETS"), slots: get("W_SLOTS")}
	s.walk = s.enum
	if s.enum == s.levels {
		s.walk-- // the last level's vertices are visited where they are found
	}
	return s
}

// job is the run for the session.
func (r *search) job(sink engine.Sink, rows *engine.Rows) *session.Job {
	j := &session.Job{
		Name: "stack", Source: r.source(), Program: r.prog, Vertices: uint32(r.g.NumVertices()), Owner: r.g,
		Tasks: r.tasks, Chunk: uint32(r.chunk), PerRoot: r.o.PerRoot != nil, Progress: r.o.Progress,
		Start: r.start, FaultText: faultText,
		Limit: uint64(max(r.o.Limit, 0)),
	}
	if sink != nil {
		j.Width, j.Columns, j.Rows = len(r.p.Levels), r.p.LevelOf, rows.Hand
		if rows.Chooses() {
			j.Limit = 0 // of rows, each of which may stand for many matches
		}
	}
	return j
}

// Faults of the kernel.
const faultLayout = 1

func faultText(code uint32, about uint64) string {
	if code == faultLayout {
		return fmt.Sprintf("the stack of a warp has %d bytes, which is not what the host made room for", about)
	}
	return ""
}
