package join

import (
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/kir"
	emit "github.com/weftgraph/weft/internal/kir/emit/cuda"
	"github.com/weftgraph/weft/internal/plan"
)

// queries returns the signatures of a group's levels, or nil where a level asks for nothing.
func (s *signatures) queries(levels []int) (out []layout.Query) {
	if s == nil {
		return nil
	}
	for _, l := range levels {
		if len(s.pairs[l]) == 0 {
			return nil
		}
		out = append(out, s.table.NewQuery(s.pairs[l]))
	}
	return out
}

// filterArrays are the arrays that all filters of a plan read.
type filterArrays struct {
	table, ids *kir.GlobalDef
}

// filterArrays adds the arrays of filters to a program. The signature table and the ids stay on the
// device, as neighbour lists do.
func (x *prepared) filterArrays(program *kir.Program) *filterArrays {
	if x.signed == nil {
		return nil
	}
	t := x.signed.table
	a := &filterArrays{
		table: program.AddGlobal(&kir.GlobalDef{Name: "signatures", Kind: kir.Array, Adj: t.Table(), Of: kir.Identity{ID: t.ID()}}),
	}
	if x.ids != nil {
		a.ids = program.AddGlobal(&kir.GlobalDef{Name: "ids of lists by label", Kind: kir.Array, Adj: x.ids.Old, Of: kir.Identity{ID: x.ids.ID()}})
	}
	return a
}

// eachFiltered calls f with each group that devices filter.
func (x *prepared) eachFiltered(f func(c *group)) {
	for i := range x.steps {
		for k := range x.steps[i].groups {
			if c := &x.steps[i].groups[k]; c.queries != nil {
				f(c)
			}
		}
	}
}

// deviceFilter is struct JoinFilter of kernels/join/filter.cuh.
type deviceFilter struct {
	Table, IDs, Bits, Ranges, Lists, Want, Out, Counts uint64
	RangesN, MinDegree, Columns, Queries               uint32
}

// filtering is the filter of one group on a device.
type filtering struct {
	group *group
	args  deviceFilter
	bits  []*uint64 // where the address of the candidates is to be written
}

// counts are the vertices that pass a label's ranges and predicates; signatures as well; and the least
// degree as well.
type filterCounts struct{ Before, Signed, Left uint64 }

// filters adds n filters to a plan for a device.
func (x *prepared) filters(e *session.Exec, g *globals, d *devicePlan, n int) map[*group]*filtering {
	d.filters = make([]filtering, 0, n)
	of := map[*group]*filtering{}
	x.eachFiltered(func(c *group) {
		d.filters = append(d.filters, filtering{group: c})
		f := &d.filters[len(d.filters)-1]
		of[c] = f
		a := &f.args
		a.Table, a.RangesN = e.Address(g.filter.table, emit.IDs), uint32(len(c.Ranges))
		a.Columns, a.Queries = uint32(x.signed.table.Columns()), uint32(len(c.queries))
		if g.filter.ids != nil {
			a.IDs = e.Address(g.filter.ids, emit.IDs)
		}
		if c.Level.Bits != nil {
			d.keepBits(c.Level.Bits, &a.Bits)
		}
		if readLists(x.p, x.o.Levels)[c.MinDegreeAdj] {
			a.MinDegree = uint32(c.MinDegree)
		}
		var want []uint32
		for _, q := range c.queries {
			want = append(want, q.Words()...)
		}
		put(d, c.Ranges, &a.Ranges)
		put(d, want, &a.Want)
		d.filled.take(int64(8*((x.g.NumVertices()+63)/64)), &a.Out)
	})
	return of
}

// filter launches all filters.
func (t *tables) filter() error {
	filters := t.plan.filters
	if len(filters) == 0 {
		return nil
	}
	k, err := t.x.Kernel(filterKernel)
	if err != nil {
		return err
	}
	threads := blockThreads
	if t.x.Info().Emulated {
		threads = emulatedThreads
	}
	resident, err := k.Resident(threads, 0)
	if err != nil {
		return err
	}
	blocks := max(1, min(resident, (t.g.NumVertices()+threads-1)/threads))
	for i := range filters {
		f := &filters[i].args
		f.Lists = t.plan.lists + uint64(filters[i].group.MinDegreeAdj)*uint64(unsafe.Sizeof(deviceLists{}))
		f.Counts = t.memory.Ptr + uint64(t.filterCounts(i))
		t.filtered.Add(1)
		t.launched(filterKernel)
		if err := session.LaunchFixed(t.x, k, cuda.Launch{Blocks: blocks, Threads: threads}, f); err != nil {
			return err
		}
	}
	return nil
}

// filterCounts is where in the run's memory the counts of the i-th filter are.
func (t *tables) filterCounts(i int) uintptr {
	return countersAt + uintptr(len(t.steps))*unsafe.Sizeof(deviceState{}) + uintptr(i)*unsafe.Sizeof(filterCounts{})
}

// sayFiltered says how many candidates filters have left.
func (t *tables) sayFiltered() {
	left := make([][]plan.Filtered, len(t.p.Levels))
	for i := range t.plan.filters {
		got := *(*filterCounts)(unsafe.Pointer(&raw(t.counters)[t.filterCounts(i)]))
		// Levels of one group share their candidates.
		for _, l := range t.plan.filters[i].group.Levels {
			t.Stats.Add("join: signatures leave %d of %d candidates of %s", got.Signed, got.Before, t.p.Pattern.Vertices[t.p.Order[l]].Name)
			left[l] = []plan.Filtered{{Filter: "signature", Left: got.Left}}
		}
	}
	if t.x.Index() == 0 && t.o.Levels && len(t.plan.filters) > 0 {
		t.pruned = left
	}
}
