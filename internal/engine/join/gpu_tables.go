package join

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
)

// sharing is how the names of kernels begin that share what they read of a list.
const sharing = "join_shared_"

// Threads of a block. An emulated device has few, because a lane is a fiber.
const (
	blockThreads    = 256
	emulatedThreads = 64
)

// Bytes of shared memory of a warp: sizeof(JoinWarp), sizeof(JoinDepth) for each loop, and a tile of a
// list that rows share.
const (
	warpBytes  = 4*(32+64+64) + 32
	depthBytes = 4 * (32 + 8)
	tileBytes  = 4 * 128
)

// tableShare is the part of a device's free memory that tables may take.
const tableShare = 4

// tables are a run's tables on one device, and its way through the phases.
type tables struct {
	*gpuRun
	x       *session.Exec
	plan    devicePlan
	phase   []phase
	kernel  map[string]*kernel
	warps   uint64 // of the largest grid
	loops   int    // that are not the innermost, of a phase of several vertices
	room    uint32 // rows of a table
	memory  cuda.Buffer
	state   deviceState // as it was after the last launch
	turn    uint64
	ended   bool // there are no more roots
	starved bool // the last launch for roots got none: the host may have more for this device later

	tools        *session.Tools
	histogram    cuda.Buffer // of layers
	buffer, sums cuda.Buffer // of windows
}

// kernel is a kernel with its grid.
type kernel struct {
	*cuda.Kernel
	name    string
	threads int
	shared  int
	near    int // where in shared memory lists with their indexes are; 0: nowhere
	blocks  int // that are resident
}

// phase is a phase on a device, with the table that it makes; the last one makes none.
type phase struct {
	name   string // of its kernel
	goal   string // the end of that: rows, count or list
	rows   cuda.Buffer
	width  uint32
	count  uint32 // rows
	base   uint32 // rows before it are joined, or are pieces of the next phase
	drains bool   // it is joined now, and gets no rows
	keeps  bool   // it is an elimination

	// Of the table of the phase before: rows that wait to be joined further.
	pieces     cuda.Buffer
	mask       uint32
	head, tail uint64

	windows
	layers
}

// joined reports whether phase i has joined all rows before it.
func (t *tables) joined(i int) bool {
	in := &t.phase[i-1]
	return in.base == in.count && t.phase[i].head == t.phase[i].tail
}

// start makes one device ready.
func (r *gpuRun) start(x *session.Exec) (func() error, error) {
	t := &tables{gpuRun: r, x: x, kernel: map[string]*kernel{}}
	var err error
	if t.plan, err = r.prepared.upload(x, r.data); err != nil {
		return nil, err
	}
	if err = r.filter(x, t.plan.filters); err != nil {
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

// kernels finds the kernels of each phase.
func (t *tables) kernels() error {
	t.phase = make([]phase, len(t.steps))
	var all []string
	for i := range t.phase {
		p, s := &t.phase[i], &t.steps[i]
		p.name, p.width = "join_", uint32(s.after)
		switch {
		case i == 0:
			p.name = "join_roots_"
		case i == len(t.phase)-1 && t.closing != nil:
			p.name = "join_tail_"
		case s.Pattern == phases.Eliminate:
			p.name, p.keeps = "join_keep_", true
		case len(s.levels) > 1:
			p.name = "join_several_"
			t.loops = max(t.loops, len(s.levels)-1)
		}
		single := p.name == "join_"
		if p.layered = single && t.balance; single && t.share {
			p.name = sharing
		}
		goal := "count"
		switch {
		case i < len(t.phase)-1:
			goal = "rows"
			if p.windowed = single && t.output != atomically; p.windowed {
				all = append(all, windowKernels[t.output]...)
			}
		case t.listing:
			goal = "list"
		}
		if p.layered {
			for _, name := range layerKernels {
				all = append(all, name+goal)
			}
			all = append(all, "join_bounds", "join_histogram", "join_deal")
		}
		p.name, p.goal = p.name+goal, goal
		all = append(all, p.name)
	}
	for _, name := range all {
		if err := t.find(name); err != nil {
			return err
		}
	}
	return nil
}

// find finds a kernel and its grid.
func (t *tables) find(name string) error {
	if t.kernel[name] != nil {
		return nil
	}
	k := &kernel{name: name, threads: blockThreads}
	var err error
	if k.Kernel, err = t.x.Kernel(name); err != nil {
		return err
	}
	if t.x.Info().Emulated {
		k.threads = emulatedThreads
	}
	for ; k.threads >= 32; k.threads /= 2 {
		k.shared = int(unsafe.Sizeof(deviceStep{})) + k.threads/32*warpBytes
		if strings.HasPrefix(name, "join_several_") {
			k.shared += k.threads / 32 * t.loops * depthBytes
		}
		if strings.HasPrefix(name, sharing) {
			k.shared += k.threads / 32 * tileBytes
		}
		if err := t.bring(k); err != nil {
			return err
		}
		if k.blocks > 0 {
			break
		}
	}
	if k.blocks == 0 {
		return plan.Refusef("join on %v: a block does not fit", t.x.Info())
	}
	t.kernel[name] = k
	t.warps = max(t.warps, k.warps())
	return nil
}

// bring finds how many blocks of a kernel are resident with its shared memory, and with that for
// the indexes of lists if there is room for them.
func (t *tables) bring(k *kernel) (err error) {
	k.near = 0
	if lists, words, kept := near(t.data.lists); lists > 0 {
		at := (k.shared + 7) &^ 7
		all := at + lists*int(unsafe.Sizeof(deviceLists{})) + 4*words
		if k.blocks, err = k.Resident(k.threads, all); err != nil {
			return err
		}
		if k.blocks > 0 {
			k.near, k.shared = at, all
			t.Stats.Add("join: kernels keep indexes of lists in shared memory, of %d lists at most", kept)
			return nil
		}
	}
	k.blocks, err = k.Resident(k.threads, k.shared)
	return err
}

func (k *kernel) warps() uint64 { return uint64(k.blocks * k.threads / 32) }

// pieceBytes is the size of a piece.
const pieceBytes = int64(unsafe.Sizeof(devicePiece{}))

// pieces is the room for pieces of rows of a phase, a power of two. Each warp leaves at most one, of a row
// or of a piece that it took, or in layers one of each of 32 rows.
func (t *tables) pieces(p *phase) int64 {
	if p.layered {
		return 1 << bits.Len64(64*t.warps)
	}
	return 1 << bits.Len64(2*t.warps)
}

// allocate takes memory for the tables.
func (t *tables) allocate() error {
	row, pieces := int64(0), int64(0)
	for i := range t.phase[:len(t.phase)-1] {
		row += 4*int64(t.phase[i].width) + t.windowBytes(i+1) + t.layerBytes(i+1)
		pieces += t.pieces(&t.phase[i+1]) * pieceBytes
	}
	t.room = uint32(t.gpuBatch())
	if row > 0 {
		t.room = uint32(max(min(int64(t.room), (t.x.Room()-pieces)/tableShare/row), int64(t.rootChunk())))
	}
	var err error
	for i := range t.phase {
		p := &t.phase[i]
		if i > 0 {
			places := t.pieces(p)
			p.mask = uint32(places - 1)
			if p.pieces, err = t.x.Scratch("rows that wait", places*pieceBytes); err != nil {
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
		if err = errors.Join(t.allocateWindows(p), t.allocateLayers(p)); err != nil {
			return err
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
		if err := t.advance(i); err != nil {
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

// advance runs phase i until its table is full or there is nothing left to join.
func (t *tables) advance(i int) (err error) {
	p := &t.phase[i]
	switch {
	case i == 0:
		err = t.roots()
	case p.windowed:
		err = t.window(i)
	case p.layered:
		err = t.layer(i)
	default:
		err = t.rows(i)
	}
	if err != nil || i == 0 {
		return err
	}
	if in := &t.phase[i-1]; t.joined(i) {
		in.count, in.base, in.drains, p.measured, p.sorted = 0, 0, false, false, false
	}
	return nil
}

// args is the argument of a kernel of phase i.
func (t *tables) args(i int) deviceArgs {
	p := &t.phase[i]
	a := deviceArgs{
		Step: t.plan.step[i], Sum: t.plan.sum, Roots: t.plan.roots, Lists: t.plan.lists, Out: p.rows.Ptr, Pieces: p.pieces.Ptr, State: t.memory.Ptr,
		Sizes: p.sizes.Ptr, Starts: p.starts.Ptr, Found: p.found.Ptr, Places: p.places.Ptr, Buffer: t.buffer.Ptr, Histogram: t.histogram.Ptr,
		Head: p.head, Tail: p.tail, Room: t.room, Mask: p.mask, After: p.width, Ranges: uint32(len(t.prepared.roots())),
		Cache: number(t.cache), First: number(t.output == combined && p.windowed), Often: number(t.Goal.Limit > 0), Visit: number(t.o.Levels && !p.keeps), Depth: uint32(t.loops * depthBytes),
	}
	if i > 0 {
		in := &t.phase[i-1]
		a.Rows, a.Width, a.Count, a.Base = in.rows.Ptr, in.width, in.count, in.base
	}
	return a
}

// roots makes rows of candidates of level 0.
func (t *tables) roots() error {
	p := &t.phase[0]
	a := t.args(0)
	was := t.state
	if err := t.launch(p.name, &a, uint64(p.count), t.x.Tasks()/uint64(t.rootChunk())+1); err != nil {
		return err
	}
	t.ended = t.state.Over != 0
	t.starved = t.state.Made == was.Made
	if len(t.phase) > 1 {
		p.count += uint32(t.state.Made - was.Made)
		p.drains = t.room-p.count < t.rootChunk() // with less room than that none takes any
	}
	return nil
}

// rows joins rows and pieces of rows, until the table is full.
func (t *tables) rows(i int) error {
	p, in := &t.phase[i], &t.phase[i-1]
	a := t.args(i)
	rows := uint64(in.count - in.base)
	a.Chunk = uint32(min(max(rows/(4*t.warps), 1), 16))
	switch {
	case p.keeps:
		a.Chunk = 32 // a lane a row
	case strings.HasPrefix(p.name, sharing):
		a.Chunk = 1 // a warp a row, as warps of a block look at the same tile
	}
	taken, err := t.join(i, p.name, &a, (rows+uint64(a.Chunk)-1)/uint64(a.Chunk))
	in.base = uint32(min(uint64(in.count), uint64(in.base)+taken*uint64(a.Chunk)))
	return err
}

// join launches a kernel that joins rows, of which there are `units` runs, and pieces that wait. It
// returns the number of runs that warps asked for.
func (t *tables) join(i int, name string, a *deviceArgs, units uint64) (taken uint64, err error) {
	p := &t.phase[i]
	was := t.state
	if err := t.launch(name, a, uint64(p.count), p.tail-p.head+units); err != nil {
		return 0, err
	}
	taken = t.state.Taken - was.Taken
	pieces := min(taken, a.Tail-a.Head)
	p.head += pieces
	p.tail += t.state.Left - was.Left
	p.count = uint32(min(t.state.Made-was.Made+uint64(p.count), uint64(t.room)))
	p.drains = i < len(t.phase)-1 && p.count == t.room
	return taken - pieces, nil
}

// launch runs a kernel, and reads the counters. The table has `have` rows, and there is work for
// `units` warps.
func (t *tables) launch(name string, a *deviceArgs, have, units uint64) error {
	k := t.kernel[name]
	t.turn++
	a.Taken, a.Made, a.Left, a.Asked, a.Turn = t.state.Taken, t.state.Made-have, t.state.Left, t.state.Asked-have, t.turn
	blocks := max(1, min(k.blocks, (int(min(units, k.warps()))*32+k.threads-1)/k.threads))
	t.launched(name)
	if k.near > 0 {
		lists, words, _ := near(t.data.lists)
		a.Near, a.NearLists, a.Words = uint32(k.near), uint32(lists), uint32(words)
	} else {
		a.Near = 0
	}
	if err := session.LaunchFixed(t.x, k.Kernel, cuda.Launch{Blocks: blocks, Threads: k.threads, Shared: k.shared}, a); err != nil {
		return err
	}
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
