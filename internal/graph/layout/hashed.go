package layout

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/weftgraph/weft/internal/graph"
)

// GroupPairs is the number of pairs of numbers in one group of a Hashed: 128 bytes,
// which a warp reads in one transaction.
const GroupPairs = 16

// None stands in a group for no vertex, and for no further group.
const None = ^uint32(0)

// Hashed is GSI's PCSR of one partition (definition 5). A hash of the vertex says in
// which group its pair (vertex, offset in Adj) is. A group has at most 15 pairs; its
// last pair is (next, end): the group in which its other vertices are, or None, and the
// end of the group's last list. The list of a pair ends where that of the next pair
// begins. Pairs without a vertex stand behind all others as (None, end).
type Hashed struct {
	// Groups are GroupPairs pairs each. The first Buckets of them have a hash of
	// their own; those behind them only continue others.
	Groups  []uint32
	Buckets uint32
	Adj     []uint32

	id uint64
}

// maxGroups is less than the number of groups whose entries 32 bits can tell apart: files and kernels have
// such positions. A partition of n vertices has at most n groups, for any load.
const maxGroups = 1<<32/(2*GroupPairs) - 1

// NewHashed makes the PCSR of a partition with one bucket for each load vertices, on all threads; 0 means all cores. GSI
// takes a load of 1: then some group is free for each that overflows. With a higher
// load, groups are added where no group is free.
func NewHashed(ctx context.Context, l *Lists, load, threads int) (*Hashed, error) {
	if load < 1 {
		return nil, fmt.Errorf("a hashed PCSR has at least 1 vertex for each group, not %d", load)
	}
	n := len(l.Vertices)
	if n >= maxGroups {
		return nil, ErrTooLong
	}
	h := &Hashed{Buckets: uint32((n + load - 1) / load), Adj: make([]uint32, len(l.Adj))}
	if n == 0 {
		return h, nil
	}
	threads = count(threads)
	// Indexes of Vertices by their buckets: the bucket above bit 32, the index below.
	sorted := make([]uint64, n)
	err := blocksOf(n, threads).each(ctx, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			sorted[i] = uint64(h.bucket(l.Vertices[i]))<<32 | uint64(i)
		}
	})
	if err != nil {
		return nil, err
	}
	if sorted, err = sortPairs(ctx, sorted, true, bits.Len32(h.Buckets), threads); err != nil {
		return nil, err
	}
	groups, err := h.groups(ctx, sorted)
	if err != nil {
		return nil, err
	}
	// Where the first list of each group begins; lists have no more than 2^32 entries.
	begin := make([]uint32, len(groups)+1)
	for k, g := range groups {
		begin[k+1] = begin[k]
		for _, x := range sorted[g.first:g.end] {
			begin[k+1] += l.Off[uint32(x)+1] - l.Off[uint32(x)]
		}
	}
	h.Groups = make([]uint32, len(groups)*2*GroupPairs)
	work := make([]uint64, len(begin))
	for k, at := range begin {
		work[k] = uint64(at) + 2*GroupPairs*uint64(k)
	}
	return h, graph.Parallel(ctx, work, threads, func(lo, hi uint32) {
		for k := lo; k < hi; k++ {
			g, at := groups[k], begin[k]
			to := h.Groups[int(k)*2*GroupPairs:][:2*GroupPairs]
			for i := range GroupPairs - 1 {
				to[2*i], to[2*i+1] = None, at
				if first := g.first + uint32(i); first < g.end {
					x := uint32(sorted[first])
					to[2*i] = l.Vertices[x]
					at += uint32(copy(h.Adj[at:], l.Adj[l.Off[x]:l.Off[x+1]]))
				}
			}
			to[2*GroupPairs-2], to[2*GroupPairs-1] = g.next, at
		}
	})
}

// hashGroup has the vertices sorted[first:end], and the group that continues it or None.
type hashGroup struct{ first, end, next uint32 }

// groups deals out vertices that are sorted by bucket. Each group begins with what hashes to it. What is too much goes to
// groups that nothing hashes to, then to new ones.
func (h *Hashed) groups(ctx context.Context, sorted []uint64) ([]hashGroup, error) {
	const room = GroupPairs - 1
	n := uint32(len(sorted))
	groups := make([]hashGroup, h.Buckets)
	at := make([]uint32, h.Buckets+1) // where the vertices of each bucket begin
	for b, i := uint32(0), uint32(0); b < h.Buckets; b++ {
		at[b] = i
		for i < n && uint32(sorted[i]>>32) == b {
			i++
		}
		at[b+1] = i
		groups[b] = hashGroup{at[b], min(i, at[b]+room), None}
	}
	free := uint32(0)
	for b := range h.Buckets {
		if err := ended(ctx, int(b)); err != nil {
			return nil, err
		}
		for last, i, end := b, groups[b].end, at[b+1]; i < end; {
			for free < h.Buckets && at[free] != at[free+1] {
				free++
			}
			to := free
			if free < h.Buckets {
				free++
			} else {
				to = uint32(len(groups))
				groups = append(groups, hashGroup{})
			}
			groups[to] = hashGroup{i, min(end, i+room), None}
			groups[last].next = to
			last, i = to, groups[to].end
		}
	}
	return groups, nil
}

// bucket returns the group that v hashes to.
func (h *Hashed) bucket(v uint32) uint32 { return Hash32(v) % h.Buckets }

// Hash32 spreads the bits of a vertex id: the finalizer of 32-bit MurmurHash3. Device
// code has the same function.
func Hash32(v uint32) uint32 {
	v ^= v >> 16
	v *= 0x85ebca6b
	v ^= v >> 13
	v *= 0xc2b2ae35
	return v ^ v>>16
}

// List returns the neighbours of v, ascending; none for a vertex that is not in the partition.
func (h *Hashed) List(v uint32) []uint32 {
	if h.Buckets == 0 {
		return nil
	}
	for g := h.bucket(v); g != None; {
		group := h.Groups[int(g)*2*GroupPairs:][:2*GroupPairs]
		for i := 0; i < 2*(GroupPairs-1); i += 2 {
			if group[i] == v {
				return h.Adj[group[i+1]:group[i+3]]
			}
		}
		g = group[2*(GroupPairs-1)]
	}
	return nil
}

// ID returns the number that copies of the arrays are found by; 0: there is none.
func (h *Hashed) ID() uint64 { return h.id }

// Bytes returns the size of all arrays.
func (h *Hashed) Bytes() uint64 { return 4 * uint64(len(h.Groups)+len(h.Adj)) }
