package graph

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
)

// ranker turns raw ids into compact ones, 0 … n-1 in the order of the user's
// ids.
type ranker struct {
	n    uint64
	ids  []uint64 // raw ids in the user's order; nil: 0 … n-1 themselves
	same bool     // raw ids are the compact ones
	// loose says that some of 0 … n-1 are not vertices. The vertices have their bits set below.
	// If below is nil, they are the numbers with an edge or a self-loop, and those less than
	// known.
	loose bool
	known uint64

	// Numbers that fit a bitmap: the rank is a count of bits before.
	bit []uint64
	sum []uint32 // bits set before each word

	// Other numbers: an open hash table of mask+1 slots, each a raw id + 1, or 0 if it is empty, and
	// the rank, next to each other.
	slot []uint64
	mask uint64

	text [][]uint32 // interned strings: rank by shard and number
}

func (r *ranker) free() {
	if r == nil {
		return
	}
	freeBig(&r.ids)
	freeBig(&r.bit)
	freeBig(&r.sum)
	freeBig(&r.slot)
}

// vertices returns a bitmap of the vertices among 0 … n-1, or nil if all are vertices. It needs
// the number of edges of each and, as bits, the numbers with self-loops. It may take over these
// bits. The ranker frees the result.
func (r *ranker) vertices(loop *[]uint64, deg []uint32) []uint64 {
	if r.loose && r.bit == nil {
		r.bit, *loop = *loop, nil
		for x, d := range deg {
			if d > 0 || uint64(x) < r.known {
				r.bit[x>>6] |= 1 << (x & 63)
			}
		}
	}
	if !r.loose {
		return nil
	}
	return r.bit
}

func (r *ranker) rank(x uint64) uint32 {
	switch {
	case r.same:
		return uint32(x)
	case r.bit != nil:
		w := x >> 6
		return r.sum[w] + uint32(bits.OnesCount64(r.bit[w]&(1<<(x&63)-1)))
	case r.text != nil:
		return r.text[x%internShards][x/internShards]
	}
	for h := mix64(x) & r.mask; ; h = (h + 1) & r.mask {
		if r.slot[2*h] == x+1 {
			return uint32(r.slot[2*h+1])
		}
	}
}

// mix64 is a strong 64-bit mixing step (splitmix64).
func mix64(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// newRanker looks at all raw ids. all is every segment, verts the ids of vertex
// chunks, known the number of vertices 0 … known-1 that exist in any case.
func newRanker(ctx context.Context, threads int, all []*segment, verts [][]uint64, most, known uint64) (*ranker, error) {
	var ends uint64
	wide := false
	for _, s := range all {
		ends += 2*uint64(len(s.p)) + uint64(len(s.wide))
		wide = wide || s.wide != nil
	}
	for _, v := range verts {
		ends += uint64(len(v))
		for _, x := range v {
			wide = wide || x>>32 != 0
			most = max(most, x)
		}
	}
	if ends == 0 && known == 0 {
		return &ranker{same: true}, nil
	}
	if known > maxVertices {
		return nil, fmt.Errorf("%w: %d vertices", ErrTooLarge, known)
	}
	if known > 0 {
		most = max(most, known-1)
	}
	if !wide && len(verts) == 0 && most < ends/16 {
		// Arrays of most+1 elements are small compared with the edges, even if few of the
		// numbers are vertices.
		return &ranker{n: most + 1, same: true, loose: true, known: known}, nil
	}
	if !wide && most/64 <= (ends+known)/2+1<<12 {
		return rankBitmap(ctx, threads, all, verts, most, known)
	}
	return rankHash(ctx, threads, all, verts, known)
}

func rankBitmap(ctx context.Context, threads int, all []*segment, verts [][]uint64, most, known uint64) (*ranker, error) {
	words := most/64 + 1
	r := &ranker{bit: makeTemp[uint64](words)}
	for x := uint64(0); x+64 <= known; x += 64 {
		r.bit[x/64] = ^uint64(0)
	}
	if known%64 != 0 {
		r.bit[known/64] = 1<<(known%64) - 1
	}
	set := func(x uint64) {
		if x < known {
			return
		}
		w, b := &r.bit[x>>6], uint64(1)<<(x&63)
		if atomic.LoadUint64(w)&b == 0 {
			atomic.OrUint64(w, b)
		}
	}
	if known <= most {
		err := parallel(ctx, threads, uint64(len(all)), 1, func(_ int, i, _ uint64) {
			for _, p := range all[i].p {
				set(p >> 32)
				set(p & (1<<32 - 1))
			}
		})
		if err != nil {
			return r, err
		}
		for _, v := range verts {
			for _, x := range v {
				set(x)
			}
		}
	}
	r.sum = makeTemp[uint32](words)
	for i, w := range r.bit {
		if r.n > maxVertices {
			return r, fmt.Errorf("%w: more than %d vertices", ErrTooLarge, uint64(maxVertices))
		}
		r.sum[i] = uint32(r.n)
		r.n += uint64(bits.OnesCount64(w))
	}
	if r.n > maxVertices {
		return r, fmt.Errorf("%w: %d vertices", ErrTooLarge, r.n)
	}
	if r.n == most+1 {
		r.same = true
		freeBig(&r.bit)
		freeBig(&r.sum)
		return r, nil
	}
	if most-r.n < most/8 && len(verts) == 0 && most < maxVertices {
		r.n, r.same, r.loose = most+1, true, true // not worth another pass over the edges
		freeBig(&r.sum)
		return r, nil
	}
	r.ids = makeTemp[uint64](r.n)
	return r, parallel(ctx, threads, words, 1<<15, func(_ int, lo, hi uint64) {
		at := r.sum[lo]
		for w := lo; w < hi; w++ {
			for x := r.bit[w]; x != 0; x &= x - 1 {
				r.ids[at] = w*64 + uint64(bits.TrailingZeros64(x))
				at++
			}
		}
	})
}

// rankHash is for ids far apart: it sorts the distinct ones.
func rankHash(ctx context.Context, threads int, all []*segment, verts [][]uint64, known uint64) (*ranker, error) {
	seen := make([]distinct, threads)
	for i := range seen {
		seen[i].most = mostDistinct
	}
	defer func() {
		for i := range seen {
			freeBig(&seen[i].slot)
		}
	}()
	err := parallel(ctx, threads, uint64(len(all)+len(verts)), 1, func(w int, i, _ uint64) {
		d := &seen[w]
		if i >= uint64(len(all)) {
			for _, x := range verts[i-uint64(len(all))] {
				d.add(x)
			}
			return
		}
		for _, p := range all[i].p {
			d.add(p >> 32)
			d.add(p & (1<<32 - 1))
		}
		for _, x := range all[i].wide {
			d.add(x)
		}
	})
	if err != nil {
		return nil, err
	}
	for x := range known {
		seen[0].add(x)
	}
	_ = parallel(context.Background(), threads, uint64(threads), 1, func(_ int, i, _ uint64) { seen[i].flush() })
	lists := [][]uint64{nil}
	for i := range seen {
		lists = append(lists, seen[i].lists...)
	}
	for len(lists) > 1 {
		half := (len(lists) + 1) / 2
		err := parallel(ctx, threads, uint64(len(lists)/2), 1, func(_ int, i, _ uint64) {
			j := int(i) + half
			lists[i] = mergeDistinct(lists[i], lists[j])
			lists[j] = nil
		})
		if err != nil {
			return nil, err
		}
		lists = lists[:half]
	}
	r := &ranker{n: uint64(len(lists[0]))}
	if r.n > maxVertices {
		return r, fmt.Errorf("%w: %d vertices", ErrTooLarge, r.n)
	}
	r.ids = makeTemp[uint64](r.n)
	copy(r.ids, lists[0])
	slots := uint64(1) << bits.Len64(r.n+r.n/2+1)
	r.mask = slots - 1
	r.slot = makeTemp[uint64](2 * slots)
	return r, parallel(ctx, threads, r.n, 1<<16, func(_ int, lo, hi uint64) {
		for i := lo; i < hi; i++ {
			k := r.ids[i] + 1
			h := mix64(r.ids[i]) & r.mask
			for !atomic.CompareAndSwapUint64(&r.slot[2*h], 0, k) {
				h = (h + 1) & r.mask
			}
			r.slot[2*h+1] = i
		}
	})
}

// distinct collects distinct numbers, in sorted lists of limited length. Ids come once for each edge, so a
// hash table leaves few of them to be sorted.
type distinct struct {
	most  int      // a power of two, how many numbers the table holds before they become a list
	slot  []uint64 // an open hash table of numbers + 1; 0: empty
	n     int
	lists [][]uint64 // each distinct within itself
}

// mostDistinct numbers have a table of 16 MiB.
const mostDistinct = 1 << 20

func (d *distinct) add(x uint64) {
	mask := uint64(len(d.slot)) - 1
	if len(d.slot) > 0 {
		h := mix64(x) & mask
		for ; d.slot[h] != 0; h = (h + 1) & mask {
			if d.slot[h] == x+1 {
				return
			}
		}
		if 2*d.n < len(d.slot) {
			d.slot[h] = x + 1
			d.n++
			return
		}
	}
	d.grow()
	d.add(x)
}

// grow makes room for another number.
func (d *distinct) grow() {
	if d.n >= d.most {
		d.flush()
		d.slot = makeTemp[uint64](2 * uint64(d.most))
		return
	}
	old := d.slot
	defer freeBig(&old)
	d.slot = makeTemp[uint64](max(1<<6, 2*uint64(len(old))))
	mask := uint64(len(d.slot)) - 1
	for _, k := range old {
		if k == 0 {
			continue
		}
		h := mix64(k-1) & mask
		for d.slot[h] != 0 {
			h = (h + 1) & mask
		}
		d.slot[h] = k
	}
}

// flush makes a list of the table's numbers.
func (d *distinct) flush() {
	l := make([]uint64, 0, d.n)
	for _, k := range d.slot {
		if k != 0 {
			l = append(l, k-1)
		}
	}
	slices.Sort(l)
	d.lists = append(d.lists, l)
	freeBig(&d.slot)
	d.n = 0
}

func mergeDistinct(a, b []uint64) []uint64 {
	out := make([]uint64, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		out = append(out, min(x, y))
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return append(append(out, a[i:]...), b[j:]...)
}

// apply replaces the raw ids of segments by compact ones; wide segments become
// narrow.
func (r *ranker) apply(ctx context.Context, threads int, all []*segment) error {
	if r.same {
		return nil
	}
	return parallel(ctx, threads, uint64(len(all)), 1, func(_ int, i, _ uint64) {
		s := all[i]
		if s.wide == nil {
			for j, p := range s.p {
				s.p[j] = uint64(r.rank(p>>32))<<32 | uint64(r.rank(p&(1<<32-1)))
			}
			return
		}
		s.p = makeTemp[uint64](uint64(len(s.wide) / 2))
		for j := range s.p {
			s.p[j] = uint64(r.rank(s.wide[2*j]))<<32 | uint64(r.rank(s.wide[2*j+1]))
		}
		freeBig(&s.wide)
	})
}
