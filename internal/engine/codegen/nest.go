package codegen

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/plan"
)

var nestText = kernels.Source("codegen/nest.cuh")

// Threads of a block, arcs of a task, and the blocks of an emulated device.
const (
	threads        = 256
	arcsOfTask     = 64
	emulatedBlocks = 4
)

// extra is struct Extra of codegen/nest.cuh.
type extra struct {
	Slots, Arcs  uint64
	Vertices     uint64
	Cap, ArcAdj  uint32
	Often, Lists uint32
	Tables       [membership.Tables]uint64
}

// program is the source and the settings of the kernels of a plan's loop nest. It serves any
// number of runs.
type program struct {
	code   *lower.Code
	lookup membership.Lookup
	lists  membership.Lengths
	source cuda.Source
	memory gpu.Room
	reads  gpu.Reads
	tasks  uint64
	extra  extra
	// vertices are those that have the lists of the arcs, if these are sparse.
	vertices *kir.GlobalDef
}

// program lowers a plan, by look-ups where these are one load. A program that asks for
// nothing to be looked up is the same as without.
func (e *Engine) program(p *plan.Plan, asked membership.Lookup, o engine.Options) (*program, error) {
	lists, err := membership.ReadLengths(o.Opt)
	if err != nil {
		return nil, err
	}
	n := &program{lists: lists}
	if n.memory, err = gpu.ReadRoom(o); err != nil {
		return nil, err
	}
	sparse := n.memory.Sparse(p)
	n.lookup = e.lookup(p, asked, lists, sparse)
	lo := lower.Options{View: lower.Sets, Counting: !o.Listing, Roomy: true, Lookup: n.lookup != membership.Search, Sparse: sparse, Made: o.Lowered}
	if n.code, err = lower.Plan(p, lo); err != nil {
		return nil, err
	}
	if !membership.Asked(n.code.Program) {
		n.lookup = membership.Search
	}
	n.extra.Cap = uint32(lower.Room(p))
	n.source = cuda.Source{Name: "nest.cu"}
	// Level 1 in one neighbour list alone is cut into runs of places in it.
	n.tasks = uint64(p.Graph.NumVertices())
	if s, ok := firstList(p); ok && n.code.Walked > 1 {
		n.extra.ArcAdj, n.extra.Arcs = uint32(s.Adj), p.Adjs[s.Adj].Lists.Entries()
		n.tasks = (n.extra.Arcs + arcsOfTask - 1) / arcsOfTask
		n.source.Options = append(n.source.Options, "-DARCS="+strconv.Itoa(arcsOfTask))
		n.extra.Lists = uint32(p.Graph.NumVertices())
		if n.vertices = gpu.ListVertices(n.code.Program, n.code.Program.Globals[s.Adj], p.Adjs[s.Adj].Lists); n.vertices != nil {
			n.extra.Lists = uint32(len(n.vertices.Adj))
			n.source.Options = append(n.source.Options, "-DARCS_SPARSE")
		}
	}
	n.source.Text, n.reads = n.text(), n.memory.Reads(p, n.code.Program)
	return n, nil
}

// job is the program for the session.
func (n *program) job() *session.Job {
	return n.reads.Give(n.memory.Give(&session.Job{Name: "codegen", Program: n.code.Program, Tasks: n.tasks, Chunk: 1, Source: n.source}))
}

// nest is one run of a program.
type nest struct {
	*program
	gpu.Run
	ctx    context.Context
	filled atomic.Uint64 // launches that made tables, on all devices
}

// byTables makes the text of a plan look up in tables.
const byTables = `#define NEST_TABLES
#include "membership/membership.cuh"
#define adjacent(a, back, u, v) member(q, a, back, (const u32* const*)shared(), u, v)
#define neighbours(a, u) members(q, a, (const u32* const*)shared(), u)
`

// text is the source of the kernels.
func (n *program) text() string {
	text := kircuda.TextOf(n.code.Program, kircuda.Options{Neighbours: n.lookup != membership.Search})
	if n.lookup == membership.Search {
		return text + nestText
	}
	return n.lists.Text(n.code.Program, n.lookup == membership.Bits) + byTables + text + "#undef adjacent\n" + nestText
}

// start makes the kernel and its memory ready on one device. Where the candidate sets
// of hubs leave no room for all blocks there are fewer.
func (n *nest) start(d *session.Exec) (func() error, error) {
	x := n.extra
	if n.Goal.Limit > 0 {
		x.Often = 1
	}
	k, err := d.Kernel("nest")
	if err != nil {
		return nil, err
	}
	l := cuda.Launch{Blocks: emulatedBlocks, Threads: 64}
	if n.lookup != membership.Search {
		l.Shared = 8 * membership.Tables
	}
	if !d.Info().Emulated {
		l.Threads = threads
		each, err := k.Occupancy(l.Threads, l.Shared)
		if err != nil {
			return nil, err
		}
		l.Blocks = each * d.Info().SMs
	}
	if n.vertices != nil {
		x.Vertices = d.Address(n.vertices, kircuda.IDs)
	}
	if n.lookup != membership.Search {
		m := &membership.Maker{
			Program: n.code.Program, Bits: n.lookup == membership.Bits, Threads: threads, Note: n.Notes.Add, Ran: &n.filled,
			Stop: func() error { return context.Cause(n.ctx) },
		}
		if x.Tables, err = m.Keep(d); err != nil {
			return nil, err
		}
	}
	if n.code.Slots > 0 {
		each := max(1, setBytes(n.code.Slots, x.Cap)*int64(l.Threads/32))
		if room := int(max(1, d.Room()/each)); room < l.Blocks {
			n.Notes.Add("%d of %d blocks have room for candidate sets of %d elements a warp", room, l.Blocks, x.Cap)
			l.Blocks = room
		}
		b, err := d.Scratch("candidate sets", int64(l.Blocks)*each)
		if err != nil {
			return nil, err
		}
		x.Slots = b.Ptr
	}
	return func() error { return session.Launch(d, k, l, &x) }, nil
}
