package join

import (
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
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
		Backs                uint32
		Back                 [maxBacks]uint32
	}

	deviceLevel struct{ Level, Group, Below, Above, Distinct uint32 }

	deviceStep struct {
		Group         [2]deviceGroup
		At            [maxLevels]deviceLevel
		Levels, Edges uint32
		Edge          [maxEdges]uint32
	}

	devicePiece struct {
		Row, Rows, To, Step uint32
		At                  [maxLevels]uint32
	}

	deviceState struct {
		Taken, Made, Left, Asked, Turn uint64
		Over, Last, From, Whole        uint32
	}

	deviceArgs struct {
		Step, Sum, Roots, Lists                        uint64
		Rows, Out, Pieces, State                       uint64
		Sizes, Starts, Found, Places                   uint64
		Order, Histogram, Buffer                       uint64
		Taken, Made, Left, Asked, Turn                 uint64
		Head, Tail, Window, End                        uint64
		Width, After, Count, Base, From, Chunk         uint32
		Room, Mask, Ranges, Cache, First, Often, Visit uint32
		Layer                                          [4]uint32
		Intervals, Depth                               uint32
		Near, NearLists, Words                         uint32
	}
)

// maxEdges is how many edges an elimination looks for at most.
const maxEdges = 32

// maxBacks is how many lists a group's candidates are looked up in at most: a lane of a warp has each.
const maxBacks = 32

// globals are the arrays that kernels of a plan read.
type globals struct {
	program *kir.Program
	lists   []listArrays  // by adjacency
	filter  *filterArrays // nil: nothing is filtered
	bits    map[*uint64]*kir.GlobalDef
	all     map[*uint32]*kir.GlobalDef
}

// globals collects the arrays of the steps.
func (x *prepared) globals() *globals {
	g := &globals{program: &kir.Program{Name: "join"}, bits: map[*uint64]*kir.GlobalDef{}, all: map[*uint32]*kir.GlobalDef{}}
	g.lists, g.filter = x.listArrays(g.program), x.filterArrays(g.program)
	var groups []*group
	for i := range x.steps {
		for k := range x.steps[i].groups {
			groups = append(groups, &x.steps[i].groups[k])
		}
	}
	if x.closing != nil {
		groups = append(groups, x.closing.blocks...)
	}
	for _, c := range groups {
		if c.queries == nil && len(c.bits) > 0 && g.bits[&c.bits[0]] == nil {
			g.bits[&c.bits[0]] = g.program.AddGlobal(&kir.GlobalDef{Name: "candidates", Kind: kir.Bits, Words: c.bits})
		}
		if len(c.all) > 0 && g.all[&c.all[0]] == nil {
			g.all[&c.all[0]] = g.program.AddGlobal(&kir.GlobalDef{Name: "candidates", Kind: kir.Array, Adj: c.all})
		}
	}
	return g
}

// roots are the ranges of ids that level 0 may have.
func (x *prepared) roots() []plan.Range {
	g := &x.steps[0].groups[0]
	if g.ranges != nil {
		return g.ranges
	}
	return []plan.Range{{First: g.one.First, End: max(g.one.First, g.one.End)}}
}

// refused returns why a GPU does not run the steps, if it does not.
func (x *prepared) refused() error {
	if c := conditions(x.p); x.p.Rooted && len(c) > 0 {
		return plan.Refusef("counts per vertex on GPUs do not test %s", c[0].Text)
	}
	for i := range x.steps {
		if len(x.steps[i].Close) > maxEdges {
			return plan.Refusef("an elimination of more than %d edges, which joins on GPUs do not look for", maxEdges)
		}
		for k := range x.steps[i].groups {
			if g := &x.steps[i].groups[k]; len(g.With) >= maxBacks {
				return plan.Refusef("a vertex has more than %d edges to those before it, which joins on GPUs do not look up", maxBacks)
			}
		}
	}
	return nil
}

// conditions are those of the plan over several vertices. Kernels do not test them: rows are tested as they
// come to the host.
func conditions(p *plan.Plan) (all []plan.Check) {
	for l := range p.Levels {
		all = append(all, p.Levels[l].Checks...)
	}
	return all
}

// keep returns whether a row by pattern vertex fulfils the plan's conditions; nil: there are none.
func keep(p *plan.Plan) func(row []uint32) bool {
	checks := conditions(p)
	if len(checks) == 0 {
		return nil
	}
	edges := make([]uint64, len(p.Edges)) // which they do not read
	return func(row []uint32) bool {
		var m [maxLevels]uint32
		for v, l := range p.LevelOf {
			m[l] = row[v]
		}
		for i := range checks {
			if !checks[i].Eval(m[:], edges) {
				return false
			}
		}
		return true
	}
}

// steps is the plan's phases in device memory.
type devicePlan struct {
	lists, roots uint64 // addresses
	sum          uint64
	step         []uint64
	filters      []filtering
}

// upload brings the phases onto a device.
func (x *prepared) upload(e *session.Exec, g *globals) (devicePlan, error) {
	var b packed
	lists := make([]deviceLists, len(g.lists))
	for i := range lists {
		lists[i] = g.lists[i].on(e)
	}
	out := devicePlan{lists: pack(&b, lists), roots: pack(&b, x.roots())}
	var err error
	if out.filters, err = x.filters(e, g, &b, out.lists); err != nil {
		return out, err
	}
	filtered := map[*group]uint64{} // where their candidates are
	for i := range out.filters {
		filtered[out.filters[i].group] = out.filters[i].args.Out
	}
	steps := make([]deviceStep, len(x.steps))
	var ranges []*uint64 // addresses to be completed
	packRanges := func(d *deviceGroup, c *group) {
		if c.ranges != nil {
			d.Ranges = pack(&b, c.ranges)
			ranges = append(ranges, &d.Ranges)
		}
	}
	for i := range x.steps {
		from, to := &x.steps[i], &steps[i]
		for k := range min(len(from.groups), len(to.Group)) { // a tail has more, which its blocks have
			to.Group[k] = x.deviceGroup(&from.groups[k], e, g, filtered)
			packRanges(&to.Group[k], &from.groups[k])
		}
		for k, l := range from.levels {
			to.At[k] = deviceLevel{Level: uint32(l.level), Group: uint32(l.group), Below: mask(l.below), Above: mask(l.above), Distinct: mask(l.distinct)}
		}
		for k, c := range from.Close {
			to.Edge[k] = uint32(c.Adj)<<11 | uint32(c.Level)<<6 | uint32(c.Back.Level)<<1 | number(c.Neg)
		}
		to.Levels, to.Edges = uint32(len(from.levels)), uint32(len(from.Close))
	}
	var tail deviceTail
	var blocks []deviceGroup
	if x.closing != nil {
		tail = x.closing.tail
		blocks = make([]deviceGroup, len(x.closing.blocks))
		for i, c := range x.closing.blocks {
			blocks[i] = x.deviceGroup(c, e, g, filtered)
			packRanges(&blocks[i], c)
		}
		tail.Term, tail.Blocks, tail.Terms = pack(&b, x.closing.terms), uint32(len(blocks)), uint32(len(x.closing.terms))
		ranges = append(ranges, &tail.Term)
	}
	memory, err := e.Scratch("the phases of a join", int64(8*len(b.words))+int64(len(steps))*int64(unsafe.Sizeof(deviceStep{}))+
		int64(len(blocks))*int64(unsafe.Sizeof(deviceGroup{}))+int64(unsafe.Sizeof(tail)))
	if err != nil {
		return out, err
	}
	for i := range out.filters {
		f := &out.filters[i].args
		ranges = append(ranges, &f.Ranges, &f.Lists, &f.Want)
	}
	for _, at := range append(ranges, &out.lists, &out.roots) {
		*at += memory.Ptr
	}
	tail.Block = memory.Ptr + pack(&b, blocks)
	out.sum = memory.Ptr + pack(&b, []deviceTail{tail})
	at := pack(&b, steps)
	for i := range steps {
		out.step = append(out.step, memory.Ptr+at+uint64(i)*uint64(unsafe.Sizeof(deviceStep{})))
	}
	return out, cuda.Upload(e.Context(), memory, 0, b.words)
}

func (x *prepared) deviceGroup(c *group, e *session.Exec, g *globals, filtered map[*group]uint64) deviceGroup {
	d := deviceGroup{
		First: c.one.First, End: c.one.End, Below: mask(c.below), Above: mask(c.above), Distinct: mask(c.distinct),
		MinDegree: uint32(c.minDegree), DegreeAdj: uint32(c.MinDegreeAdj), RangesN: uint32(len(c.ranges)),
	}
	if at, ok := filtered[c]; ok { // ranges and degrees are tested there
		d.Bits, d.RangesN, d.MinDegree = at, 0, 0
	} else if len(c.bits) > 0 {
		d.Bits = e.Address(g.bits[&c.bits[0]], emit.Words)
	}
	if len(c.all) > 0 {
		d.All, d.AllN = e.Address(g.all[&c.all[0]], emit.IDs), uint32(len(c.all))
	}
	backs := c.With
	if !c.Free() {
		backs = append([]plan.Back{c.From}, c.With...)
	}
	for i, b := range backs {
		d.Back[i] = uint32(b.Adj)<<8 | uint32(b.Level)<<1 | number(b.Neg)
	}
	d.Backs = uint32(len(backs))
	return d
}

// mask is a set of levels.
func mask(levels []int) (m uint32) {
	for _, l := range levels {
		m |= 1 << l
	}
	return m
}

// packed is data for one array in device memory.
type packed struct{ words []uint64 }

// pack adds rows, and returns where they begin.
func pack[T any](b *packed, rows []T) uint64 {
	at := len(b.words)
	if len(rows) == 0 {
		return uint64(8 * at)
	}
	bytes := uintptr(len(rows)) * unsafe.Sizeof(rows[0])
	b.words = append(b.words, make([]uint64, (bytes+7)/8)...)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&b.words[at])), bytes), unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), bytes))
	return uint64(8 * at)
}
