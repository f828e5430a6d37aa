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
	warpBytes  = 4*(32+64+64) + 32 + 2*weightBytes
	depthBytes = 4 * (32 + 8)
	tileBytes  = 4 * 128
)

// Chunks of candidates of a row that a warp goes through before others take parts of it, in a phase of several vertices. An
// emulated device has few, so that small graphs have such rows.
const (
	rowBudget      = 64
	emulatedBudget = 3
)

// tableShare is the part of a device's free memory that tables may take.
const tableShare = 4

// tables are a run's tables on one device, and its way through the phases.
type tables struct {
	*gpuRun
	x        *session.Exec
	plan     *devicePlan
	phase    []phase
	kernel   map[string]*kernel
	warps    uint64      // of the largest grid
	loops    int         // that are not the innermost, of a phase of several vertices
	room     uint32      // rows of a table, unless it is of a merge
	place    uint64      // address of the slots of the rows that are merged
	memory   cuda.Buffer // begins with counters
	counters []uint64    // as they were when the host read them last
	turn     uint64      // launches
	ended    bool        // all roots have been taken
	starved  bool        // the last launch for roots got none: the host may have more for this device later
	most     uint64      // bytes of rows that the tables had at a time

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
	phaseKernel
	state  deviceState // as it was when the host read it last
	rows   uint64      // address of the table
	weight uint64      // and of its rows' weights; 0: these are 1
	room   uint32      // rows of the table
	width  uint32
	count  uint32 // rows
	handed uint64 // rows that were in it so far
	base   uint32 // rows before it are joined, or are pieces of the next phase
	parts  uint32 // for how many warps a row is
	part   uint32 // of the row at base, the parts that are joined or are pieces
	drains bool   // it is joined now, and gets no rows

	// Of the table of the phase before, or roots: those that wait to be joined further.
	pieces     uint64 // address
	mask       uint32
	head, tail uint64

	windows
	layers
	mergingPhase
}

// joined reports whether phase i has joined all rows before it.
func (t *tables) joined(i int) bool {
	in := &t.phase[i-1]
	return in.base == in.count && t.phase[i].head == t.phase[i].tail
}

// start makes one device ready.
func (r *gpuRun) start(x *session.Exec) (func() error, error) {
	t := &tables{gpuRun: r, x: x, kernel: map[string]*kernel{}}
	if err := t.kernels(); err != nil {
		return nil, err
	}
	if err := t.allocate(); err != nil {
		return nil, err
	}
	return func() error {
		defer r.searched(t)
		return t.search()
	}, t.filter()
}

// kernels finds the kernels of each phase.
func (t *tables) kernels() error {
	t.phase = make([]phase, len(t.steps))
	for i, k := range t.phaseKernels() {
		s := &t.steps[i]
		t.phase[i].phaseKernel, t.phase[i].width = k, uint32(s.after)
		if len(s.levels) > 1 {
			t.loops = max(t.loops, len(s.levels)-1)
		}
	}
	for _, name := range t.needs {
		if name == filterKernel {
			continue
		}
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
// or of a piece that it took, or in layers one of each of 32 rows. Phases of several vertices split rows while less than
// half of the room has pieces.
func (t *tables) pieces(p *phase) int64 {
	switch {
	case p.layered:
		return 1 << bits.Len64(64*t.warps)
	case p.several:
		return 1 << bits.Len64(4*t.warps)
	}
	return 1 << bits.Len64(2*t.warps)
}

// allocate takes the run's memory, and copies the plan there.
func (t *tables) allocate() error {
	t.plan = t.layOut(t.x, t.data)
	row, fixed := int64(0), aligned(t.plan.size())
	for i := range t.phase {
		p := &t.phase[i]
		places := t.pieces(p)
		p.mask, p.pieces = uint32(places-1), uint64(fixed)
		fixed += places * pieceBytes
		if i < len(t.phase)-1 {
			row += t.tableBytes(i) + t.windowBytes(i+1) + t.layerBytes(i+1)
		}
	}
	least := min(32, t.gpuBatch())
	t.room = uint32(t.gpuBatch())
	if row > 0 {
		t.room = uint32(max(min(int64(t.room), (t.x.Room()-fixed)/tableShare/row), int64(least)))
	}
	all := fixed
	t.phase[len(t.phase)-1].room = t.room // it has no table
	for i := range t.phase[:len(t.phase)-1] {
		all += t.takeTable(&t.phase[i], i, all)
	}
	if t.merges() {
		t.place = uint64(all)
		all += aligned(4 * int64(t.room))
	}
	memory, note, err := t.x.Kept("tables of partial matches", all)
	if err != nil {
		return err
	}
	t.memory, t.counters = memory, make([]uint64, t.plan.counts)
	t.place += memory.Ptr
	for i := range t.phase {
		p := &t.phase[i]
		p.pieces += memory.Ptr
		p.rows += memory.Ptr
		if p.weight > 0 {
			p.weight += memory.Ptr
		}
		if p.merges {
			p.slots += memory.Ptr
		}
		if err := errors.Join(t.allocateWindows(p), t.allocateLayers(p)); err != nil {
			return err
		}
	}
	known := *note == t.id
	*note = nil // until all is there
	if err := t.plan.place(t.x, memory, known); err != nil {
		return err
	}
	*note = t.id
	return nil
}

// aligned is a number of bytes rounded up to whole lines of memory.
func aligned(bytes int64) int64 { return (bytes + 127) &^ 127 }

// wait is how long a device without tasks waits until the host looks for new ones.
const wait = 20 * time.Microsecond

// search goes through the phases until there are neither roots nor rows, or the run is to stop.
// A table gets rows until it is full, or there is nothing left to make them of. Then it is joined,
// and gets none until that is done. So there is one table for each phase, however many rows there
// are.
func (t *tables) search() error {
	if err := t.pass(); err != nil {
		return err
	}
	for !t.x.Stopped() {
		i, idle := t.next()
		if i < 0 {
			break
		}
		if idle {
			time.Sleep(wait) // other devices may have taken the last tasks, and the host has not yet said so
		}
		if err := t.advance(i); err != nil {
			return err
		}
	}
	t.sayFiltered()
	return nil
}

// pass launches all phases once, one behind the other. Each finds in the state of the one before how many rows there
// are, and the host reads all states once. This is the whole search if no table was full.
func (t *tables) pass() error {
	for i := range t.phase {
		if p := &t.phase[i]; p.windowed || p.layered {
			return nil // its host decides what the next launch does
		}
	}
	chunk, warps := make([]uint64, len(t.phase)), make([]uint64, len(t.phase))
	for i := range t.phase {
		p := &t.phase[i]
		a := t.args(i)
		units := t.rootUnits()
		if i > 0 {
			a.Before, units = t.stateAt(i-1), uint64(t.room)
			a.Chunk = p.chunk()
		}
		if i == 1 {
			units = min(units, t.rootCount())
		}
		if p.divides {
			a.Parts, units = 0, units*mostParts
		}
		var err error
		if p.merges {
			err = t.putMerge(i, &a, units/32)
		} else {
			warps[i], err = t.put(p.name, i, &a, units)
		}
		if err != nil {
			return err
		}
		chunk[i] = uint64(a.Chunk)
	}
	if err := t.read(); err != nil || t.x.Stopped() {
		return err
	}
	t.tookRoots(deviceState{})
	for i := 1; i < len(t.phase); i++ {
		p, in := &t.phase[i], &t.phase[i-1]
		if p.merges {
			t.merged(i, 0)
			in.drains = true
			t.forget(i)
			continue
		}
		if chunk[i] == 0 {
			chunk[i] = runOf(in.count, warps[i])
		}
		if in.parts = 1; p.divides {
			in.parts = p.warpsOf(in.count, warps[i])
		}
		in.took(p.state.Taken, chunk[i])
		p.tail = p.state.Left
		t.made(i, 0)
		in.drains = true
		t.forget(i)
	}
	return nil
}

// runOf is how many rows a warp takes at a time of so many, where that is not given. Device twin: join_run_of.
func runOf(rows uint32, warps uint64) uint64 { return min(max(uint64(rows)/(4*warps), 1), 16) }

// mostParts is for how many warps a row is at most, in a phase of several vertices.
const mostParts = 32

// warpsOf is for how many warps a row is where `rows` are left, in a phase of several vertices. Device twin: join_parts_of.
func (p *phase) warpsOf(rows uint32, warps uint64) uint32 {
	if p.late {
		warps *= 4
	}
	return uint32(min(max(warps/uint64(max(rows, 1)), 1), mostParts))
}

// took notes that warps took n more parts of rows, each of `chunk` rows if rows are for one warp.
func (in *phase) took(n, chunk uint64) {
	if in.parts == 1 {
		in.base = uint32(min(uint64(in.count), uint64(in.base)+n*chunk))
		return
	}
	n += uint64(in.part)
	rows := min(uint64(in.count-in.base), n/uint64(in.parts))
	in.base += uint32(rows)
	in.part = 0
	if in.base < in.count {
		in.part = uint32(n % uint64(in.parts))
	}
}

// chunk is how many rows of the phase's table a warp takes at a time; 0: as many as keep all warps busy.
func (p *phase) chunk() uint32 {
	switch {
	case p.keeps:
		return 32 // a lane a row
	case strings.HasPrefix(p.name, sharing):
		return 1 // a warp a row, as warps of a block look at the same tile
	}
	return 0
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
	roots := !t.ended || t.phase[0].head < t.phase[0].tail
	if roots && !t.starved {
		return 0, false
	}
	t.starved = false
	for i := 1; i < len(t.phase); i++ {
		if t.phase[i-1].count > 0 {
			t.phase[i-1].drains = true
			return i, false
		}
	}
	if roots {
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
	case p.merges:
		err = t.merge(i)
	case p.windowed:
		err = t.window(i)
	case p.layered:
		err = t.layer(i)
	default:
		err = t.rows(i)
	}
	if err == nil && i > 0 {
		t.forget(i)
	}
	return err
}

// forget empties the table that phase i has joined.
func (t *tables) forget(i int) {
	if in := &t.phase[i-1]; t.joined(i) {
		in.count, in.base, in.part, in.drains, t.phase[i].measured, t.phase[i].sorted = 0, 0, 0, false, false, false
	}
}

// stateAt is the address of a phase's state.
func (t *tables) stateAt(i int) uint64 {
	return t.memory.Ptr + countersAt + uint64(i)*uint64(unsafe.Sizeof(deviceState{}))
}

// args is the argument of a kernel of phase i.
func (t *tables) args(i int) deviceArgs {
	p := &t.phase[i]
	a := deviceArgs{
		Step: t.plan.step(i), Sum: t.plan.sum, Roots: t.plan.ranges, Listed: t.plan.listed, Lists: t.plan.lists, Out: p.rows, Pieces: p.pieces,
		State: t.stateAt(i), Turned: t.memory.Ptr,
		Sizes: p.sizes.Ptr, Starts: p.starts.Ptr, Found: p.found.Ptr, Places: p.places.Ptr, Buffer: t.buffer.Ptr, Histogram: t.histogram.Ptr,
		OutWeights: p.weight, Head: p.head, Tail: p.tail, Room: p.room, Mask: p.mask, After: p.width,
		Cache: number(t.cache), First: number(t.output == combined && p.windowed), Often: number(t.Goal.Limit > 0), Visit: number(t.o.Levels && !p.keeps), Depth: uint32(t.loops * depthBytes), Budget: rowBudget, Parts: 1,
	}
	if t.x.Info().Emulated {
		a.Budget = emulatedBudget
	}
	if i > 0 {
		in := &t.phase[i-1]
		a.Rows, a.Width, a.Count, a.Base, a.Weights, a.RowsRoom = in.rows, in.width, in.count, in.base, in.weight, in.room
		if p.merges {
			a.Merging, a.Joined, a.Slots, a.Place, a.SlotMask = t.plan.mergingOf(i), in.rows, p.slots, t.place, p.slotCount-1
		}
		return a
	}
	ranges, _ := t.prepared.roots()
	a.Ranges = uint32(len(ranges))
	return a
}

// rootUnits is for how many warps there are roots.
func (t *tables) rootUnits() uint64 {
	p := &t.phase[0]
	return t.x.Tasks()/uint64(t.rootChunk()) + 1 + p.tail - p.head
}

// roots makes rows of candidates of level 0.
func (t *tables) roots() error {
	p := &t.phase[0]
	a := t.args(0)
	was := p.state
	if err := t.launch(0, p.name, &a, t.rootUnits()); err != nil {
		return err
	}
	t.tookRoots(was)
	return nil
}

// tookRoots is what a launch for roots has done since the state was `was`.
func (t *tables) tookRoots(was deviceState) {
	p := &t.phase[0]
	p.head += min(p.state.Taken-was.Taken, p.tail-p.head)
	p.tail += p.state.Left - was.Left
	if len(t.phase) > 1 {
		t.made(0, was.Made)
	}
	t.ended = p.state.Over != 0
	t.starved = !t.ended && !p.drains && p.state.Made == was.Made
}

// made adds the rows that phase i has made to its table. Warps asked for `was` places in all before.
func (t *tables) made(i int, was uint64) {
	p := &t.phase[i]
	had := p.count
	p.count = uint32(min(p.state.Made-was+uint64(p.count), uint64(p.room)))
	p.drains = i < len(t.phase)-1 && p.count == p.room
	t.held(i, had)
}

// held notes that the table of phase i has rows besides the `had` that it had before.
func (t *tables) held(i int, had uint32) {
	if i == len(t.phase)-1 {
		return // it has no table
	}
	t.phase[i].handed += uint64(t.phase[i].count - had)
	bytes := uint64(0)
	for k := range t.phase[:len(t.phase)-1] {
		bytes += 4 * uint64(t.phase[k].width) * uint64(t.phase[k].count)
	}
	t.most = max(t.most, bytes)
}

// rows joins rows and pieces of rows, until the table is full.
func (t *tables) rows(i int) error {
	p, in := &t.phase[i], &t.phase[i-1]
	a := t.args(i)
	rows := in.count - in.base
	if a.Chunk = p.chunk(); a.Chunk == 0 {
		a.Chunk = uint32(runOf(rows, t.warps))
	}
	if !p.divides {
		in.parts = 1
	} else if in.part == 0 { // else the parts of a row are not all taken yet
		in.parts = p.warpsOf(rows, t.warps)
	}
	if in.parts > 1 {
		a.Chunk = 1
	}
	a.Parts, a.Skip = in.parts, in.part
	units := (uint64(rows)+uint64(a.Chunk)-1)/uint64(a.Chunk)*uint64(in.parts) - uint64(in.part)
	taken, err := t.join(i, p.name, &a, units)
	in.took(taken, uint64(a.Chunk))
	return err
}

// join launches a kernel that joins rows, of which there are `units` runs, and pieces that wait. It
// returns the number of runs that warps asked for.
func (t *tables) join(i int, name string, a *deviceArgs, units uint64) (taken uint64, err error) {
	p := &t.phase[i]
	was := p.state
	if err := t.launch(i, name, a, p.tail-p.head+units); err != nil {
		return 0, err
	}
	taken = p.state.Taken - was.Taken
	pieces := min(taken, a.Tail-a.Head)
	p.head += pieces
	p.tail += p.state.Left - was.Left
	t.made(i, was.Made)
	return taken - pieces, nil
}

// launch runs a kernel of phase i, and reads the counters.
func (t *tables) launch(i int, name string, a *deviceArgs, units uint64) error {
	if _, err := t.put(name, i, a, units); err != nil {
		return err
	}
	return t.read()
}

// put launches a kernel of phase i, for which there is work for `units` warps. It returns the number of its warps.
func (t *tables) put(name string, i int, a *deviceArgs, units uint64) (warps uint64, err error) {
	k, p := t.kernel[name], &t.phase[i]
	t.turn++
	a.Taken, a.Made, a.Left, a.Turn = p.state.Taken, p.state.Made-uint64(p.count), p.state.Left, t.turn
	blocks := max(1, min(k.blocks, (int(min(units, k.warps()))*32+k.threads-1)/k.threads))
	t.launched(name)
	if k.near > 0 {
		lists, words, _ := near(t.data.lists)
		a.Near, a.NearLists, a.Words = uint32(k.near), uint32(lists), uint32(words)
	} else {
		a.Near = 0
	}
	err = session.LaunchFixed(t.x, k.Kernel, cuda.Launch{Blocks: blocks, Threads: k.threads, Shared: k.shared}, a)
	return uint64(blocks * k.threads / 32), err
}

// read waits for all launches, and reads the counters.
func (t *tables) read() error {
	if err := cuda.Fetch(t.x.Context(), t.counters, t.memory, 0, t.x.Stream()); err != nil {
		return err
	}
	for i := range t.phase {
		t.phase[i].state = *(*deviceState)(unsafe.Pointer(&t.counters[countersAt/8+i*int(unsafe.Sizeof(deviceState{}))/8]))
	}
	if last := t.counters[0]; last != t.turn {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("of %d launches the one behind number %d did not run", t.turn, last)}
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
