package layout

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/weftgraph/weft/internal/graph"
)

// group is the vertices of one class that have one share set: that are in the same
// partitions. GENEVA calls it a sub-partition.
type group struct {
	set      []uint32 // the numbers of the partitions, ascending
	vertices []uint32 // ascending
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
		marks := s.newMarks()
		for v := lo; v < hi; v++ {
			set = s.of(v, set[:0], marks)
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

// partitions returns the number of partitions.
func (s *shareSets) partitions() int { return s.r.Labels() * s.ends() }

// ends returns the number of ends of an edge that are in different partitions.
func (s *shareSets) ends() int {
	if s.r.g.Directed {
		return 2
	}
	return 1
}

// maxMarks is the most words of marks. With more of them, sorting a set is faster than looking at all marks.
const maxMarks = 64

// newMarks returns memory for of: a bit for each partition, or nil where there are too many of them.
func (s *shareSets) newMarks() []uint64 {
	if words := (s.partitions() + 63) / 64; words <= maxMarks {
		return make([]uint64, words)
	}
	return nil
}

// of adds v's partitions to set, ascending, each once. Marks are zero before and after.
func (s *shareSets) of(v uint32, set []uint32, marks []uint64) []uint32 {
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
	ends := uint32(s.ends())
	t := g.Edges
	out, in := t.Label[t.Off[v]:t.Off[v+1]], s.to[s.off[v]:s.off[v+1]]
	if marks == nil {
		first := len(set)
		for _, l := range out {
			set = append(set, (l+1)*ends)
		}
		for _, l := range in {
			set = append(set, (l+1)*ends+ends-1)
		}
		slices.Sort(set[first:])
		return set[:first+len(slices.Compact(set[first:]))]
	}
	for _, l := range out {
		p := (l + 1) * ends
		marks[p/64] |= 1 << (p % 64)
	}
	for _, l := range in {
		p := (l+1)*ends + ends - 1
		marks[p/64] |= 1 << (p % 64)
	}
	for i, w := range marks {
		for ; w != 0; w &= w - 1 {
			set = append(set, uint32(64*i+bits.TrailingZeros64(w)))
		}
		marks[i] = 0
	}
	return set
}

// bucketBits is the number of leading bits of hashes by which vertices are put into buckets. The groups of
// one bucket have no vertex in another, so that threads find those of different buckets.
const bucketBits = 8

// groups returns the groups of the vertices of a class, in an order that does not depend on the number of threads.
func (s *shareSets) groups(ctx context.Context, c graph.Class, threads int) ([]group, error) {
	const shift = 64 - bucketBits
	var end [1<<bucketBits + 1]uint64
	for _, h := range s.hash[c.First:c.End] {
		end[h>>shift+1]++
	}
	for b := range end[1:] {
		end[b+1] += end[b]
	}
	at := end
	sorted := make([]uint32, c.End-c.First) // by bucket, then ascending
	for i, h := range s.hash[c.First:c.End] {
		b := h >> shift
		sorted[at[b]] = c.First + uint32(i)
		at[b]++
	}
	var found [1 << bucketBits][]group
	err := graph.Parallel(ctx, end[:], threads, func(lo, hi uint32) {
		marks := s.newMarks()
		for b := lo; b < hi; b++ {
			found[b] = s.bucket(sorted[end[b]:end[b+1]], marks)
		}
	})
	return slices.Concat(found[:]...), err
}

// bucket returns the groups of some vertices, in the order of their first vertices.
func (s *shareSets) bucket(vertices []uint32, marks []uint64) []group {
	at := map[uint64]uint32{} // the group of a hash
	var size []uint32         // of each group
	of := make([]uint32, len(vertices))
	var sets []uint32 // one after the other
	ends := []int{0}
	for i, v := range vertices {
		k, had := at[s.hash[v]]
		if !had {
			k = uint32(len(size))
			at[s.hash[v]] = k
			size = append(size, 0)
			sets = s.of(v, sets, marks)
			ends = append(ends, len(sets))
		}
		of[i] = k
		size[k]++
	}
	groups := make([]group, len(size))
	room := make([]uint32, len(vertices))
	for k, n := range size {
		groups[k] = group{set: sets[ends[k]:ends[k+1]:ends[k+1]], vertices: room[:0:n]}
		room = room[n:]
	}
	for i, v := range vertices {
		g := &groups[of[i]]
		g.vertices = append(g.vertices, v)
	}
	return groups
}
