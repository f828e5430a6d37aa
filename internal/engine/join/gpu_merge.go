package join

import (
	"math/bits"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
)

// The structs of kernels/join/merge.cuh.
type (
	deviceBar struct{ Level, First, End uint32 }

	deviceMerging struct {
		Of, Bar, Sorted     uint64
		Keys, Bars, Runs, _ uint32
	}
)

// mergeKernels are the launches of a merge.
var mergeKernels = [...]string{"join_forget", "join_same", "join_move"}

// weightBytes is the size of a row's weight.
const weightBytes = 16

// mergingPhase is a merge on a device.
type mergingPhase struct {
	slots     uint64 // address
	slotCount uint32 // slots, a power of two
	came      uint64 // rows
	lax       bool   // rows are not compared
}

// layMerges says what a device needs of the plan's merges.
func (x *prepared) layMerges(d *devicePlan) {
	d.merges = make([]deviceMerging, len(x.steps))
	admits := 0
	x.eachMerge(func(_ int, m *merging) {
		for i := range m.bars {
			admits += len(m.bars[i].of)
		}
	})
	d.admits = make([]deviceGroup, 0, admits) // the addresses in them are known later
	x.eachMerge(func(i int, m *merging) {
		to := &d.merges[i]
		var bars []deviceBar
		for _, b := range m.bars {
			first := uint32(len(d.admits))
			for _, g := range b.of {
				d.admits = append(d.admits, deviceGroup{})
				x.deviceGroup(g, d, nil, &d.admits[len(d.admits)-1])
			}
			bars = append(bars, deviceBar{uint32(b.level), first, uint32(len(d.admits))})
		}
		var sorted []uint32
		for _, r := range m.sorted {
			sorted = append(sorted, uint32(r[0]), uint32(r[1]))
		}
		to.Keys, to.Bars, to.Runs = mask(m.keys), uint32(len(bars)), uint32(len(m.sorted))
		put(d, bars, &to.Bar)
		put(d, sorted, &to.Sorted)
	})
	put(d, make([]deviceGroup, len(d.admits)), &d.admitted)
	put(d, make([]deviceMerging, len(d.merges)), &d.merging)
}

// eachMerge calls f with each step that merges.
func (x *prepared) eachMerge(f func(i int, m *merging)) {
	for i := range x.steps {
		if m := x.steps[i].merging; m != nil {
			f(i, m)
		}
	}
}

// mergedRoom is the most rows of a merge's table, where others have `room` rows.
func mergedRoom(room uint32) uint32 { return gpuMerged * room }

// slotsOf is the number of slots for so many merged rows.
func slotsOf(rows uint32) uint32 { return 1 << bits.Len32(2*rows-1) }

// mergingOf is the address of a step's merge.
func (d *devicePlan) mergingOf(i int) uint64 {
	return d.merging + uint64(i)*uint64(unsafe.Sizeof(deviceMerging{}))
}

// weighs reports whether the rows that phase i makes have weights: from the table before the first merge on, where those of equal rows
// are added up.
func (t *tables) weighs(i int) bool {
	return t.steps[i].weighs || i+1 < len(t.phase) && t.phase[i+1].merges
}

// tableBytes is the memory for each row of the tables, with those of the merge if phase i is one.
func (t *tables) tableBytes(i int) int64 {
	row := 4 * int64(t.phase[i].width)
	if t.weighs(i) {
		row += weightBytes
	}
	if t.phase[i].merges {
		row = gpuMerged*(row+4*4) + 4
	}
	return row
}

// takeTable gives phase i its table at an offset, with weights and slots. It returns their bytes.
func (t *tables) takeTable(p *phase, i int, at int64) (bytes int64) {
	p.room = t.room
	if p.merges {
		p.room = mergedRoom(t.room)
	}
	table := 4 * int64(p.width) * int64(p.room)
	t.bytes.Add(uint64(table))
	p.rows = uint64(at)
	bytes = aligned(table)
	if t.weighs(i) {
		p.weight = uint64(at + bytes)
		bytes += aligned(weightBytes * int64(p.room))
	}
	if p.merges {
		p.slots, p.slotCount = uint64(at+bytes), slotsOf(p.room)
		bytes += aligned(4 * int64(p.slotCount))
	}
	return bytes
}

// merge adds the rows of the table before merge i to its table, or makes room for them there first.
func (t *tables) merge(i int) error {
	p, in := &t.phase[i], &t.phase[i-1]
	if p.lax {
		t.swap(i)
		return nil
	}
	if p.room-p.count < in.count {
		p.drains = true
		return nil
	}
	a := t.args(i)
	was := p.state
	if err := t.putMerge(i, &a, (uint64(in.count)+31)/32); err != nil {
		return err
	}
	if err := t.read(); err != nil || t.x.Stopped() {
		return err
	}
	t.merged(i, was.Made)
	return nil
}

// merged is what the launches of merge i have done. Its table had had `was` rows in all before.
func (t *tables) merged(i int, was uint64) {
	p, in := &t.phase[i], &t.phase[i-1]
	in.base = in.count
	p.came += uint64(in.count)
	t.made(i, was)
	p.lax = lax(p.came, p.handed, uint64(t.room)/16)
}

// swap makes the table before merge i its own, once it is empty: rows that are not compared are not copied either.
func (t *tables) swap(i int) {
	p, in := &t.phase[i], &t.phase[i-1]
	p.drains = true
	if p.count > 0 {
		return
	}
	p.rows, in.rows = in.rows, p.rows
	p.weight, in.weight = in.weight, p.weight
	p.room, p.count, in.base = in.room, in.count, in.count
	t.held(i, 0)
}

// putMerge launches the kernels of merge i, for which there is work for `units` warps.
func (t *tables) putMerge(i int, a *deviceArgs, units uint64) error {
	p := &t.phase[i]
	if p.count == 0 { // nothing of what slots have is left
		if err := t.x.Context().Clear(cuda.Buffer{Ptr: p.slots, Size: 4 * int64(p.slotCount)}, t.x.Stream()); err != nil {
			return err
		}
	}
	for _, name := range mergeKernels {
		if _, err := t.put(name, i, a, units); err != nil {
			return err
		}
	}
	return nil
}
