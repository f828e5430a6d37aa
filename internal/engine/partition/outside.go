package partition

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
)

// The structs of kernels/partition/plan.cuh, field by field.
type (
	deviceLevel struct {
		Bits                          uint64
		Above, Below, Distinct, Backs uint32
		Back                          [maxBacks]uint32
	}

	deviceState struct{ Turned, Taken, Made, Left uint64 }

	devicePiece struct{ Row, From uint32 }

	deviceArgs struct {
		Level, Part, Rows, Out, Key, At, List, Pieces, State, Maps, Need uint64
		Words, Taken, Made, Left, Turn, Head, Tail                       uint64
		Width, Base, Count, Room, Mask, Copies, Levels, Together, Pairs  uint32
		Source                                                           [maxSources + 1]uint32
		_                                                                [3]uint32
	}
)

// Limits of kernels/partition/plan.cuh, and the bits of a back.
const (
	maxSources = 16
	maxBacks   = 32

	backNeg, backPair, backLater = 1, 2, 4
)

// outside searches the matches that lie in several parts.
func (r *run) outside(ctx context.Context) error {
	goal := engine.Goal{Sink: r.goal.Sink}
	if left := r.left(); left > 0 {
		goal.Limit = (left-1)/int64(r.factor) + 1
	}
	switch {
	case r.goal.PerRoot != nil:
		goal.Sink = roots{r}
	case goal.Sink == nil && r.listing:
		goal.Sink = discard{}
	}
	crossings := make([]*crossing, len(r.searches))
	for i := range crossings {
		crossings[i] = &crossing{g: r.g, of: r.of, s: &r.searches[i]}
	}
	around := gpu.Run{Session: r.s, Graph: r.g, Plan: r.p, Goal: goal, Room: r.room, Keep: gpu.Keep(r.p), Tells: true}
	j := r.job()
	j.FaultText = func(code uint32, about uint64) string {
		return fmt.Sprintf("the list of vertex %d was not gathered (code %d)", about, code)
	}
	j.Start = func(x *session.Exec) (func() error, error) {
		t := &tables{run: r, ctx: ctx, x: x, crossings: crossings}
		if err := t.start(); err != nil {
			return nil, err
		}
		return t.search, nil
	}
	res, _, err := around.Do(ctx, j)
	r.add(&res, r.factor)
	r.took(res.Search, res.Prepare)
	return err
}

// discard is a sink for rows that are only counted.
type discard struct{}

func (discard) Emit(int, *engine.Batch) error { return nil }

// tables are the searches on one device. A search has a table for each level but the last. A table with rows is searched
// to its end, a chunk after the other: the rows whose lists fit a slot of memory. When the next table is full, it is
// searched before its own goes on. So memory is bounded, and every level has an equal share of it.
type tables struct {
	*run
	ctx       context.Context
	x         *session.Exec
	crossings []*crossing
	kernel    map[string]*kernel
	copies    *cuda.Stream // of marks and lists
	gatherer

	part, plans, maps cuda.Buffer
	mapAt             []uint64   // by search
	levelAt           [][]uint64 // by search and level
	table             []table
	turn              uint64      // launches on the main stream
	state, was        deviceState // after the last launch that was waited for, and before it
	stateAt           cuda.Buffer
	begin, end        *cuda.Event // of the last kernel of the main stream
	meter             *session.Meter
}

// table is the table of rows of some width, and what extends them.
type table struct {
	width uint32
	rows  cuda.Buffer
	room  uint32 // rows
	count uint32

	pieces     cuda.Buffer
	mask       uint32
	head, tail uint64
	slots      [2]slot
	guess      uint32 // rows whose lists may fit a slot
}

// kernel is a kernel with its grid.
type kernel struct {
	*cuda.Kernel
	threads, blocks, shared int
}

func (k *kernel) warps() int { return k.blocks * k.threads / 32 }

// Threads of a block.
const (
	blockThreads    = 256
	emulatedThreads = 64
	warpBytes       = 128
)

// start makes the device ready.
func (t *tables) start() error {
	t.kernel = map[string]*kernel{}
	for name := range t.needed() {
		k := &kernel{threads: blockThreads}
		if t.x.Info().Emulated {
			k.threads = emulatedThreads
		}
		k.shared = k.threads / 32 * warpBytes
		var err error
		if k.Kernel, err = t.x.Kernel(name); err != nil {
			return err
		}
		if k.blocks, err = k.Resident(k.threads, k.shared); err != nil {
			return err
		}
		if k.blocks == 0 {
			return plan.Refusef("partition on %v: a block does not fit", t.x.Info())
		}
		t.kernel[name] = k
	}
	var err error
	if t.copies, err = t.x.Branch(); err != nil {
		return err
	}
	if err := t.layOut(); err != nil {
		return err
	}
	return t.allocate()
}

// upload takes memory for values and copies them there.
func upload[T any](t *tables, what string, values []T) (cuda.Buffer, error) {
	var zero T
	b, err := t.x.Scratch(what, int64(len(values))*int64(unsafe.Sizeof(zero)))
	if err == nil {
		err = cuda.Upload(t.x.Context(), b, 0, values)
	}
	return b, err
}

// layOut brings the parts of vertices and the searches to the device.
func (t *tables) layOut() (err error) {
	of := make([]uint16, len(t.of))
	for v, part := range t.of {
		of[v] = uint16(part)
	}
	if t.part, err = upload(t, "the parts of vertices", of); err != nil {
		return err
	}
	if t.stateAt, err = upload(t, "counters", []deviceState{{}}); err != nil {
		return err
	}
	var all []deviceLevel
	var maps []uint8
	known := map[string]uint64{} // bitmaps by their words
	for i := range t.searches {
		s := &t.searches[i]
		t.mapAt = append(t.mapAt, uint64(len(maps)))
		maps = append(maps, s.maps...)
		var at []uint64
		for l := range s.levels {
			at = append(at, uint64(len(all))*uint64(unsafe.Sizeof(deviceLevel{})))
			d := deviceLevel{Above: s.above[l], Below: s.below[l], Distinct: s.distinct(l), Backs: uint32(len(s.levels[l].backs))}
			for k, b := range s.levels[l].backs {
				d.Back[k] = uint32(b.source)<<8 | uint32(b.level)<<3 | flag(b.neg, backNeg) | flag(b.pair, backPair) | flag(b.behind, backLater)
			}
			if words := s.levels[l].bits; words != nil && l >= 2 {
				key := bitmapKey(words)
				if known[key] == 0 {
					b, err := upload(t, "candidates", words)
					if err != nil {
						return err
					}
					known[key] = b.Ptr
				}
				d.Bits = known[key]
			}
			all = append(all, d)
		}
		t.levelAt = append(t.levelAt, at)
	}
	if t.plans, err = upload(t, "the searches", all); err != nil {
		return err
	}
	t.maps, err = upload(t, "the columns of matches", maps)
	return err
}

func flag(on bool, bit uint32) uint32 {
	if on {
		return bit
	}
	return 0
}

// Bounds of what a search takes however much memory there is, and however little.
const (
	leastRows = 32

	mostRows  = 1 << 22
	mostBytes = 64 << 20 // of a slot
)

// allocate gives each level its share of the memory.
func (t *tables) allocate() error {
	if err := t.reserve(t, (len(t.of)+63)/64, t.sources()); err != nil {
		return err
	}
	warps := 1
	for _, k := range t.kernel {
		warps = max(warps, k.warps())
	}
	levels := t.levels()
	share := t.x.Room()/int64(levels) - levelBytes(warps)
	t.table = make([]table, levels)
	slot := min(share/3, max(mostBytes, t.wants.enough/3), t.whole()) &^ 3
	if t.chunk > 0 {
		slot = max(t.chunk, t.leastSlot())
	}
	for i := range t.table {
		b := &t.table[i]
		b.width, b.mask = uint32(i+2), uint32(places(warps)-1)
		b.room = uint32(max(min(share/3/int64(4*b.width), t.most(t.mostOf(i+2))), 0))
		if b.room < leastRows && t.batch == 0 || slot < t.leastSlot() {
			return t.short(fmt.Sprintf("%s for each of %d levels", memory.Text(uint64(max(share, 0))), levels))
		}
		b.guess = uint32(t.most(int64(b.room)))
		var err error
		if b.rows, err = t.x.Scratch("a table of partial matches", int64(b.room)*int64(b.width)*4); err != nil {
			return err
		}
		if len(t.p.Order) == 2 {
			continue
		}
		if b.pieces, err = t.x.Scratch("rows that wait", places(warps)*int64(unsafe.Sizeof(devicePiece{}))); err != nil {
			return err
		}
		for k := range b.slots {
			if b.slots[k].memory, err = t.x.Scratch("gathered lists", slot); err != nil {
				return err
			}
		}
	}
	return nil
}

// open takes events, which search gives back, and host memory.
func (t *tables) open() (err error) {
	if t.meter, err = t.x.NewMeter(); err != nil {
		return err
	}
	for _, e := range []**cuda.Event{&t.begin, &t.end} {
		if *e, err = t.x.Context().Event(); err != nil {
			return err
		}
	}
	for i := range t.table {
		for k := range t.table[i].slots {
			s := &t.table[i].slots[k]
			for _, e := range []**cuda.Event{&s.leave, &s.ready} {
				if *e, err = t.x.Context().Event(); err != nil {
					return err
				}
			}
		}
	}
	return t.pin(t.x, t.table)
}

// most is n, or the rows that an option allows.
func (t *tables) most(n int64) int64 {
	if t.batch > 0 {
		return min(n, int64(t.batch))
	}
	return n
}

// search goes through the searches.
func (t *tables) search() (err error) {
	defer func() { err = errors.Join(err, t.close()) }()
	if err := errors.Join(t.open(), t.x.Fork()); err != nil {
		return err
	}
	for k := range t.searches {
		if err := t.across(k); err != nil {
			return err
		}
	}
	m, err := t.meter.Read()
	if err != nil {
		return err
	}
	t.moved.mu.Lock()
	defer t.moved.mu.Unlock()
	t.moved.metered = t.moved.metered.Plus(m)
	return nil
}

// across goes through one search.
func (t *tables) across(k int) (err error) {
	tell := t.progress(len(t.sizes) + k)
	c := t.crossings[k]
	m := c.make(t.ctx, max(1, t.o.Threads/len(t.s.Devices())))
	defer m.stop()
	first := &t.table[0]
	rows := make([]uint32, 0, 2*first.room)
	for !t.x.Stopped() {
		if rows, err = m.take(rows[:0]); err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		if err := cuda.Upload(t.x.Context(), first.rows, 0, rows); err != nil {
			return err
		}
		first.count = uint32(len(rows) / 2)
		if err := t.level(k, 0); err != nil {
			return err
		}
		if tell != nil {
			tell(uint64(min(c.next.Load(), int64(len(t.of)))), uint64(len(t.of)))
		}
	}
	for i := range t.table {
		if err := t.level(k, i); err != nil {
			return err
		}
	}
	return nil
}

// close gives back what of the run is not the session's.
func (t *tables) close() error {
	errs := []error{t.x.Stream().Synchronize(), t.copies.Synchronize(), t.free()}
	if t.meter != nil {
		errs = append(errs, t.meter.Close())
	}
	for _, e := range []*cuda.Event{t.begin, t.end} {
		if e != nil {
			errs = append(errs, e.Close())
		}
	}
	for i := range t.table {
		for k := range t.table[i].slots {
			for _, e := range []*cuda.Event{t.table[i].slots[k].leave, t.table[i].slots[k].ready} {
				if e != nil {
					errs = append(errs, e.Close())
				}
			}
		}
	}
	return errors.Join(errs...)
}

// args is the argument of a kernel of search k for table i.
func (t *tables) args(k, i int) deviceArgs {
	b := &t.table[i]
	a := deviceArgs{
		Part: t.part.Ptr, Rows: b.rows.Ptr, Pieces: b.pieces.Ptr, State: t.stateAt.Ptr, Maps: t.maps.Ptr + t.mapAt[k],
		Width: b.width, Count: b.count, Mask: b.mask, Copies: uint32(t.searches[k].copies), Levels: uint32(len(t.p.Order)),
	}
	if name, _ := t.kernelFor(&t.searches[k], int(b.width)); name == pairsKernel {
		a.Together, a.Pairs = 2, t.searches[k].pairs-1
	}
	if int(b.width) < len(t.levelAt[k]) {
		a.Level = t.plans.Ptr + t.levelAt[k][b.width]
	}
	return a
}

// level searches the rows of table i to their end.
func (t *tables) level(k, i int) error {
	b := &t.table[i]
	if b.count == 0 || t.x.Stopped() {
		return nil
	}
	t.moved.rows.Add(uint64(b.count))
	name, last := t.kernelFor(&t.searches[k], int(b.width))
	if int(b.width) == len(t.p.Order) {
		a := t.args(k, i)
		b.count = 0
		if err := t.launch(name, &a, uint64(a.Count)/32+1); err != nil {
			return err
		}
		return t.read()
	}
	now, next := &b.slots[0], &b.slots[1]
	var ran time.Duration // of the kernel beside which the lists of now were gathered
	if err := t.gather(k, i, now, 0, 0, 0); err != nil {
		return err
	}
	for {
		if err := t.x.Stream().Follow(now.ready); err != nil {
			return err
		}
		if err := t.extend(name, k, i, now, last); err != nil {
			return err
		}
		// The lists of the next rows are gathered while the kernel runs.
		row, end, low := now.next()
		more := row < b.count
		if more {
			if err := t.gather(k, i, next, row, end, low); err != nil {
				return err
			}
		}
		for done, first := false, true; !done; first = false {
			if t.x.Stopped() {
				return t.x.Stream().Synchronize()
			}
			if err := t.read(); err != nil {
				return err
			}
			if first {
				took, err := t.account(now, ran)
				if err != nil {
					return err
				}
				ran = took
			}
			if done = t.took(i, now, last); done {
				break
			}
			if !last { // the next table is full
				if err := t.level(k, i+1); err != nil {
					return err
				}
			}
			if err := t.extend(name, k, i, now, last); err != nil {
				return err
			}
		}
		if !more {
			break
		}
		now, next = next, now
	}
	b.count = 0
	return nil
}

// account adds up how long it took to gather and copy a slot's lists, and how much of that a kernel ran, which took `beside`.
// It returns the time of the last kernel, which was the first to read the slot.
func (t *tables) account(s *slot, beside time.Duration) (ran time.Duration, err error) {
	copied, err := s.ready.Since(s.leave)
	if err != nil {
		return 0, err
	}
	t.moved.gathering.Add(int64(s.took))
	t.moved.busy.Add(int64(s.took + copied))
	t.moved.hidden.Add(int64(min(s.took+copied, beside)))
	return t.end.Since(t.begin)
}

// extend launches a kernel for the rows of a slot that are left.
func (t *tables) extend(name string, k, i int, s *slot, last bool) error {
	b := &t.table[i]
	a := t.args(k, i)
	s.address(&a)
	a.Base, a.Count, a.Head, a.Tail = s.base, s.end, b.head, b.tail
	if !last {
		out := &t.table[i+1]
		a.Out, a.Room = out.rows.Ptr, out.room
		a.Made = t.state.Made - uint64(out.count)
	}
	if err := t.begin.Record(t.x.Stream()); err != nil {
		return err
	}
	if err := t.launch(name, &a, b.tail-b.head+uint64(s.end-s.base)); err != nil {
		return err
	}
	return t.end.Record(t.x.Stream())
}

// took notes what a launch for the rows of a slot did. It reports whether none are left.
func (t *tables) took(i int, s *slot, last bool) bool {
	b, was := &t.table[i], &t.was
	taken := t.state.Taken - was.Taken
	pieces := min(taken, b.tail-b.head)
	b.head += pieces
	b.tail += t.state.Left - was.Left
	s.base = uint32(min(uint64(s.end), uint64(s.base)+taken-pieces))
	if !last {
		out := &t.table[i+1]
		out.count = uint32(min(uint64(out.count)+t.state.Made-was.Made, uint64(out.room)))
	}
	return s.base == s.end && b.head == b.tail
}

// launch starts a kernel of the main stream with work for so many warps.
func (t *tables) launch(name string, a *deviceArgs, units uint64) error {
	k := t.kernel[name]
	t.turn++
	t.was = t.state
	a.Taken, a.Left, a.Turn = t.state.Taken, t.state.Left, t.turn
	blocks := int(max(1, min(uint64(k.blocks), (units*32+uint64(k.threads)-1)/uint64(k.threads))))
	return t.meter.Kernels(t.x.Stream(), func() error {
		return session.LaunchFixed(t.x, k.Kernel, cuda.Launch{Blocks: blocks, Threads: k.threads, Shared: k.shared}, a)
	})
}

// read waits for the last launch, and reads what it did.
func (t *tables) read() error {
	got := make([]deviceState, 1)
	if err := cuda.Fetch(t.x.Context(), got, t.stateAt, 0, t.x.Stream()); err != nil {
		return err
	}
	if t.state = got[0]; t.state.Turned != t.turn {
		return &cuda.Error{Op: Name, Kind: cuda.ErrLaunch, Text: fmt.Sprintf("of %d launches the one behind number %d did not run", t.turn, t.state.Turned)}
	}
	return nil
}
