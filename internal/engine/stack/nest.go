package stack

import (
	"context"
	"errors"
	"fmt"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

// runNest runs the loop nest over the set program: stack/stack.cuh.
func (x *prepared) runNest(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	s, err := x.search(0)
	if err != nil {
		return engine.Result{}, err
	}
	res, err := s.run(ctx, goal)
	// The program itself may rely on sets that are never left unfiltered: another is needed. Nothing
	// was searched yet, and the graph is on the device.
	var tight *tightError
	switch {
	case s.parts:
	case errors.As(err, &tight):
		if s, err = x.search(tight.cap); err == nil {
			res, err = s.run(ctx, goal)
		}
	case s.roomy && session.TriedLeast(err):
		if s, err = x.search(1); err == nil {
			res, err = s.run(ctx, goal)
		}
	}
	if m := goal.Memory; m != nil && err == nil && m.Least == 0 && s.roomy && !s.parts {
		// The least memory is that of the program with sets of one element.
		if s, err = x.search(1); err == nil {
			var least engine.Memory
			goal.Memory = &least
			if _, err = s.run(ctx, goal); err == nil {
				m.Least = least.Least
			}
		}
	}
	return res, err
}

// search is a plan's loop nest, as it is prepared on the host for any number of runs.
type search struct {
	switches
	e *Engine
	g *graph.Graph
	p *plan.Plan
	o engine.Options

	text  cuda.Source
	reads gpu.Reads
	code  *lower.Code
	parts bool // some list is stored in parts
	roomy bool // no set is larger than cap
	cap   int  // elements that a set's memory has
	edges bool // tasks are places in lists, not vertices
	tasks uint64
	chunk int
	// vertices are those that have the lists of edge tasks, if these are sparse.
	vertices *kir.GlobalDef
}

// run is one run of a search.
type run struct {
	*search
	gpu.Run

	grid   int      // blocks of the last launch
	cycles []uint64 // by level, with statistics
}

func newSearch(e *Engine, g *graph.Graph, p *plan.Plan, o engine.Options, s switches) (*search, error) {
	r := &search{switches: s, e: e, g: g, p: p, o: o}
	lo := lower.Options{View: lower.Sets, Counting: !o.Listing, Sparse: s.memory.Sparse(p), Made: o.Lowered}
	if r.parts = lower.InParts(p); r.parts {
		// A list in parts is put together in a set's memory, and siblings' lists cannot be
		// one operation.
		r.unroll = 1
	}
	program := lower.Plan
	if s.table {
		program, lo.Counting = lower.Table, false
	}
	r.budget(lower.ShapeOf(p, lo).Slots)
	if r.parts && !r.roomy {
		return nil, &cuda.Error{
			Op: "stack", Kind: cuda.ErrMemory, Text: fmt.Sprintf("lists in parts need memory for sets of %d elements, and there is room for %d", lower.Room(p), r.cap),
		}
	}
	lo.Roomy = r.roomy
	var err error
	if r.code, err = program(p, lo); err != nil {
		return nil, err
	}
	for r.unroll > 1 && r.sharedBytes() > r.sharedRoom() {
		r.unroll /= 2
	}
	if n, room := r.sharedBytes(), r.sharedRoom(); n > room {
		return nil, &cuda.Error{
			Op: "stack", Kind: cuda.ErrLaunch, Hint: "stack.threads makes it smaller",
			Text: fmt.Sprintf("%d levels and %d sets take %d bytes of shared memory a block of %d threads, and there are %d", r.code.Levels, len(r.code.Nodes), n, r.thread, room),
		}
	}
	if err := r.cut(); err != nil {
		return nil, err
	}
	r.text, r.reads = r.source(), s.memory.Reads(p, r.code.Program)
	return r, nil
}

// listed is the number of levels that have a list on the stack. Where the last level is
// walked, its vertices are visited where they are found.
func (r *search) listed() int { return min(r.code.Walked, r.code.Levels-1) }

// job is the search for the session.
func (r *search) job() *session.Job {
	return r.reads.Give(&session.Job{
		Name: "stack", Source: r.text, Program: r.code.Program, Tasks: r.tasks, Chunk: uint32(r.chunk), FaultText: faultText,
	})
}

// run runs the search once.
func (r *search) run(ctx context.Context, goal engine.Goal) (engine.Result, error) {
	x := &run{search: r, Run: gpu.Run{Session: r.e.s, Graph: r.g, Plan: r.p, Goal: goal, Room: r.memory}}
	j := r.job()
	j.Start = x.start
	res, found, err := x.Do(ctx, j)
	if r.o.Levels {
		res.Levels = x.levels(&found)
	}
	if err == nil {
		res.Stats = append(res.Stats, x.figures(&found)...)
	}
	return res, err
}

// Faults of the kernel.
const faultLayout = 1

func faultText(code uint32, about uint64) string {
	if code == faultLayout {
		return fmt.Sprintf("the stack of a warp has %d bytes, which is not the room that the host made for it", about)
	}
	return ""
}
