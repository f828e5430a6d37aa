package lower

import (
	"fmt"
	"math"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// STMatch (Wei and Jiang, SC 2022) has one kernel for all plans, and passes it the set program as a
// table. Its row_ptr says which sets a level makes, and its set_ops how each is made. Table writes such
// a table as limits of the program, which kernels have in constant memory. stack/table.cuh reads it
// and describes the words.

// Numbers of words of a node and of a level in the table.
const (
	tableNode  = 9
	tableLevel = 11
)

// maxTable is the most words of a table: a kernel's parameters have 4 KiB.
const maxTable = 900

// Table lowers p for stack/table.cuh. The program has no functions, and its last limits are the table.
// The kernel visits every match, because there is no tail. The error is a plan.Refusal that names the
// part of the plan that a table cannot hold.
func Table(p *plan.Plan, o Options) (*Code, error) {
	if err := plain(p, "a table"); err != nil {
		return nil, err
	}
	if err := OneRun(p, "a table"); err != nil {
		return nil, err
	}
	for l := 1; l < len(p.Levels); l++ {
		if p.Levels[l].Set < 0 {
			return nil, plan.Refusef("a table needs a set for every level, and %s has none", plan.LevelNames(p)[l])
		}
	}
	o.View, o.Counting = Sets, false
	x := newLowering(p, o)
	x.root()
	x.prog.Funcs, x.prog.Owners = nil, nil
	x.stateRecord()
	t := &table{x: x}
	t.write()
	if len(t.words) > maxTable {
		return nil, plan.Refusef("the plan's table has %d words, and at most %d are allowed", len(t.words), maxTable)
	}
	x.out.Sets = SetsCode{Lazy: !o.Roomy, First: x.firstAdj(), Table: x.prog.NumGlobals(kir.U32)}
	for i, w := range t.words {
		x.prog.AddGlobal(&kir.GlobalDef{Name: fmt.Sprintf("table %d", i), Kind: kir.U32, Value: w})
	}
	return x.code(), nil
}

// table writes a table: first row_ptr, then nodes, levels and ranges.
type table struct {
	x      *lowering
	words  []uint32
	ranges []uint32
}

func (t *table) write() {
	x := t.x
	node := 0
	for l := range x.p.Levels {
		for node < len(x.nodes) && x.nodes[node].At < l {
			node++
		}
		t.words = append(t.words, uint32(node))
	}
	t.words = append(t.words, uint32(len(x.nodes)))
	for i := range x.nodes {
		n := &x.nodes[i]
		b := x.nodeBounds(i)
		t.words = append(t.words, uint32(n.Op), uint32(max(n.Base, 0)), uint32(n.Adj), uint32(n.Of), uint32(n.slot), mask(b.below), mask(b.above))
		t.limits(b)
	}
	at := len(t.words) + tableLevel*len(x.p.Levels)
	for l := range x.p.Levels {
		lv := &x.p.Levels[l]
		b := x.levelBounds(l, l)
		bits := uint32(0)
		if lv.Bits != nil {
			bits = uint32(x.bitsOf(lv.Bits, "bits of "+x.names[l]).Index) + 1
		}
		degree := uint32(0)
		if x.testsDegree(l) {
			degree = uint32(lv.MinDegree)
		}
		t.words = append(t.words, uint32(max(x.p.Levels[l].Set, 0)), mask(b.below), mask(b.above))
		t.limits(b)
		first, n := t.rangesOf(l)
		t.words = append(t.words, mask(lv.Distinct), bits, degree, uint32(lv.MinDegreeAdj), uint32(at)+first, n)
	}
	t.words = append(t.words, t.ranges...)
}

// limits adds the two ends of b's range of ids, first ≤ v < end.
func (t *table) limits(b bounds) {
	first, end := uint32(0), uint32(math.MaxUint32)
	if b.first != nil {
		first = b.first.Value
	}
	if b.end != nil {
		end = b.end.Value
	}
	t.words = append(t.words, first, end)
}

// rangesOf adds level l's ranges of ids. Candidates of level 0 are taken from them; those of other
// levels are tested for them.
func (t *table) rangesOf(l int) (first, n uint32) {
	first = uint32(len(t.ranges))
	if l == 0 {
		for _, r := range t.x.roots {
			t.ranges = append(t.ranges, r[0].Value, r[1].Value)
		}
	} else if rs := t.x.p.Levels[l].Ranges; len(rs) > 1 {
		for _, r := range rs {
			t.ranges = append(t.ranges, r.First, r.End)
		}
	}
	return first, (uint32(len(t.ranges)) - first) / 2
}

// mask returns a set of levels, by bits.
func mask(levels []int) (m uint32) {
	for _, l := range levels {
		m |= 1 << l
	}
	return m
}
