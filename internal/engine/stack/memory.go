package stack

import (
	"fmt"
	"math"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	kircuda "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/lower"
)

// A search uses memory as follows. In shared memory each warp has a stack, and perhaps a table
// for membership. In global memory each sibling and set node has room for cap elements. Larger
// sets are left unfiltered, so cap decides about speed and never about answers.

// memoryShare is the part of a device's memory that sets may take.
const memoryShare = 4

// leastCap is the room of a set below which lists are hardly ever filtered.
const leastCap = 32

// budget decides the number of elements that the memory of each of `slots` sets has. It is
// enough for every set, if that is at most a part of the smallest device. The memory left after
// the graph is known only when the graph is on the device: see fit.
func (r *search) budget(slots int) {
	need := max(lower.Room(r.p), 1)
	if slots == 0 {
		r.cap, r.roomy = 1, true
		return
	}
	// Places in one sibling's memory are 32-bit numbers.
	most := min(int64(need), math.MaxUint32/int64(slots))
	if r.slot > 0 {
		r.cap = int(min(int64(r.slot), most))
		r.roomy = r.cap >= need
		return
	}
	for _, d := range r.e.s.Devices() {
		sets := int64(d.SMs) * int64(d.ThreadsPerSM/32) * int64(r.unroll*slots)
		most = min(most, d.Memory/memoryShare/4/sets)
	}
	r.cap = int(max(most, min(int64(need), leastCap)))
	r.roomy = r.cap >= need
}

// fit is the number of elements that each of `sets` sets gets on a device: r.cap, or the memory
// that is left there. A *tightError asks for a program that needs less.
func (r *search) fit(x *session.Exec, sets int64) (int, error) {
	room := int(min(x.Room()/4/sets, int64(r.cap)))
	switch {
	case room >= r.cap || r.parts: // Scratch reports missing memory
		return r.cap, nil
	case r.roomy:
		return 0, &tightError{max(room, 1)}
	}
	return max(room, 1), nil
}

// tightError says that sets do not have the memory that they may need, but room
// for cap elements.
type tightError struct{ cap int }

func (e *tightError) Error() string {
	return fmt.Sprintf("there is memory for sets of %d elements", e.cap)
}

// stackBytes is the size of struct Stack in stack/stack.cuh.
func (r *search) stackBytes() int {
	c := r.code
	walk := max(r.listed(), 1)
	state := align(4*c.Levels, 8) + 16*max(len(c.Nodes), 1)
	if !r.roomy {
		state += align(4*max((c.Slots+31)/32, 1), 8)
	}
	n := align(4*(1+4*walk), 8) + 8 + lootBytes(c.Levels) + walk*r.unroll*(16+state)
	if r.stats {
		n += 8 * c.Levels
	}
	return n
}

// lootBytes is the size of struct Loot.
func lootBytes(levels int) int { return align(8+12+4*levels, 8) }

func align(n, to int) int { return (n + to - 1) / to * to }

// sharedBytes is the shared memory of a block: its board, and its warps' stacks and tables.
func (r *search) sharedBytes() int {
	n := r.stackBytes()
	if r.sieve > 0 {
		n += 1 << (r.sieve - 3)
	}
	return boardBytes + r.thread/32*n
}

// boardBytes is the size of struct Board in base/steal.cuh.
const boardBytes = 16

// sharedRoom is the most that a block may have on all devices.
func (r *search) sharedRoom() int {
	least := 1 << 30
	for _, d := range r.e.s.Devices() {
		least = min(least, d.SharedPerBlock)
	}
	return least
}

// extra is struct StackX.
type extra struct {
	Slots      uint64
	Market     session.Market
	Cycles     uint64
	Vertices   uint64
	Lists      uint32
	Cap        uint32
	SieveRoom  uint32
	StackBytes uint32
	Often      uint32
	_          uint32
}

// start makes one device ready.
func (r *run) start(x *session.Exec) (func() error, error) {
	k, err := x.Kernel("stack_search")
	if err != nil {
		return nil, err
	}
	shared := r.sharedBytes()
	blocks, err := k.Resident(r.thread, shared)
	if err != nil {
		return nil, err
	}
	if blocks == 0 {
		return nil, &cuda.Error{
			Op: "stack", Kind: cuda.ErrLaunch, Hint: "stack.threads makes it smaller",
			Text: fmt.Sprintf("a block of %d threads with %d registers each and %d bytes of shared memory does not fit on %v", r.thread, k.Registers, shared, x.Info()),
		}
	}
	if r.switches.blocks > 0 {
		blocks = min(blocks, r.switches.blocks)
	}
	if x.Index() == 0 {
		r.grid = blocks
	}
	a := &extra{Cap: uint32(r.cap), SieveRoom: uint32(r.sieve), StackBytes: uint32(r.stackBytes())}
	if !r.o.Listing && r.Goal.Limit > 0 {
		a.Often = 1
	}
	if r.vertices != nil {
		a.Vertices, a.Lists = x.Address(r.vertices, kircuda.IDs), uint32(len(r.vertices.Adj))
	}
	if r.steal > 0 {
		if a.Market, err = x.Market(blocks, lootBytes(r.code.Levels)); err != nil {
			return nil, err
		}
	}
	var cycles cuda.Buffer
	if r.stats {
		if cycles, err = x.Scratch("times of levels", int64(8*r.code.Levels)); err != nil {
			return nil, err
		}
		if err := x.Context().Clear(cycles, x.Stream()); err != nil {
			return nil, err
		}
		a.Cycles = cycles.Ptr
	}
	if sets := int64(blocks*r.thread/32) * int64(r.unroll*r.code.Slots); sets > 0 {
		fits, err := r.fit(x, sets)
		if err != nil {
			return nil, err
		}
		b, err := x.Scratch("candidate sets", sets*int64(fits)*4)
		if err != nil {
			return nil, err
		}
		a.Slots, a.Cap = b.Ptr, uint32(fits)
	}
	return func() error {
		err := session.Launch(x, k, cuda.Launch{Blocks: blocks, Threads: r.thread, Shared: shared}, a)
		if err != nil || !r.stats || x.Index() > 0 {
			return err
		}
		if err := x.Stream().Synchronize(); err != nil {
			return err
		}
		r.cycles = make([]uint64, r.code.Levels)
		return cuda.Download(x.Context(), r.cycles, cycles, 0)
	}, nil
}
