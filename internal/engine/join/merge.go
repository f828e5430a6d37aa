package join

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
)

// Counts with shared sub-results. Rows that no later phase can tell apart have the same further matches. A merge makes one row of them,
// with the sum of the numbers of partial matches that they stand for: their weights. Whatever the number of matches, later phases have
// no more rows than there are assignments of the vertices with neighbours to come.

// A merge is expected to pay where mergedLeast rows come to it, of which it leaves one in mergedPays or fewer. From surelyMerged levels on,
// of a pattern with labels, estimates are not believed: they were too low by factors of hundreds, and the number of rows that a merge
// leaves is bounded.
const (
	mergedLeast  = 1 << 14
	mergedPays   = 2
	surelyMerged = 8
)

// hostMerged and gpuMerged are how many times as many rows the table of a merge has as others, on the processor and on GPUs. Rows that
// are equal become one row only while the first of them is in the table.
const (
	hostMerged = 64
	gpuMerged  = 4
)

// nobody is in the place of a vertex that no later phase asks for. No vertex has this id.
const nobody = ^uint32(0)

// merges returns phases with merges where they are wanted.
func merges(p *plan.Plan, all []phases.Phase, v option.Values) []phases.Phase {
	if v.Text("join.merge") == "on" {
		return phases.Merged(p, all, func(*phases.Merging) bool { return true })
	}
	labelled := 0
	for l := range p.Levels {
		if p.Levels[l].Ranges != nil {
			labelled++
		}
	}
	surely := len(p.Levels) >= surelyMerged && 2*labelled > len(p.Levels)
	return phases.Merged(p, all, func(m *phases.Merging) bool {
		lv := &p.Levels[m.End-1]
		return lv.Rows > 0 && (surely || lv.Rows >= mergedLeast && lv.Rows >= mergedPays*lv.Left)
	})
}

// expectsMerges reports whether the model of the graph was asked how many rows merges leave.
func expectsMerges(p *plan.Plan) bool { return p.Levels[len(p.Levels)-1].Rows > 0 }

// merging is a step that merges, with what can be worked out before a run.
type merging struct {
	keys []int // the levels that rows are compared by, ascending
	bars []bar
	// sorted are runs of bars, from the first to before the second, whose vertices are sorted.
	sorted [][2]int
}

// bar is a phases.Bar with the tests that tell whether a later level may have the same vertex: those that are known by now.
type bar struct {
	level int
	of    []*group
}

// newMerging makes the merging of a phase. The groups are those of later steps, in the order of their levels.
func (x *prepared) newMerging(of *phases.Merging, later []step) *merging {
	m := &merging{keys: slices.Clone(of.Live)}
	known := map[int]*group{}
	for i := range later {
		for k := range later[i].groups {
			for _, l := range later[i].groups[k].Levels {
				known[l] = x.known(&later[i].groups[k], l, of.End)
			}
		}
	}
	for i, b := range of.Bars {
		m.keys = append(m.keys, b.Level)
		y := bar{level: b.Level}
		for _, l := range b.Of {
			y.of = append(y.of, known[l])
		}
		m.bars = append(m.bars, y)
		if i > 0 && slices.Equal(b.Of, of.Bars[i-1].Of) {
			m.sorted[len(m.sorted)-1][1]++
		} else {
			m.sorted = append(m.sorted, [2]int{i, i + 1})
		}
	}
	m.sorted = slices.DeleteFunc(m.sorted, func(r [2]int) bool { return r[1]-r[0] < 2 })
	slices.Sort(m.keys)
	return m
}

// known is a group with what says before level `end` is matched whether a vertex may be that of level l.
func (x *prepared) known(of *group, l, end int) *group {
	g := *of
	lv := &x.p.Levels[l]
	before := func(levels []int) (out []int) {
		for _, j := range levels {
			if j < end {
				out = append(out, j)
			}
		}
		return out
	}
	g.Levels, g.Inside, g.With, g.From = []int{l}, nil, nil, plan.Back{Level: -1}
	for _, b := range lv.Back {
		if b.Level < end {
			g.With = append(g.With, b)
		}
	}
	g.below, g.above, g.distinct, g.all, g.queries = before(lv.Below), before(lv.Above), nil, nil, nil
	return &g
}

// admits reports whether v may be the vertex of a later level, by what is known of it. Device twin: join_admits.
func (x *group) admits(in lists, m []uint32, v uint32) bool {
	if v < x.one.First || v >= x.one.End || !x.allows(in, v) {
		return false
	}
	for _, j := range x.below {
		if v >= m[j] {
			return false
		}
	}
	for _, j := range x.above {
		if v <= m[j] {
			return false
		}
	}
	for _, b := range x.With {
		if in.has(b.Adj, m[b.Level], v) == b.Neg {
			return false
		}
	}
	return true
}

// forget writes nobody for those vertices of a row that bar no later one, and sorts those whose order says nothing. Device twin:
// join_forget.
func (m *merging) forget(in lists, row []uint32) {
	for i := range m.bars {
		b := &m.bars[i]
		v := row[b.level]
		if v != nobody && !slices.ContainsFunc(b.of, func(g *group) bool { return g.admits(in, row, v) }) {
			row[b.level] = nobody
		}
	}
	for _, r := range m.sorted {
		for i := r[0] + 1; i < r[1]; i++ {
			for j := i; j > r[0] && row[m.bars[j].level] < row[m.bars[j-1].level]; j-- {
				a, b := m.bars[j-1].level, m.bars[j].level
				row[a], row[b] = row[b], row[a]
			}
		}
	}
}

// mix is a step of a hash of ids. Device twin: join_mix.
func mix(h uint64, v uint32) uint64 {
	h = (h ^ uint64(v)) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// laxShare and hostLax are for merges that gain nothing: rows are not compared any more in one that has left more than one in laxShare
// rows, of hostLax batches and more on the processor, and of a sixteenth of a table on GPUs.
const (
	laxShare = 1.1
	hostLax  = 16
)

// lax reports whether a merge that has left so many of the rows that came to it goes on without. It needs `least` rows to tell.
func lax(came, left, least uint64) bool {
	return came >= least && float64(left)*laxShare > float64(came)
}

// merged is the table of a merge, of one worker: distinct rows, found by their keys.
type merged struct {
	slots []uint32 // 1 + the number of a row; 0: none
	came  uint64   // rows
	lax   bool     // rows are not compared
}

// leastSlots is the number of slots that a table of merged rows begins with: two for each row.
const leastSlots = 2 * firstRows

// merge adds a row of weight n to the table of step i, which merges.
func (w *worker) merge(i int, m *[maxLevels]uint32, n engine.Tally) {
	s, pt := &w.steps[i], &w.parts[i]
	var own [maxLevels]uint32
	row := own[:copy(own[:s.after], m[:s.after])]
	if pt.merged == nil {
		pt.merged = &merged{}
		w.widen(pt, s)
	}
	if pt.merged.came++; pt.merged.lax {
		w.append(pt, row, n, w.batch)
		if len(pt.weights) >= w.batch {
			w.flush(i)
		}
		return
	}
	s.merging.forget(w.lists, row)
	at, found := pt.merged.find(s, pt.table, row)
	if found {
		k := pt.merged.slots[at] - 1
		if pt.weights[k] = pt.weights[k].Plus(n); pt.weights[k].Over {
			w.queue.Fail(engine.ErrOverflow)
		}
		return
	}
	if rows := len(pt.weights); 2*(rows+1) > len(pt.merged.slots) {
		w.widen(pt, s)
		at, _ = pt.merged.find(s, pt.table, row)
	}
	w.append(pt, row, n, hostMerged*w.batch)
	pt.merged.slots[at] = uint32(len(pt.weights))
	pt.merged.lax = lax(pt.merged.came, pt.made, uint64(hostLax*w.batch))
	if len(pt.weights) == hostMerged*w.batch {
		w.flush(i)
	}
}

// append adds a row to a table of at most so many.
func (w *worker) append(pt *part, row []uint32, n engine.Tally, most int) {
	if len(pt.table) == cap(pt.table) {
		w.grow(pt, len(row), most, true)
	}
	pt.table = append(pt.table, row...)
	pt.weights = append(pt.weights, n)
	pt.made++
	w.hold(len(row))
}

// find returns the slot of the row that is equal to one in a step's keys, or a free slot.
func (t *merged) find(s *step, table, row []uint32) (at int, found bool) {
	h := uint64(0)
	for _, k := range s.merging.keys {
		h = mix(h, row[k])
	}
next:
	for at = int(h>>32) & (len(t.slots) - 1); t.slots[at] != 0; at = (at + 1) & (len(t.slots) - 1) {
		other := table[int(t.slots[at]-1)*s.after:]
		for _, k := range s.merging.keys {
			if other[k] != row[k] {
				continue next
			}
		}
		return at, true
	}
	return at, false
}

// widen makes more slots for the table of a step.
func (w *worker) widen(pt *part, s *step) {
	n := max(4*len(pt.merged.slots), leastSlots)
	n = min(n, 1<<bits.Len(uint(2*hostMerged*w.batch)))
	w.took("slots of merged rows", 4*n)
	pt.merged.slots = make([]uint32, n)
	for k := range pt.weights {
		row := pt.table[k*s.after : (k+1)*s.after]
		at, _ := pt.merged.find(s, pt.table, row)
		pt.merged.slots[at] = uint32(k + 1)
	}
}

// rowBytes is the memory of a batch of step i's table for each of its rows, with their weights and, of a merge, for all rows that its
// table has in place of one, with their slots.
func (x *prepared) rowBytes(i int) int {
	s := &x.steps[i]
	row := 4 * s.after
	if s.weighs {
		row += int(unsafe.Sizeof(engine.Tally{}))
	}
	if s.merging != nil {
		row = hostMerged * (row + 4*2*2)
	}
	return row
}

// merges reports whether some step merges.
func (x *prepared) merges() bool {
	return slices.ContainsFunc(x.steps, func(s step) bool { return s.merging != nil })
}
