package join

import (
	"errors"
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
	bits       map[int]*kir.GlobalDef // by the group's first level
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
		bits:  map[int]*kir.GlobalDef{},
	}
	if x.ids != nil {
		a.ids = program.AddGlobal(&kir.GlobalDef{Name: "ids of lists by label", Kind: kir.Array, Adj: x.ids.Old, Of: kir.Identity{ID: x.ids.ID()}})
	}
	x.eachFiltered(func(_, _ int, c *group) {
		if c.Level.Bits != nil {
			a.bits[c.Levels[0]] = program.AddGlobal(&kir.GlobalDef{Name: "predicates", Kind: kir.Bits, Words: c.Level.Bits})
		}
	})
	return a
}

// eachFiltered calls f with each group that devices filter.
func (x *prepared) eachFiltered(f func(step, k int, c *group)) {
	for i := range x.steps {
		for k := range x.steps[i].groups {
			if c := &x.steps[i].groups[k]; c.queries != nil {
				f(i, k, c)
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
}

// counts are the vertices that pass a label's ranges and predicates; signatures as well; and the least
// degree as well.
type filterCounts struct{ Before, Signed, Left uint64 }

// filters takes memory for the candidates of each group that is filtered, and says how they are made.
// Ranges, Lists and Want are places in b; lists is that of the plan's lists.
func (x *prepared) filters(e *session.Exec, g *globals, b *packed, lists uint64) (out []filtering, err error) {
	x.eachFiltered(func(_, _ int, c *group) {
		if err != nil {
			return
		}
		f := deviceFilter{
			Table: e.Address(g.filter.table, emit.IDs), Lists: lists + uint64(c.MinDegreeAdj)*uint64(unsafe.Sizeof(deviceLists{})),
			RangesN: uint32(len(c.Ranges)), Columns: uint32(x.signed.table.Columns()), Queries: uint32(len(c.queries)),
		}
		if g.filter.ids != nil {
			f.IDs = e.Address(g.filter.ids, emit.IDs)
		}
		if d := g.filter.bits[c.Levels[0]]; d != nil {
			f.Bits = e.Address(d, emit.Words)
		}
		if readLists(x.p, x.o.Levels)[c.MinDegreeAdj] {
			f.MinDegree = uint32(c.MinDegree)
		}
		var want []uint32
		for _, q := range c.queries {
			want = append(want, q.Words()...)
		}
		f.Ranges, f.Want = pack(b, c.Ranges), pack(b, want)
		words := (x.g.NumVertices() + 63) / 64
		var bits, counts cuda.Buffer
		bits, err = e.Scratch("candidates", int64(8*words))
		if err == nil {
			counts, err = e.Scratch("numbers of candidates", int64(unsafe.Sizeof(filterCounts{})))
		}
		f.Out, f.Counts = bits.Ptr, counts.Ptr
		out = append(out, filtering{c, f})
	})
	return out, err
}

// filter makes the candidates of all groups that are filtered, and says how many are left.
func (r *gpuRun) filter(e *session.Exec, filters []filtering) error {
	if len(filters) == 0 {
		return nil
	}
	k, err := e.Kernel("join_filter")
	if err != nil {
		return err
	}
	threads := blockThreads
	if e.Info().Emulated {
		threads = emulatedThreads
	}
	resident, err := k.Resident(threads, 0)
	if err != nil {
		return err
	}
	blocks := max(1, min(resident, (r.g.NumVertices()+threads-1)/threads))
	size := int64(unsafe.Sizeof(filterCounts{}))
	var errs []error
	for i := range filters {
		f := &filters[i].args
		r.filtered.Add(1)
		r.launched("join_filter")
		errs = append(errs,
			e.Context().Clear(cuda.Buffer{Ptr: f.Counts, Size: size}, e.Stream()),
			session.LaunchFixed(e, k, cuda.Launch{Blocks: blocks, Threads: threads}, f))
	}
	if err := errors.Join(append(errs, e.Stream().Synchronize())...); err != nil {
		return err
	}
	left := make([][]plan.Filtered, len(r.p.Levels))
	for i := range filters {
		got := make([]filterCounts, 1)
		if err := cuda.Download(e.Context(), got, cuda.Buffer{Ptr: filters[i].args.Counts, Size: size}, 0); err != nil {
			return err
		}
		// Levels of one group share their candidates.
		for _, l := range filters[i].group.Levels {
			r.Stats.Add("join: signatures leave %d of %d candidates of %s", got[0].Signed, got[0].Before, r.p.Pattern.Vertices[r.p.Order[l]].Name)
			left[l] = []plan.Filtered{{Filter: "signature", Left: got[0].Left}}
		}
	}
	if e.Index() == 0 && r.o.Levels {
		r.pruned = left
	}
	return nil
}
