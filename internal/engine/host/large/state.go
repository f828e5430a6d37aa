package large

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/setops"
)

// A frame is one depth of the search: the variable branched on, its candidates
// not yet tried, and the sets that assigning it changed. Frame 0's sets are the
// filtered candidates.
type frame struct {
	sets []uint64 // at space.off
	size [maxVars]int32
	hash [maxVars]hash128
	// cause is the variables whose assignment narrowed a set: why it is as it is.
	cause   [maxVars]uint64
	prev    [maxVars]int8 // the depth that held the set before
	hashed  uint64        // sets whose hash is known
	changed uint64        // sets that this depth holds

	// The branching below this depth.
	comp    uint64 // variables of the component, with v
	v       int
	at      int      // candidate in progress
	rest    []uint64 // candidates not yet begun
	tail    bool     // the component's count goes straight to the total
	partial bool     // some candidates were handed to other workers
	mult    engine.Uint128
}

// A worker searches. Each has its own frames and cache.
type worker struct {
	id      int
	sp      *space
	run     *run
	frames  []*frame
	depth   [maxVars]int8 // where a variable's current set is
	cache   cache
	count   uint64          // nodes
	work    uint64          // units of work, about a node each
	next    uint64          // work at which to attend to others
	value   [maxVars]uint32 // listing: index of the matched candidate
	out     batch
	ie      ieBuffers
	classes leafClasses
	over    bool // a product passed 128 bits
}

// begin readies the worker for a run.
func (w *worker) begin(r *run, sp *space, id int) {
	w.id, w.run, w.sp, w.over, w.count, w.work, w.next = id, r, sp, false, 0, 0, attendEvery
	for len(w.frames) <= bits.OnesCount64(sp.live) {
		w.frames = append(w.frames, &frame{})
	}
	f := w.frames[0]
	f.sets = append(f.sets[:0], sp.root...)
	f.hashed = 0
	for m := sp.live; m != 0; m &= m - 1 {
		u := bits.TrailingZeros64(m)
		f.size[u], f.cause[u], w.depth[u] = sp.size[u], 0, 0
	}
	w.cache.begin(r.cacheLimit, r.share)
}

// set returns the current candidates of v.
func (w *worker) set(v int) []uint64 {
	o := w.sp.off[v]
	return w.frames[w.depth[v]].sets[o : o+w.sp.words[v]]
}

func (w *worker) size(v int) int32 { return w.frames[w.depth[v]].size[v] }

// assign matches u with candidate i and narrows the sets of the variables in
// rest; the results are frame d+1's. It returns -1, or the variable that has no
// candidate left: then the caller undoes d+1 all the same.
func (w *worker) assign(d, u, i int, rest uint64) int {
	sp, pb := w.sp, w.sp.pb
	f := w.frames[d+1]
	if len(f.sets) < sp.total {
		f.sets = make([]uint64, sp.total)
	}
	f.changed, f.hashed = 0, 0
	for m := rest & pb.adj[u]; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		g := w.frames[w.depth[v]]
		o, n := sp.off[v], sp.words[v]
		src, dst := g.sets[o:o+n], f.sets[o:o+n]
		w.work += uint64(n >> 7)
		mat := &sp.mats[sp.rel[u][v]]
		r := mat.rows[i]
		var c int
		switch {
		case r.n < 0 && !mat.neg:
			c = and(dst, src, sp.bits[r.at:r.at+n])
		case r.n < 0:
			c = setops.AndNot(dst, src, sp.bits[r.at:r.at+n])
		case !mat.neg:
			clear(dst)
			for _, y := range sp.lists[r.at : r.at+int(r.n)] {
				b := src[y>>6] & (1 << (y & 63))
				dst[y>>6] |= b
				c += int(b >> (y & 63))
			}
		default:
			copy(dst, src)
			c = int(g.size[v])
			for _, y := range sp.lists[r.at : r.at+int(r.n)] {
				c -= int(dst[y>>6] >> (y & 63) & 1)
				dst[y>>6] &^= 1 << (y & 63)
			}
		}
		if pb.alike[u]>>v&1 != 0 {
			c -= int(dst[i>>6] >> (i & 63) & 1)
			dst[i>>6] &^= 1 << (i & 63)
			if pb.order[u]>>v&1 != 0 {
				c = w.bound(dst, u, v, i)
			}
		}
		if int32(c) != g.size[v] {
			w.narrowed(f, g, d+1, u, v, c)
			if c == 0 {
				return v
			}
		}
	}
	for m := rest & pb.alike[u] &^ pb.adj[u]; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		g := w.frames[w.depth[v]]
		o, n := sp.off[v], sp.words[v]
		src := g.sets[o : o+n]
		ordered := pb.order[u]>>v&1 != 0
		if src[i>>6]>>(i&63)&1 == 0 && !ordered {
			continue
		}
		dst := f.sets[o : o+n]
		copy(dst, src)
		dst[i>>6] &^= 1 << (i & 63)
		c := int(g.size[v]) - 1
		if ordered {
			c = w.bound(dst, u, v, i)
		}
		if int32(c) == g.size[v] {
			continue
		}
		w.narrowed(f, g, d+1, u, v, c)
		if !ordered && g.hashed>>v&1 != 0 {
			h := sp.key(v, i)
			f.hash[v] = hash128{g.hash[v].a ^ h.a, g.hash[v].b ^ h.b}
			f.hashed |= 1 << v
		}
		if c == 0 {
			return v
		}
	}
	return -1
}

// narrowed records that assigning u left v with c candidates.
func (w *worker) narrowed(f, g *frame, d, u, v, c int) {
	f.size[v] = int32(c)
	f.cause[v] = g.cause[v] | 1<<u
	f.prev[v] = w.depth[v]
	w.depth[v] = int8(d)
	f.changed |= 1 << v
}

// bound applies the restriction between u, matched with i, and v.
func (w *worker) bound(dst []uint64, u, v, i int) int {
	if w.sp.pb.vars[u].below>>v&1 != 0 { // u < v
		clear(dst[:i>>6])
		dst[i>>6] &^= 2<<(i&63) - 1
	}
	if w.sp.pb.vars[u].above>>v&1 != 0 { // u > v
		clear(dst[i>>6+1:])
		dst[i>>6] &= 1<<(i&63) - 1
	}
	return countBits(dst)
}

// undo forgets the assignment whose results are frame d's.
func (w *worker) undo(d int) {
	f := w.frames[d]
	for m := f.changed; m != 0; m &= m - 1 {
		v := bits.TrailingZeros64(m)
		w.depth[v] = f.prev[v]
	}
	f.changed = 0
}

// and is setops.And, looped over in place for short rows.
func and(dst, a, b []uint64) int {
	if len(a) > 8 {
		return setops.And(dst, a, b)
	}
	n := 0
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		x &= b[i]
		dst[i] = x
		n += bits.OnesCount64(x)
	}
	return n
}

func countBits(a []uint64) int {
	n := 0
	for _, x := range a {
		n += bits.OnesCount64(x)
	}
	return n
}

// intersect reports whether the current sets of u and v, of one group, meet.
func (w *worker) intersect(u, v int) bool {
	a, b := w.set(u), w.set(v)
	b = b[:len(a)]
	for i, x := range a {
		if x&b[i] != 0 {
			return true
		}
	}
	return false
}
