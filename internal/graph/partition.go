package graph

import (
	"context"
	"math/bits"
)

// block is a cacheful of edges. Those with their smaller end in range r are
// p[cut[r]:cut[r+1]].
type block struct {
	p   []uint64
	cut []uint32
	of  *segment // whose edges from at on the block has
	at  uint64
}

// drop gives back the memory of the edges of the ranges from … to-1.
func (b *block) drop(from, to int) {
	dropBig(b.of.p, b.at+uint64(b.cut[from]), b.at+uint64(b.cut[to]))
}

// leastBlock is the least number of edges in a block. They and the results made of them take
// half of a second-level cache of 512 KiB. A block of mostBlock edges is a large page. Large blocks have long
// runs, and few pages that two ranges share, but each goroutine has room for one and should have several.
const (
	leastBlock = 1 << 15
	mostBlock  = 1 << 18
)

// partition renumbers the ends of the segments' edges by place, drops self-loops, and groups
// blocks of edges by the range of the smaller end.
func (k *cuts) partition(ctx context.Context, threads int, segs []*segment, place []uint32) ([]block, error) {
	given := 0
	for _, s := range segs {
		given += len(s.p)
	}
	size := max(leastBlock, 64*k.len(), min(mostBlock, given/(8*threads))) // that runs are of some length
	var blocks []block
	for _, s := range segs {
		for p := s.p; len(p) > 0; {
			n := min(size, len(p))
			blocks = append(blocks, block{p: p[:n], of: s, at: uint64(len(s.p) - len(p))})
			p = p[n:]
		}
	}
	work := make([]partitioner, threads)
	err := parallel(ctx, threads, uint64(len(blocks)), 1, func(w int, i, _ uint64) { work[w].partition(&blocks[i], k, place) })
	for w := range work {
		freeBig(&work[w].kept)
	}
	return blocks, err
}

// An edge of a block is one word with four parts. From the top bit these are its range, the
// smaller end relative to the range's first vertex, a bit for larger → smaller, and the larger
// end.
const (
	rangeAt = 48
	groupAt = 32 // position of the smaller end and the bit
)

// partitioner partitions one block after another. Each goroutine has its own.
type partitioner struct {
	kept []uint64
	next []uint32
}

func (t *partitioner) partition(b *block, k *cuts, place []uint32) {
	if len(t.kept) < len(b.p) {
		freeBig(&t.kept)
		t.kept = makeTemp[uint64](uint64(len(b.p)))
	}
	if t.next == nil {
		t.next = make([]uint32, k.len())
	}
	kept, next := t.kept[:len(b.p)], t.next
	of, los, shift := k.of, k.lo, k.shift&31
	clear(next)
	// Nothing but loads, so that many are on their way at a time.
	for i, p := range b.p {
		kept[i] = uint64(place[p>>32])<<32 | uint64(place[uint32(p)])
	}
	n := 0
	for _, p := range kept {
		x, y := p>>32, p&(1<<32-1)
		_, back := bits.Sub64(y, x, 0)
		least := uint32(min(x, y))
		r := of[least>>shift]
		kept[n] = uint64(r)<<rangeAt | uint64(least-los[r])<<(groupAt+1) | back<<groupAt | max(x, y)
		if x != y {
			n++
			next[r]++
		}
	}
	b.cut = make([]uint32, k.len()+1)
	for r, c := range next {
		next[r] = b.cut[r]
		b.cut[r+1] = b.cut[r] + c
	}
	b.p = b.p[:n]
	for _, p := range kept[:n] {
		at := &next[p>>rangeAt]
		b.p[*at] = p
		*at++
	}
}
