package graph

import (
	"context"
	"math/bits"
)

// Appending to lists all over a large CSR costs a cache miss or two an arc. So
// arcs go to buckets first, each a run of vertices whose lists fit the cache
// together, and from there to the lists (propagation blocking; Beamer, Asanović
// and Patterson, Reducing Pagerank Communication via Propagation Blocking,
// 2017). Both steps keep the order of arcs.

// bucketArcs is about how many arcs a bucket has.
const bucketArcs = 1 << 17

// buckets are runs of vertices.
type buckets struct {
	shift int
	of    []uint16 // by vertex >> shift
	lo    []uint32 // first vertex of each; one more at the end
	begin []uint64 // arcs before each; one more at the end
}

// newBuckets cuts n vertices into buckets; begin(v) is how many arcs the
// vertices before v have.
func newBuckets(n uint32, begin func(v uint32) uint64) *buckets {
	k := &buckets{shift: max(0, bits.Len32(n)-16), lo: []uint32{0}, begin: []uint64{0}}
	k.of = make([]uint16, n>>k.shift+1)
	each := max(bucketArcs, begin(n)/8192)
	for bin := range k.of {
		v := uint32(bin) << k.shift
		if at := begin(v); at-k.begin[len(k.begin)-1] >= each {
			k.lo, k.begin = append(k.lo, v), append(k.begin, at)
		}
		k.of[bin] = uint16(len(k.lo) - 1)
	}
	k.lo, k.begin = append(k.lo, n), append(k.begin, begin(n))
	return k
}

// cut returns bounds of about equal parts of buckets first … last-1.
func (k *buckets) cut(first, last, parts int) []int {
	cuts := []int{first}
	each := (k.begin[last]-k.begin[first])/uint64(parts) + 1
	for b := first + 1; b < last; b++ {
		if k.begin[b]-k.begin[cuts[len(cuts)-1]] >= each {
			cuts = append(cuts, b)
		}
	}
	return append(cuts, last)
}

// stream takes arcs for the vertices v with v-lo < span.
type stream struct {
	lo, span uint32
	shift    int
	of       []uint16
	next     []uint64 // where the next arc of each bucket goes
	arcs     []uint64
}

func (s *stream) put(v, u uint32) {
	at := &s.next[s.of[v>>s.shift]]
	s.arcs[*at] = uint64(v)<<32 | uint64(u)
	*at++
}

// appendAll appends to the lists of c: arcs is to put every arc (v, u) of its
// stream's vertices v, and u goes to the end of v's list; Off[v+1] is where that
// is. begin(v) is how many arcs the vertices before v have in all. In more than
// one round there is less room for arcs, and they are asked for more often.
func (c *CSR) appendAll(ctx context.Context, threads, rounds int, begin func(v uint32) uint64, arcs func(*stream)) error {
	k := newBuckets(uint32(c.NumVertices()), begin)
	halves := k.cut(0, len(k.lo)-1, rounds)
	for i := range len(halves) - 1 {
		if err := c.appendRound(ctx, threads, k, halves[i], halves[i+1], arcs); err != nil {
			return err
		}
	}
	return nil
}

func (c *CSR) appendRound(ctx context.Context, threads int, k *buckets, first, last int, arcs func(*stream)) error {
	base := k.begin[first]
	room := makeTemp[uint64](k.begin[last] - base)
	defer freeBig(&room)
	next := make([]uint64, last)
	for b := first; b < last; b++ {
		next[b] = k.begin[b] - base
	}
	cuts := k.cut(first, last, threads)
	err := parallel(ctx, threads, uint64(len(cuts)-1), 1, func(_ int, i, _ uint64) {
		lo, hi := k.lo[cuts[i]], k.lo[cuts[i+1]]
		arcs(&stream{lo: lo, span: hi - lo, shift: k.shift, of: k.of, next: next, arcs: room})
	})
	if err != nil {
		return err
	}
	return parallel(ctx, threads, uint64(last-first), 1, func(_ int, i, _ uint64) {
		from, to := k.begin[first+int(i)]-base, k.begin[first+int(i)+1]-base
		for _, a := range room[from:to] {
			at := &c.Off[a>>32+1]
			c.Adj[*at] = uint32(a)
			*at++
		}
		dropBig(room, from, to)
	})
}
