package layout

import (
	"context"
	"slices"

	"github.com/weftgraph/weft/internal/graph"
)

// relationKey names a state of a relation.
type relationKey struct{ id, version uint64 }

// Relation returns the lists of a relation of the graph, such as the edges of several labels or of all of
// them, in the layout of a partition and under the ids of these Labels. They are made on all threads, 0 means all cores, and
// kept as long as these Labels if the relation lasts as long as the graph. They are in no file. The
// error is ErrTooLong for 2^32 entries or more.
func (l *Labels) Relation(ctx context.Context, h *graph.Handle, threads int) (Partition, error) {
	if !h.Kept {
		return l.makeRelation(ctx, h, count(threads))
	}
	return l.relations.Get(ctx, relationKey{h.ID, h.Version}, func() (Partition, error) { return l.makeRelation(ctx, h, count(threads)) })
}

func (l *Labels) makeRelation(ctx context.Context, h *graph.Handle, threads int) (Partition, error) {
	lists, err := renumberedLists(ctx, h, l.Renumbering, threads)
	if err != nil {
		return nil, err
	}
	p, err := l.layOut(ctx, lists, threads)
	if err != nil {
		return nil, err
	}
	name(p)
	return p, nil
}

// renumberedLists returns the lists of a relation under new ids, or under the graph's if re is nil.
func renumberedLists(ctx context.Context, h *graph.Handle, re *Renumbering, threads int) (*Lists, error) {
	if uint64(h.Pairs()) >= 1<<32 {
		return nil, ErrTooLong
	}
	old := func(v uint32) uint32 {
		if re != nil {
			return re.Old[v]
		}
		return v
	}
	k := blocksOf(h.NumVertices(), threads)
	vertices := make([][]uint32, k.n)
	if err := k.each(ctx, func(b, lo, hi int) {
		for v := uint32(lo); v < uint32(hi); v++ {
			if h.Degree(old(v)) > 0 {
				vertices[b] = append(vertices[b], v)
			}
		}
	}); err != nil {
		return nil, err
	}
	l := &Lists{Vertices: slices.Concat(vertices...)}
	l.Off = make([]uint32, len(l.Vertices)+1)
	work := make([]uint64, len(l.Off)) // Off, as running sums of 64 bits
	for i, v := range l.Vertices {
		work[i+1] = work[i] + uint64(h.Degree(old(v)))
		l.Off[i+1] = uint32(work[i+1])
	}
	l.Adj = make([]uint32, work[len(work)-1])
	return l, graph.Parallel(ctx, work, threads, func(lo, hi uint32) {
		var scratch graph.Scratch
		for i := lo; i < hi; i++ {
			list := l.Adj[l.Off[i]:l.Off[i+1]]
			copy(list, h.List(old(l.Vertices[i]), &scratch))
			if re == nil {
				continue
			}
			for k, u := range list {
				list[k] = re.New[u]
			}
			slices.Sort(list)
		}
	})
}
