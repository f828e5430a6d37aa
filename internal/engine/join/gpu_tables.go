package join

import (
	"errors"
	"fmt"
	"math/bits"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/plan"
)

// Threads of a block. An emulated device has few, because a lane is a fiber.
const (
	blockThreads    = 256
	emulatedThreads = 64
)

// warpBytes is sizeof(JoinWarp).
const warpBytes = 4 * (32 + 64 + 64)

// tableShare is the part of a device's free memory that tables may take.
const tableShare = 4

// tables are a run's tables on one device, and its way through the phases.
type tables struct {
	*gpuRun
	x       *session.Exec
	plan    devicePlan
	phase   []phase
	room    uint32 // rows of a table
	memory  cuda.Buffer
	state   deviceState // as it was after the last launch
	turn    uint64
	ended   bool // there are no more roots
	starved bool // the last launch for roots got none: the host may have more for this device later
}

// phase is a phase on a device, with the table that it makes; the last one makes none.
type phase struct {
	kernel  *cuda.Kernel
	threads int
	shared  int
	blocks  int // that are resident

	rows   cuda.Buffer
	width  uint32
	count  uint32 // rows
	base   uint32 // rows before it are joined, or are pieces of the next phase
	drains bool   // it is joined now, and gets no rows

	pieces     cuda.Buffer // of the table of the phase before: rows that wait to be joined further
	mask       uint32
	head, tail uint64
}

// joined reports whether phase i has joined all rows before it.
func (t *tables) joined(i int) bool {
	in := &t.phase[i-1]
	return in.base == in.count && t.phase[i].head == t.phase[i].tail
}

// start makes one device ready.
func (r *gpuRun) start(x *session.Exec) (func() error, error) {
	t := &tables{gpuRun: r, x: x}
	var err error
	if t.plan, err = r.prepared.upload(x, r.data); err != nil {
		return nil, err
	}
	if err = t.kernels(); err != nil {
		return nil, err
	}
	if t.memory, err = x.Scratch("counters of tables", int64(unsafe.Sizeof(deviceState{}))); err != nil {
		return nil, err
	}
	if err = cuda.Upload(x.Context(), t.memory, 0, []deviceState{{}}); err != nil {
		return nil, err
	}
	if err = t.allocate(); err != nil {
		return nil, err
	}
	return t.search, nil
}

// kernels finds the kernel of each phase.
func (t *tables) kernels() error {
	goal := "count"
	if t.listing {
		goal = "list"
	}
	t.phase = make([]phase, len(t.steps))
	for i := range t.phase {
		p := &t.phase[i]
		name := "join_"
		if i == 0 {
			name = "join_roots_"
		}
		if i == len(t.phase)-1 {
			name += goal
		} else {
			name += "rows"
		}
		var err error
		if p.kernel, err = t.x.Kernel(name); err != nil {
			return err
		}
		p.threads = blockThreads
		if t.x.Info().Emulated {
			p.threads = emulatedThreads
		}
		p.shared = int(unsafe.Sizeof(deviceStep{})) + p.threads/32*warpBytes
		if p.blocks, err = p.kernel.Resident(p.threads, p.shared); err != nil {
			return err
		}
		if p.blocks == 0 {
			return plan.Refusef("join on %v: a block does not fit", t.x.Info())
		}
		p.width = uint32(t.steps[i].after)
	}
	return nil
}

// allocate takes memory for the tables.
func (t *tables) allocate() error {
	row := int64(0)
	for i := range t.phase[:len(t.phase)-1] {
		row += 4 * int64(t.phase[i].width)
	}
	t.room = uint32(t.gpuBatch())
	if row > 0 {
		t.room = uint32(max(min(int64(t.room), t.x.Room()/tableShare/row), int64(t.rootChunk())))
	}
	var err error
	for i := range t.phase {
		p := &t.phase[i]
		if i > 0 {
			// Each warp leaves at most one piece, of a row or of a piece that it took.
			places := 1 << bits.Len(uint(2*p.blocks*p.threads/32))
			p.mask = uint32(places - 1)
			if p.pieces, err = t.x.Scratch("rows that wait", int64(places)*int64(unsafe.Sizeof(devicePiece{}))); err != nil {
				return err
			}
		}
		if i < len(t.phase)-1 {
			bytes := 4 * int64(p.width) * int64(t.room)
			if p.rows, err = t.x.Scratch("tables of partial matches", bytes); err != nil {
				return err
			}
			t.bytes.Add(uint64(bytes))
		}
	}
	return nil
}

// wait is how long a device without tasks waits until the host looks for new ones.
const wait = 20 * time.Microsecond

// search goes through the phases until there are neither roots nor rows, or the run is to stop.
// A table gets rows until it is full, or there is nothing left to make them of. Then it is joined,
// and gets none until that is done. So there is one table for each phase, however many rows there
// are.
func (t *tables) search() error {
	for !t.x.Stopped() {
		i, idle := t.next()
		if i < 0 {
			return nil
		}
		if idle {
			time.Sleep(wait) // other devices may have taken the last tasks, and the host has not yet said so
		}
		if err := t.launch(i); err != nil {
			return err
		}
	}
	return nil
}

// next is the phase to launch: the last one with a table that is being joined, or the first that
// can make rows for a table that is not. -1: all is done. idle says that there is nothing to do but
// to ask for tasks again.
func (t *tables) next() (i int, idle bool) {
	for i := len(t.phase) - 1; i > 0; i-- {
		if t.phase[i-1].drains {
			return i, false
		}
	}
	if !t.ended && !t.starved {
		return 0, false
	}
	t.starved = false
	for i := 1; i < len(t.phase); i++ {
		if t.phase[i-1].count > 0 {
			t.phase[i-1].drains = true
			return i, false
		}
	}
	if !t.ended {
		return 0, true
	}
	return -1, false
}

// launch runs phase i once, until its table is full or there is nothing left to join.
func (t *tables) launch(i int) error {
	p := &t.phase[i]
	t.turn++
	last := i == len(t.phase)-1
	a := deviceArgs{
		Step: t.plan.step[i], Roots: t.plan.roots, Lists: t.plan.lists, Out: p.rows.Ptr, Pieces: p.pieces.Ptr, State: t.memory.Ptr,
		Taken: t.state.Taken, Made: t.state.Made - uint64(p.count), Left: t.state.Left, Asked: t.state.Asked - uint64(p.count), Turn: t.turn,
		Head: p.head, Tail: p.tail, Room: t.room, Mask: p.mask, Ranges: uint32(len(t.prepared.roots())),
		Cache: number(t.cache), Often: number(t.Goal.Limit > 0), Levels: number(t.o.Levels),
	}
	warps := uint64(p.blocks * p.threads / 32)
	units := t.x.Tasks()/uint64(t.rootChunk()) + 1
	if i > 0 {
		in := &t.phase[i-1]
		rows := uint64(in.count - in.base)
		a.Rows, a.Width, a.Count, a.Base = in.rows.Ptr, in.width, in.count, in.base
		a.Chunk = uint32(min(max(rows/(4*warps), 1), 16))
		units = p.tail - p.head + (rows+uint64(a.Chunk)-1)/uint64(a.Chunk)
	}
	blocks := max(1, min(p.blocks, int(min(units, warps)*32+uint64(p.threads)-1)/p.threads))
	t.launches.Add(1)
	if err := session.LaunchFixed(t.x, p.kernel, cuda.Launch{Blocks: blocks, Threads: p.threads, Shared: p.shared}, &a); err != nil {
		return err
	}
	was := t.state
	if err := t.read(); err != nil {
		return err
	}
	if i > 0 {
		in := &t.phase[i-1]
		taken := t.state.Taken - was.Taken
		pieces := min(taken, p.tail-p.head)
		p.head += pieces
		p.tail += t.state.Left - was.Left
		in.base = uint32(min(uint64(in.count), uint64(in.base)+(taken-pieces)*uint64(a.Chunk)))
		if t.joined(i) {
			in.count, in.base, in.drains = 0, 0, false
		}
	} else {
		t.ended = t.state.Over != 0
		t.starved = t.state.Made == was.Made
	}
	if !last {
		need := uint32(1) // room for it lets the phase go on
		if i == 0 {
			need = t.rootChunk()
		}
		p.count = uint32(min(t.state.Made-a.Made, uint64(t.room)))
		p.drains = t.room-p.count < need
	}
	return nil
}

// read waits for the launch, and reads the counters.
func (t *tables) read() error {
	got := make([]deviceState, 1)
	if err := errors.Join(t.x.Join(), cuda.Download(t.x.Context(), got, t.memory, 0)); err != nil {
		return err
	}
	t.state = got[0]
	if t.state.Turn != t.turn {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("of %d launches the one behind number %d did not run", t.turn, t.state.Turn)}
	}
	return nil
}

// number is a flag of a kernel's argument.
func number(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}
