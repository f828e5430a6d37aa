package layout

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
)

// Renumbering gives vertices ids under which each partition has few runs of consecutive
// ids. It keeps the id range of each label class, so that a range of ids has the same
// vertices before and after. A nil Renumbering keeps all ids.
type Renumbering struct {
	New []uint32 // by the graph's internal id
	Old []uint32 // by the new id

	id uint64
}

// ID returns the number that copies of Old are found by, as that of a relation.
func (r *Renumbering) ID() uint64 { return r.id }

// group is the vertices of one class that have one share set: that are in the same
// partitions. GENEVA calls it a sub-partition.
type group struct {
	set      []uint32 // the numbers of the partitions, ascending by rank
	vertices []uint32
	taken    bool
}

// Renumber finds new ids by GENEVA's algorithm 2, in each label class by itself. Vertices with the same
// share set are neighbours in the new order. Sets with many partitions in common follow each other, and
// the largest partition comes first. It reads all edges, in parallel. Threads 0 means all cores.
func Renumber(ctx context.Context, r *Rows, threads int) (*Renumbering, error) {
	s, err := newShareSets(ctx, r, threads)
	if err != nil {
		return nil, err
	}
	n := r.g.NumVertices()
	re := &Renumbering{New: make([]uint32, n), Old: make([]uint32, n), id: graph.NewRelationID()}
	err = graph.Parallel(ctx, classWork(r.g), threads, func(lo, hi uint32) {
		for _, c := range r.g.Classes[lo:hi] {
			at := re.Old[c.First:c.First:c.End]
			for _, g := range chain(ctx, s.groups(c.First, c.End)) {
				at = append(at, g.vertices...)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return re, graph.Parallel(ctx, evenly(n, 1), threads, func(lo, hi uint32) {
		for i := lo; i < hi; i++ {
			re.New[re.Old[i]] = i
		}
	})
}

// classWork has the vertices of the classes as prefix sums.
func classWork(g *graph.Graph) []uint64 {
	off := make([]uint64, len(g.Classes)+1)
	for i, c := range g.Classes {
		off[i+1] = uint64(c.End)
	}
	return off
}

// shareSets finds the partitions that a vertex is in. Partitions are numbered by label
// and by end, because sources and targets of one label are different vertices.
type shareSets struct {
	r    *Rows
	off  []uint64 // of the labels of edges to each vertex
	to   []uint32
	hash []uint64 // of each vertex's set
}

func newShareSets(ctx context.Context, r *Rows, threads int) (*shareSets, error) {
	n := r.g.NumVertices()
	s := &shareSets{r: r, hash: make([]uint64, n)}
	if t := r.g.Edges; r.by != nil {
		var err error
		if s.off, s.to, err = byTarget(ctx, t, n, threads); err != nil {
			return nil, err
		}
	}
	return s, graph.Parallel(ctx, evenly(n, 1), threads, func(lo, hi uint32) {
		var set []uint32
		for v := lo; v < hi; v++ {
			set = s.of(v, set[:0])
			// Two sets with one hash would only stand in one group, where they
			// make more runs of ids.
			h := uint64(1)
			for _, p := range set {
				h = mix(h + 0x9e3779b97f4a7c15*(uint64(p)+1))
			}
			s.hash[v] = h
		}
	})
}

// mix spreads the bits of a number: the finalizer of MurmurHash3.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// byTarget returns the labels of the edges to each vertex, in any order.
func byTarget(ctx context.Context, t *graph.EdgeTable, n, threads int) (off []uint64, labels []uint32, err error) {
	const chunk = 1 << 16 // edges
	edges := func(f func(i int, v uint32)) error {
		return graph.Parallel(ctx, evenly((len(t.Dst)+chunk-1)/chunk, chunk), threads, func(lo, hi uint32) {
			first, end := int(lo)*chunk, min(int(hi)*chunk, len(t.Dst))
			for i, v := range t.Dst[first:end] {
				f(first+i, v)
			}
		})
	}
	off = make([]uint64, n+1)
	if err := edges(func(_ int, v uint32) { atomic.AddUint64(&off[v+1], 1) }); err != nil {
		return nil, nil, err
	}
	for v := range n {
		off[v+1] += off[v]
	}
	at := slices.Clone(off[:n])
	labels = make([]uint32, len(t.Dst))
	return off, labels, edges(func(i int, v uint32) { labels[atomic.AddUint64(&at[v], 1)-1] = t.Label[i] })
}

// of adds v's partitions to set, ascending, each once.
func (s *shareSets) of(v uint32, set []uint32) []uint32 {
	g := s.r.g
	if s.r.by == nil {
		if len(g.Out.List(v)) > 0 {
			set = append(set, 0)
		}
		if g.Directed && len(g.In.List(v)) > 0 {
			set = append(set, 1)
		}
		return set
	}
	ends := uint32(1)
	if g.Directed {
		ends = 2
	}
	t := g.Edges
	for _, l := range t.Label[t.Off[v]:t.Off[v+1]] {
		set = append(set, (l+1)*ends)
	}
	for _, l := range s.to[s.off[v]:s.off[v+1]] {
		set = append(set, (l+1)*ends+ends-1)
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// groups returns the groups of the vertices lo ≤ v < hi, in the order of their first vertices.
func (s *shareSets) groups(lo, hi uint32) []*group {
	var groups []*group
	at := map[uint64]*group{}
	for v := lo; v < hi; v++ {
		g := at[s.hash[v]]
		if g == nil {
			g = &group{set: s.of(v, nil)}
			at[s.hash[v]] = g
			groups = append(groups, g)
		}
		g.vertices = append(g.vertices, v)
	}
	return groups
}

// chain orders groups by the paper's algorithm 2. It changes their sets: partitions
// become their ranks, 0 for the one with most vertices. Groups that are in no partition
// come last.
func chain(ctx context.Context, groups []*group) []*group {
	size := map[uint32]uint64{}
	for _, g := range groups {
		for _, p := range g.set {
			size[p] += uint64(len(g.vertices))
		}
	}
	order := make([]uint32, 0, len(size))
	for p := range size {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	rank := make(map[uint32]uint32, len(order))
	left := make([]uint64, len(order)) // vertices of each partition that are in no ordered group
	for i, p := range order {
		rank[p], left[i] = uint32(i), size[p]
	}
	in := make([][]*group, len(order)) // the groups of each partition
	for _, g := range groups {
		for i, p := range g.set {
			g.set[i] = rank[p]
			in[rank[p]] = append(in[rank[p]], g)
		}
		slices.Sort(g.set)
	}
	done := make([]*group, 0, len(groups))
	for ctx.Err() == nil {
		largest := 0
		for p, n := range left {
			if n > left[largest] {
				largest = p
			}
		}
		if len(left) == 0 || left[largest] == 0 {
			break
		}
		part := slices.DeleteFunc(in[largest], func(g *group) bool { return g.taken })
		neighbours(ctx, part, len(order))
		for _, g := range part {
			g.taken = true
			for _, p := range g.set {
				left[p] -= uint64(len(g.vertices))
			}
		}
		done = append(done, part...)
	}
	for _, g := range groups {
		if len(g.set) == 0 {
			done = append(done, g)
		}
	}
	return done
}

// greedyWork bounds the work of the greedy order of a partition's groups, in words of
// 64 bits that are compared.
const greedyWork = 1 << 28

// neighbours orders the groups of one partition: the one with most partitions first, then
// always the one that has most in common with the last. Where there are too many
// groups for that, it orders them as sequences of bits, the largest partition's first,
// which keeps the runs of the largest partitions long.
func neighbours(ctx context.Context, part []*group, partitions int) {
	slices.SortStableFunc(part, func(a, b *group) int {
		for i, p := range a.set {
			if i == len(b.set) || p < b.set[i] {
				return -1
			}
			if p > b.set[i] {
				return 1
			}
		}
		return cmp.Compare(len(a.set), len(b.set))
	})
	words := (partitions + 63) / 64
	if len(part) < 3 || len(part)*len(part)/2*words > greedyWork {
		return
	}
	type row struct {
		*group
		bits []uint64
	}
	rows := make([]row, len(part))
	for i, g := range part {
		rows[i] = row{g, make([]uint64, words)}
		for _, p := range g.set {
			rows[i].bits[p/64] |= 1 << (p % 64)
		}
	}
	// rows[:k] are ordered.
	for k := 0; k < len(rows) && ctx.Err() == nil; k++ {
		next, most := k, -1
		for j := k; j < len(rows); j++ {
			common := len(rows[j].set)
			if k > 0 {
				common = 0
				for w, x := range rows[k-1].bits {
					common += bits.OnesCount64(x & rows[j].bits[w])
				}
			}
			if common > most {
				next, most = j, common
			}
		}
		r := rows[next]
		copy(rows[k+1:next+1], rows[k:next])
		rows[k] = r
	}
	for i, r := range rows {
		part[i] = r.group
	}
}
