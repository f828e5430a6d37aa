package join

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/weftgraph/weft/internal/cuda"
	"github.com/weftgraph/weft/internal/cuda/session"
	"github.com/weftgraph/weft/internal/disk"
	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/option"
	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/lower"
	"github.com/weftgraph/weft/internal/memory"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
	"github.com/weftgraph/weft/internal/vfs"
)

// outOfCore returns the plan prepared for a join out of core. It fails with a SpillError if the caller has named a folder for
// files in which none can be made.
func (x *onGPU) outOfCore(ctx context.Context, g *graph.Graph, p *plan.Plan, o engine.Options, v option.Values, w way) (*onGPU, error) {
	out := &onGPU{s: x.s, listing: x.listing, memory: x.memory}
	w.segments, w.extend = true, "single"
	var err error
	if out.prepared, err = prepare(ctx, g, p, o, v, w); err != nil || p.Empty != nil {
		return out, err
	}
	if err := out.refused(); err != nil {
		return nil, err
	}
	if o.Spill != "" {
		if err := disk.CheckFolder(vfs.From(ctx), o.Spill); err != nil {
			return nil, &SpillError{o.Spill, err}
		}
	}
	if out.steps[len(out.steps)-1].Pattern == phases.Sizes {
		out.tail = newTail(p)
	}
	out.nest = v.Text("join.nested")
	out.shorter = uint64(v.Number("join.shorter"))
	segments := v.Number("join.segments")
	out.cutRelations(segments, v.Number("join.held"))
	if segments == 0 {
		out.notes = append(out.notes, "the graph does not fit the memory of the GPU, so it was joined out of core, in segments: "+out.out.String())
	}
	return out, nil
}

// cutRelations cuts the relations that the steps read into segments. segments is how many the largest is to have, and held is how many
// are on the device; 0: as many as necessary, and as have room.
func (x *onGPU) cutRelations(segments, held int) {
	x.relations = make([]*relation, len(x.p.Adjs))
	parts, _ := x.lists.(partitions)
	var relations []*relation
	had, names := map[any]*relation{}, map[*relation]string{}
	for i := range x.steps {
		for k := range x.steps[i].groups {
			for _, b := range x.steps[i].groups[k].backs() {
				if x.relations[b.Adj] != nil {
					continue
				}
				var key any = x.p.Adjs[b.Adj].Lists
				var part layout.Partition
				if parts != nil {
					part = parts[b.Adj]
					key = part
				}
				r := had[key]
				if r == nil {
					r = x.keptRelation(x.p.Adjs[b.Adj].Lists, part)
					had[key], names[r] = r, x.p.Adjs[b.Adj].Name
					relations = append(relations, r)
				}
				x.relations[b.Adj] = r
			}
		}
	}
	x.probing()
	p := x.planOut(x.s.Memory(), append(slices.Clone(relations), x.free...), segments, held, x.batch)
	x.out = &p
	if p.fits(x.s) != nil {
		return
	}
	for _, r := range x.free {
		r.cut(p.room, 1)
	}
	for _, r := range relations {
		least := 1
		if r.bytes() == p.largest {
			least = segments
		}
		x.keptCut(r, p.room, least)
		p.segments = max(p.segments, len(r.segments))
		most := int64(0)
		for _, s := range r.segments {
			most = max(most, s.bytes)
		}
		p.relations = append(p.relations, fmt.Sprintf("%s: %d entries in segments of at most %s, number of segments %d", names[r], r.off[len(r.off)-1], memory.Text(uint64(most)), len(r.segments)))
	}
}

// relationOf is the name of a relation in a session, not cut; and cutOf of its segments.
type (
	relationOf struct{}
	cutOf      struct {
		room  int64
		least int
	}
)

// keptRelation is newRelation. The session keeps what it has found out for later plans.
func (x *onGPU) keptRelation(h *graph.Handle, part layout.Partition) *relation {
	of := lower.Identity(h, 0)
	switch {
	case part != nil && h.Kept:
		of = kir.Identity{ID: part.ID()}
	case h.InParts():
		of = kir.Identity{}
	}
	r := keptOf(x, of, relationOf{}, func() (*relation, int64) {
		r := newRelation(h, part)
		r.of, r.size = of, r.bytes()
		if part != nil {
			return r, int64(8 * len(r.off))
		}
		return r, 0
	})
	own := *r // which is cut
	return &own
}

// keptCut is cut, which the session keeps.
func (x *onGPU) keptCut(r *relation, room int64, least int) {
	r.segments = keptOf(x, r.of, cutOf{room, least}, func() ([]segment, int64) {
		all := r.pieced(room, least)
		return all, int64(unsafe.Sizeof(segment{})) * int64(len(all))
	})
}

// keptOf is a value that the session keeps for the plan's graph.
func keptOf[T any](x *onGPU, of kir.Identity, what any, compute func() (T, int64)) T {
	v, _ := x.s.Value(x.g, of, what, func() (any, int64, error) { v, bytes := compute(); return v, bytes, nil })
	return v.(T)
}

// outJob is the plan for the session, out of core.
func (x *onGPU) outJob() *session.Job {
	n := x.rootCount()
	return &session.Job{
		Name: Name, Source: cuda.Source{Name: "join_segments.cu", Text: segmentsText}, Program: &kir.Program{Name: "join"},
		Tasks: n, Chunk: uint32(max(min(n/uint64(8*len(x.s.Devices())), 1<<22), 1<<10)),
	}
}

// runOut is a run out of core.
func (r *gpuRun) runOut(ctx context.Context, j *session.Job) (engine.Result, error) {
	x := r.onGPU
	if err := x.out.fits(x.s); err != nil {
		return engine.Result{Engine: Name, Device: x.s.String()}, err
	}
	goal := r.Goal
	o := r.newOutRun(ctx, *x.out)
	defer o.store.close()
	r.Goal.PerRoot, r.Goal.Progress = nil, nil // the host adds them up, and has more to say
	j.Start = o.start
	res, _, err := r.Do(ctx, j)
	if !r.listing {
		res.Matches = o.total.N
		if o.total.Over && err == nil {
			err = engine.ErrOverflow
		}
		if limit := engine.U64(uint64(max(goal.Limit, 0))); goal.Limit > 0 && res.Matches.Cmp(limit) >= 0 {
			res.Matches, res.Complete = limit, false
		}
	}
	copy(goal.PerRoot, o.perRoot)
	res.Notes = append(res.Notes, x.notes...)
	res.Stats = append(res.Stats, o.outStats()...)
	res.Stats = append(res.Stats, r.ran())
	res.Filters = r.pruned
	if x.o.Levels {
		res.Levels = make([]engine.LevelStat, len(x.p.Levels))
		for l := range res.Levels {
			res.Levels[l].Matches = engine.U64(o.visits[l])
		}
		res.Levels[len(res.Levels)-1].Matches = res.Matches
	}
	return res, err
}
