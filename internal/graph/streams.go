package graph

import (
	"context"
	"math/bits"
)

// Appending to lists all over a large CSR costs a cache miss or two an arc. So
// arcs go to buckets first, each a run of vertices whose lists fit the cache
// together, and from there to the lists (propagation blocking; Beamer, Asanović
// and Patterson, Reducing Pagerank Communication via Propagation Blocking,
// 2017). Both steps keep the order of arcs. As their sources ascend, an arc is
// one word on the way: its target within the bucket, and how far its source is
// from that of the arc before it in the bucket.

const (
	// bucketArcs is about how many arcs a bucket has: their lists take half of
	// a second cache of 512 KiB.
	bucketArcs = 1 << 16
	// bucketVertices is the most vertices of a bucket.
	bucketVertices = 1 << 16
	// leap, where an arc's word has its distance, marks a word that is no arc
	// but has, for a target, how many times leap to add to the next distance.
	leap = 1<<16 - 1
)

// buckets are runs of vertices.
type buckets struct {
	shift int
	of    []uint16 // by vertex >> shift
	lo    []uint32 // first vertex of each; one more at the end
	arcs  []uint64 // of each
}

// newBuckets cuts n vertices into buckets; begin(v) is how many arcs the
// vertices before v have.
func newBuckets(n uint32, begin func(v uint32) uint64) *buckets {
	k := &buckets{shift: max(0, bits.Len32(n)-16), lo: []uint32{0}}
	k.of = make([]uint16, n>>k.shift+1)
	each := max(bucketArcs, begin(n)/1024)
	from, at := uint64(0), uint64(0)
	for bin := range k.of {
		v := uint32(bin) << k.shift
		end := uint32(min(uint64(v)+1<<k.shift, uint64(n)))
		next := begin(end)
		if at > from && next-from > each || end-k.lo[len(k.lo)-1] > bucketVertices {
			k.lo, k.arcs = append(k.lo, v), append(k.arcs, at-from)
			from = at
		}
		k.of[bin] = uint16(len(k.lo) - 1)
		at = next
	}
	k.lo, k.arcs = append(k.lo, n), append(k.arcs, at-from)
	return k
}

// lists gives, in to, the targets of arcs by source: those of the sources first,
// first+1, ….
type lists func(first uint32, to [][]uint32)

// batch is how many sources' targets are asked for at once: enough for their
// cache misses to overlap.
const batch = 32

// part is a run of sources, whose arcs one goroutine puts into the buckets.
type part struct {
	first, end uint32
	heads      []head // by bucket
	from       []uint64
}

// head is where a part's next arc of a bucket goes.
type head struct {
	next     uint64
	lo, last uint32 // the bucket's first vertex; the source of the arc before
}

// each calls f with every source of p and its targets.
func (p *part) each(of lists, f func(u uint32, targets []uint32)) {
	var to [batch][]uint32
	for u := p.first; u < p.end; {
		l := to[:min(batch, p.end-u)]
		of(u, l)
		for _, targets := range l {
			f(u, targets)
			u++
		}
	}
}

// count returns how many arcs p has for each bucket.
func (p *part) count(k *buckets, of lists) []uint64 {
	n := make([]uint64, len(k.arcs))
	p.each(of, func(_ uint32, targets []uint32) {
		for _, v := range targets {
			n[k.of[v>>k.shift]]++
		}
	})
	return n
}

// put puts p's arcs into words, from its heads on.
func (p *part) put(k *buckets, of lists, words []uint32) {
	heads, bin, shift := p.heads, k.of, k.shift&31
	p.each(of, func(u uint32, targets []uint32) {
		for _, v := range targets {
			h := &heads[bin[v>>shift]]
			at, d := h.next, u-h.last
			for d >= leap {
				far := min(d/leap, leap)
				words[at] = far<<16 | leap
				d -= far * leap
				at++
			}
			words[at] = (v-h.lo)<<16 | d
			h.next, h.last = at+1, u
		}
	})
}

// drain appends the arcs of bucket b to the lists of c.
func (p *part) drain(b int, words []uint32, c *CSR) {
	h := &p.heads[b]
	u := p.first
	off := c.Off[h.lo+1:]
	for _, w := range words[p.from[b]:h.next] {
		d, v := w&leap, w>>16
		if d == leap {
			u += v * leap
			continue
		}
		u += d
		at := off[v]
		c.Adj[at] = u
		off[v] = at + 1
	}
}

// appendAll appends to the lists of c the source of every arc whose target the
// list is of, in the order of sources; Off[v+1] is where v's next one goes.
// begin(v) is how many arcs the vertices before v have in all. done is called for
// runs of vertices, each as soon as its lists are complete; put, before all of
// them, when the arcs are on their way.
func (c *CSR) appendAll(ctx context.Context, threads int, begin func(v uint32) uint64, of lists, put func(), done func(lo, hi uint32)) error {
	n := uint32(c.NumVertices())
	k := newBuckets(n, begin)
	parts, err := k.parts(ctx, threads, n, of)
	if err != nil {
		return err
	}
	size := uint64(0)
	for b := range k.arcs {
		for _, p := range parts {
			p.from[b] = size
			p.heads[b].next, size = size, size+p.heads[b].next
		}
	}
	words := makeTemp[uint32](size)
	defer freeBig(&words)
	if err := parallel(ctx, threads, uint64(len(parts)), 1, func(_ int, i, _ uint64) { parts[i].put(k, of, words) }); err != nil {
		return err
	}
	put()
	return parallel(ctx, threads, uint64(len(k.arcs)), 1, func(_ int, b, _ uint64) {
		for _, p := range parts {
			p.drain(int(b), words, c)
		}
		dropBig(words, parts[0].from[b], parts[len(parts)-1].heads[b].next)
		done(k.lo[b], k.lo[b+1])
	})
}

// parts cuts n sources into parts of about equal numbers of arcs. The heads'
// next is how much room each needs.
func (k *buckets) parts(ctx context.Context, threads int, n uint32, of lists) ([]*part, error) {
	var parts []*part
	add := func(first, end uint32) {
		p := &part{first: first, end: end, heads: make([]head, len(k.arcs)), from: make([]uint64, len(k.arcs))}
		for b := range p.heads {
			p.heads[b] = head{next: uint64((end - first) / leap), lo: k.lo[b], last: first}
		}
		parts = append(parts, p)
	}
	if threads == 1 {
		add(0, n)
		for b, a := range k.arcs {
			parts[0].heads[b].next += a
		}
		return parts, nil
	}
	// The work of every few sources, to cut by.
	work := make([]uint64, (uint64(n)+batch-1)/batch)
	err := parallel(ctx, threads, uint64(len(work)), 64, func(_ int, lo, hi uint64) {
		some := part{first: uint32(lo) * batch, end: uint32(min(hi*batch, uint64(n)))}
		some.each(of, func(u uint32, targets []uint32) { work[u/batch] += uint64(len(targets)) + 1 })
	})
	if err != nil {
		return nil, err
	}
	total := uint64(n)
	for _, a := range k.arcs {
		total += a
	}
	each := total/uint64(4*threads) + 1
	first, sum := uint32(0), uint64(0)
	for i, w := range work {
		if sum += w; sum >= each {
			end := uint32(min(uint64(i+1)*batch, uint64(n)))
			add(first, end)
			first, sum = end, 0
		}
	}
	if first < n || n == 0 {
		add(first, n)
	}
	return parts, parallel(ctx, threads, uint64(len(parts)), 1, func(_ int, i, _ uint64) {
		for b, x := range parts[i].count(k, of) {
			parts[i].heads[b].next += x
		}
	})
}
