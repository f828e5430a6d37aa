package join

import (
	"context"

	"github.com/weftgraph/weft/internal/graph"
	"github.com/weftgraph/weft/internal/graph/layout"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/setops"
	"github.com/weftgraph/weft/internal/vfs"
)

// lists are the neighbour lists of a plan in one layout. Vertices have the layout's ids, which may
// differ from the graph's.
type lists interface {
	// in returns the neighbours x of v in relation adj with lo ≤ x < hi, ascending. They are valid
	// until scratch is used again.
	in(adj int, v, lo, hi uint32, scratch *graph.Scratch) []uint32
	// has reports whether v is in u's list.
	has(adj int, u, v uint32) bool
	// degree returns the length of v's list.
	degree(adj int, v uint32) int
}

// handles are the graph's own lists.
type handles []plan.Adjacency

func (h handles) in(adj int, v, lo, hi uint32, scratch *graph.Scratch) []uint32 {
	return h[adj].Lists.ListIn(v, lo, hi, scratch)
}
func (h handles) has(adj int, u, v uint32) bool { return h[adj].Lists.Has(u, v) }
func (h handles) degree(adj int, v uint32) int  { return h[adj].Lists.Degree(v) }

// partitions are the lists of those relations that the plan reads, in the layout of partitions by label; the others
// are nil.
type partitions []layout.Partition

func (x partitions) in(adj int, v, lo, hi uint32, _ *graph.Scratch) []uint32 {
	return plan.Within(x[adj].List(v), lo, hi)
}
func (x partitions) has(adj int, u, v uint32) bool { return setops.Contains(x[adj].List(u), v) }
func (x partitions) degree(adj int, v uint32) int  { return len(x[adj].List(v)) }

// labelsKey is the key under which a graph keeps its partitions.
type labelsKey layout.Kind

// openPartitions returns the partitions that a plan names, and the renumbering of their vertices or
// nil. The warning is about the files of partitions next to the graph file. Relations of several labels, of
// all edges, or of edges under conditions are laid out as those of one label are.
func openPartitions(ctx context.Context, g *graph.Graph, p *plan.Plan, kind layout.Kind, threads int, levels bool) (x partitions, ids *layout.Renumbering, warning string, err error) {
	if g.Stored != nil {
		return nil, nil, "", plan.Refusef("label partitions are made of the graph's edge table, and the lists are stored in another way")
	}
	read := readLists(p, levels)
	kept, err := g.Derived(ctx, labelsKey(kind), func() (any, error) {
		l, w, err := layout.Open(ctx, vfs.From(ctx), g.FileName(), g, kind, 0, threads)
		warning = w
		return l, err
	})
	if err != nil {
		return nil, nil, warning, err
	}
	l := kept.(*layout.Labels)
	var keys []layout.Key
	for i := range p.Adjs {
		if read[i] && p.Adjs[i].Only != nil {
			keys = append(keys, keyOf(g, p.Adjs[i].Only))
		}
	}
	parts, w, err := l.Partitions(ctx, vfs.From(ctx), threads, keys...)
	if warning != "" && w != "" {
		warning += "; "
	}
	if warning += w; err != nil {
		return nil, nil, warning, err
	}
	x = make(partitions, len(p.Adjs))
	for i := range x {
		switch {
		case !read[i]:
		case p.Adjs[i].Only != nil:
			x[i], parts = parts[0], parts[1:]
		default:
			if x[i], err = l.Relation(ctx, p.Adjs[i].Lists, threads); err != nil {
				return nil, nil, warning, err
			}
		}
	}
	return x, l.Renumbering, warning, nil
}

// readLists reports, for each of a plan's relations, whether a join reads its lists. A plan also has
// the same edges seen from their other ends. With levels, least degrees are tested that follow from
// the edges to earlier vertices.
func readLists(p *plan.Plan, levels bool) []bool {
	read := make([]bool, len(p.Adjs))
	for l := range p.Levels {
		lv := &p.Levels[l]
		for _, b := range lv.Back {
			read[b.Adj] = true
		}
		if p.NeedsDegree(l) || levels && lv.MinDegree > 0 {
			read[lv.MinDegreeAdj] = true
		}
	}
	return read
}

// keyOf names the partition that has the edges of a label.
func keyOf(g *graph.Graph, only *plan.EdgeLabel) layout.Key {
	side := layout.Out
	switch {
	case only.Both || !g.Directed:
		side = layout.Both
	case only.In:
		side = layout.In
	}
	return layout.Key{Label: only.Label, Side: side}
}

// renumber returns a bitmap over new ids of the vertices in one over the graph's.
func renumber(bits []uint64, ids *layout.Renumbering) []uint64 {
	if ids == nil || bits == nil {
		return bits
	}
	out := make([]uint64, len(bits))
	for id, v := range ids.Old {
		out[id/64] |= bits[v/64] >> (v % 64) & 1 << (id % 64)
	}
	return out
}
