package codegen

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/kernels"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu/membership"
	"github.com/weftgraph/weft/internal/kir"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
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
	Slots, Arcs uint64
	Cap, ArcAdj uint32
	Often, _    uint32
	Tables      [membership.Tables]uint64
}

// nest is the run of a plan by its loop nest.
type nest struct {
	ctx    context.Context
	prog   *kir.Program
	lookup membership.Lookup
	filled atomic.Uint64 // launches that made tables, on all devices
	notes  engine.Notes
}

// nestOf lowers a plan.
func (e *Engine) nestOf(ctx context.Context, p *plan.Plan, o engine.Options, counting bool) (*nest, error) {
	n := &nest{ctx: ctx}
	var err error
	n.prog, n.lookup, err = e.lowered(p, o, counting)
	return n, err
}

// byTables makes the text of a plan look up in tables.
const byTables = `#define NEST_TABLES
#include "membership/membership.cuh"
#define adjacent(a, back, u, v) member(q, a, back, (const u32* const*)shared(), u, v)
#define neighbours(a, u) members(q, a, (const u32* const*)shared(), u)
`

// text is what the kernels are compiled of.
func (n *nest) text() string {
	text := kircuda.TextOf(n.prog, kircuda.Options{Neighbours: n.lookup != membership.Search})
	if n.lookup == membership.Search {
		return text + nestText
	}
	return membership.Text(n.prog, n.lookup == membership.Bits) + byTables + text + "#undef adjacent\n" + nestText
}

// start makes the kernel and its memory ready on one device. Where the candidate sets
// of hubs leave no room for all blocks there are fewer.
func (n *nest) start(d *session.Exec, x extra, slots int) (func() error, error) {
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
	if n.lookup != membership.Search {
		m := &membership.Maker{
			Program: n.prog, Bits: n.lookup == membership.Bits, Threads: threads, Note: n.notes.Add, Ran: &n.filled,
			Stop: func() error { return context.Cause(n.ctx) },
		}
		if x.Tables, err = m.Keep(d); err != nil {
			return nil, err
		}
	}
	if slots > 0 {
		each := max(1, setBytes(slots, x.Cap)*int64(l.Threads/32))
		if room := int(max(1, d.Room()/each)); room < l.Blocks {
			n.notes.Add("%d of %d blocks have room for candidate sets of %d elements a warp", room, l.Blocks, x.Cap)
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

// allRan is the error of a device that left out a kernel before the search.
func (n *nest) allRan(got *session.Result) error {
	want, ran := n.filled.Load(), got.User[membership.Counter]
	if !got.Complete || ran == want {
		return nil
	}
	return &cuda.Error{Op: "codegen", Kind: cuda.ErrLaunch, Text: fmt.Sprintf("%d of %d kernels before the search ran", ran, want)}
}
