package join

import (
	"slices"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/gpu"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// The structs of kernels/join/plan.cuh, field by field.
type (
	deviceGroup struct {
		Bits, All, Ranges    uint64
		AllN, RangesN        uint32
		First, End           uint32
		Below, Above         uint32
		Distinct             uint32
		MinDegree, DegreeAdj uint32
		Naive, Backs, _      uint32
		Back                 [maxBacks]uint32
	}

	deviceLevel struct{ Level, Group, Below, Above, Distinct uint32 }

	deviceStep struct {
		Group         [2]deviceGroup
		At            [maxLevels]deviceLevel
		Levels, Edges uint32
		Late, _       uint32
		Edge          [maxEdges]uint32
	}

	devicePiece struct {
		Row, Rows, To, Step uint32
		At                  [maxLevels]uint32
	}

	deviceState struct {
		Taken, Made, Left       uint64
		Over, Last, From, Whole uint32
	}

	deviceArgs struct {
		Step, Sum, Roots, Listed, Lists                uint64
		Rows, Out, Pieces, State, Before, Turned       uint64
		Weights, OutWeights                            uint64
		Merging, Joined, Slots, Place                  uint64
		Sizes, Starts, Found, Places                   uint64
		Order, Histogram, Buffer                       uint64
		Taken, Made, Left, Turn                        uint64
		Head, Tail, Window, End                        uint64
		Width, After, Count, Base, From, Chunk         uint32
		Room, Mask, Ranges, Cache, First, Often, Visit uint32
		Layer                                          [4]uint32
		Intervals, Depth, Budget                       uint32
		Parts, Skip                                    uint32
		Near, NearLists, Words                         uint32
		SlotMask, RowsRoom                             uint32
	}
)

// maxEdges is how many edges an elimination looks for at most.
const maxEdges = 32

// maxPlaces is how many levels a phase has at most whose rows are for several warps. Device twin: JOIN_PLACES.
const maxPlaces = 30

// maxBacks is how many lists a group's candidates are looked up in at most: a lane of a warp has each.
const maxBacks = 32

// globals are the arrays of the graph that kernels of a plan read.
type globals struct {
	program *kir.Program
	lists   []listArrays  // by adjacency
	filter  *filterArrays // nil: nothing is filtered
}

// globals collects the arrays of the steps.
func (x *prepared) globals() *globals {
	g := &globals{program: &kir.Program{Name: "join"}}
	g.lists, g.filter = x.listArrays(g.program), x.filterArrays(g.program)
	return g
}

// roots are the ranges of ids that level 0 may have. listed are these ids one by one, where it is known which
// they are; nil: all of the ranges.
func (x *prepared) roots() (ranges []plan.Range, listed []uint32) {
	g := &x.steps[0].groups[0]
	if g.ranges != nil {
		return g.ranges, g.roots
	}
	return []plan.Range{{First: g.one.First, End: max(g.one.First, g.one.End)}}, g.roots
}

// rootCount is the number of ids that may have to be looked at for level 0.
func (x *prepared) rootCount() (n uint64) {
	ranges, listed := x.roots()
	if listed != nil {
		return uint64(len(listed))
	}
	for _, r := range ranges {
		n += uint64(r.End - r.First)
	}
	return n
}

// refused returns why a GPU does not run the steps, if it does not.
func (x *prepared) refused() error {
	if c := gpu.Conditions(x.p); x.p.Rooted && len(c) > 0 {
		return plan.Refusef("counts per vertex on GPUs do not test %s", c[0].Text)
	}
	for i := range x.steps {
		if len(x.steps[i].Close) > maxEdges {
			return plan.Refusef("an elimination of more than %d edges, which joins on GPUs do not look for", maxEdges)
		}
		for k := range x.steps[i].groups {
			if g := &x.steps[i].groups[k]; len(g.With)+len(g.Inside) >= maxBacks {
				return plan.Refusef("a vertex has more than %d edges to those before it, which joins on GPUs do not look up", maxBacks)
			}
		}
	}
	return nil
}

// A run has one piece of device memory, in this order:
//
//   - counters: the last launch that ran, a deviceState for each phase, and the filterCounts of each filter. The host
//     reads all of them at once;
//   - the plan's phases as data, which are copied there once a run, together with counters of 0;
//   - candidates that the host knows, as bits or ids. They stay there for the next run of the same plan;
//   - candidates that filters make;
//   - pieces and tables.

// countersAt is where the states of phases begin: 64 bytes behind the number of the last launch.
const countersAt = 64

// section is a part of a run's memory. Addresses in it are relative until it has its place.
type section struct {
	size int64
	at   []*uint64 // addresses in it
}

// take has room for bytes, and makes *at the address.
func (s *section) take(bytes int64, at *uint64) {
	*at = uint64(s.size)
	s.at = append(s.at, at)
	s.size += (bytes + 7) &^ 7
}

// place gives the section its address.
func (s *section) place(address uint64) {
	for _, at := range s.at {
		*at += address
	}
}

// devicePlan is a plan's phases as they will lie in device memory.
type devicePlan struct {
	block   section  // what is copied once a run
	words   []uint64 // its contents so far
	arrays  section
	content [][]byte // of arrays
	filled  section  // what filters make

	lists, ranges, listed, sum, first uint64 // addresses
	steps                             []deviceStep
	tail                              deviceTail
	blocks                            []deviceGroup
	admitted, merging                 uint64          // addresses
	merges                            []deviceMerging // by step
	admits                            []deviceGroup   // of all merges
	filters                           []filtering
	counts                            int // words of counters
}

// step is the address of a phase.
func (d *devicePlan) step(i int) uint64 {
	return d.first + uint64(i)*uint64(unsafe.Sizeof(deviceStep{}))
}

// put puts rows into the block, and makes *at their address.
func put[T any](d *devicePlan, rows []T, at *uint64) {
	d.block.take(int64(len(rows))*int64(unsafe.Sizeof(*new(T))), at)
	d.words = append(d.words, make([]uint64, int(d.block.size)/8-len(d.words))...)
	copy(raw(d.words[*at/8:]), raw(rows))
}

// keepArray puts rows into the arrays, and makes *at their address.
func keepArray[T any](d *devicePlan, rows []T, at *uint64) {
	d.arrays.take(int64(len(rows))*int64(unsafe.Sizeof(*new(T))), at)
	d.content = append(d.content, raw(rows))
}

// raw is the memory of a slice.
func raw[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(*new(T)))
}

// layOut says what a device needs of the plan. Addresses are relative, until place is called.
func (x *prepared) layOut(e *session.Exec, g *globals) *devicePlan {
	d := &devicePlan{}
	filters := 0
	x.eachFiltered(func(*group) { filters++ })
	d.counts = (countersAt + len(x.steps)*int(unsafe.Sizeof(deviceState{})) + filters*int(unsafe.Sizeof(filterCounts{}))) / 8
	var zeros uint64
	put(d, make([]uint64, d.counts), &zeros)
	lists := make([]deviceLists, len(g.lists))
	for i := range lists {
		lists[i] = g.lists[i].on(e)
	}
	put(d, lists, &d.lists)
	ranges, listed := x.roots()
	put(d, ranges, &d.ranges)
	if len(listed) > 0 {
		keepArray(d, listed, &d.listed)
	}
	filtered := x.filters(e, g, d, filters)
	d.steps = make([]deviceStep, len(x.steps))
	for i := range x.steps {
		from, to := &x.steps[i], &d.steps[i]
		for k := range min(len(from.groups), len(to.Group)) { // a tail has more, which its blocks have
			x.deviceGroup(&from.groups[k], d, filtered, &to.Group[k])
		}
		for k, l := range from.levels {
			to.Late = number(l.late) // of the last one
			to.At[k] = deviceLevel{Level: uint32(l.level), Group: uint32(l.group), Below: mask(l.below), Above: mask(l.above), Distinct: mask(l.distinct)}
		}
		for k, c := range from.Close {
			to.Edge[k] = uint32(c.Adj)<<11 | uint32(c.Level)<<6 | uint32(c.Back.Level)<<1 | number(c.Neg)
		}
		to.Levels, to.Edges = uint32(len(from.levels)), uint32(len(from.Close))
	}
	if x.closing != nil {
		d.tail = x.closing.tail
		d.blocks = make([]deviceGroup, len(x.closing.blocks))
		for i, c := range x.closing.blocks {
			x.deviceGroup(c, d, filtered, &d.blocks[i])
		}
		put(d, x.closing.terms, &d.tail.Term)
		d.tail.Blocks, d.tail.Terms = uint32(len(d.blocks)), uint32(len(x.closing.terms))
	}
	// Those that have addresses get their contents when they are known.
	put(d, make([]deviceGroup, len(d.blocks)), &d.tail.Block)
	put(d, make([]deviceTail, 1), &d.sum)
	x.layMerges(d)
	put(d, make([]deviceStep, len(d.steps)), &d.first)
	return d
}

// size is the bytes that the plan takes.
func (d *devicePlan) size() int64 { return d.block.size + d.arrays.size + d.filled.size }

// place gives all addresses the place of the memory, and copies the plan there. Where `known`, the arrays are there.
func (d *devicePlan) place(e *session.Exec, memory cuda.Buffer, known bool) error {
	blocks, tail, first, admitted, merging := d.tail.Block, d.sum, d.first, d.admitted, d.merging
	d.block.place(memory.Ptr)
	d.arrays.place(memory.Ptr + uint64(d.block.size))
	d.filled.place(memory.Ptr + uint64(d.block.size+d.arrays.size))
	for i := range d.filters {
		f := &d.filters[i]
		for _, to := range f.bits {
			*to = f.args.Out
		}
	}
	copy(raw(d.words[blocks/8:]), raw(d.blocks))
	copy(raw(d.words[tail/8:]), raw([]deviceTail{d.tail}))
	copy(raw(d.words[first/8:]), raw(d.steps))
	for i := range d.merges {
		d.merges[i].Of = d.admitted
	}
	copy(raw(d.words[admitted/8:]), raw(d.admits))
	copy(raw(d.words[merging/8:]), raw(d.merges))
	if err := cuda.Upload(e.Context(), memory, 0, d.words); err != nil {
		return err
	}
	if !known {
		at := d.block.size
		for _, bytes := range d.content {
			if err := cuda.Upload(e.Context(), memory, at, bytes); err != nil {
				return err
			}
			at += (int64(len(bytes)) + 7) &^ 7
		}
	}
	return nil
}

// deviceGroup makes *d of a group. filtered are the filters of groups.
func (x *prepared) deviceGroup(c *group, p *devicePlan, filtered map[*group]*filtering, d *deviceGroup) {
	*d = deviceGroup{
		First: c.one.First, End: c.one.End, Below: mask(c.below), Above: mask(c.above), Distinct: mask(c.distinct),
		Naive: number(x.naive), MinDegree: uint32(c.minDegree), DegreeAdj: uint32(c.MinDegreeAdj), RangesN: uint32(len(c.ranges)),
	}
	if c.ranges != nil {
		put(p, c.ranges, &d.Ranges)
	}
	if f := filtered[c]; f != nil { // ranges and degrees are tested there
		f.bits = append(f.bits, &d.Bits)
		d.RangesN, d.MinDegree = 0, 0
	} else if len(c.bits) > 0 {
		p.keepBits(c.bits, &d.Bits)
	}
	if len(c.all) > 0 {
		keepArray(p, c.all, &d.All)
		d.AllN = uint32(len(c.all))
	}
	backs := c.With
	if !c.Free() {
		backs = slices.Concat([]plan.Back{c.From}, c.With, c.Inside)
	}
	for i, b := range backs {
		d.Back[i] = uint32(b.Adj)<<8 | uint32(b.Level)<<1 | number(b.Neg)
	}
	d.Backs = uint32(len(backs))
}

// keepBits is keepArray of a bitmap, which several groups may have.
func (d *devicePlan) keepBits(bits []uint64, at *uint64) {
	offset := int64(0)
	for _, c := range d.content {
		if unsafe.SliceData(c) == unsafe.SliceData(raw(bits)) {
			*at = uint64(offset)
			d.arrays.at = append(d.arrays.at, at)
			return
		}
		offset += (int64(len(c)) + 7) &^ 7
	}
	keepArray(d, bits, at)
}

// mask is a set of levels.
func mask(levels []int) (m uint32) {
	for _, l := range levels {
		m |= 1 << l
	}
	return m
}
