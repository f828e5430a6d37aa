package layout

import (
	"context"
	"fmt"
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

// NewHashed makes the PCSR of a partition with one bucket for each load vertices. GSI
// takes a load of 1: then some group is free for each that overflows. With a higher
// load, groups are added where no group is free.
func NewHashed(ctx context.Context, l *Lists, load int) (*Hashed, error) {
	if load < 1 {
		return nil, fmt.Errorf("a hashed PCSR has at least 1 vertex for each group, not %d", load)
	}
	const room = GroupPairs - 1
	n := len(l.Vertices)
	if n >= maxGroups {
		return nil, ErrTooLong
	}
	h := &Hashed{Buckets: uint32((n + load - 1) / load), Adj: make([]uint32, 0, len(l.Adj))}
	if n == 0 {
		return h, nil
	}
	// The vertices of each bucket, as a counting sort.
	at := make([]uint32, h.Buckets+1)
	for _, v := range l.Vertices {
		at[h.bucket(v)+1]++
	}
	// Each group begins with what hashes to it. What is too much goes to groups that
	// nothing hashes to, then to new ones.
	type span struct{ first, end, next uint32 } // of the sorted vertices
	groups := make([]span, h.Buckets)
	for b := range h.Buckets {
		at[b+1] += at[b]
		groups[b] = span{at[b], min(at[b+1], at[b]+room), None}
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
				groups = append(groups, span{})
			}
			groups[to] = span{i, min(end, i+room), None}
			groups[last].next = to
			last, i = to, groups[to].end
		}
	}
	sorted := make([]uint32, n) // indexes of Vertices
	for i, v := range l.Vertices {
		b := h.bucket(v)
		sorted[at[b]] = uint32(i)
		at[b]++
	}
	h.Groups = make([]uint32, 0, len(groups)*2*GroupPairs)
	for k, g := range groups {
		if err := ended(ctx, k); err != nil {
			return nil, err
		}
		for _, i := range sorted[g.first:g.end] {
			h.Groups = append(h.Groups, l.Vertices[i], uint32(len(h.Adj)))
			h.Adj = append(h.Adj, l.Adj[l.Off[i]:l.Off[i+1]]...)
		}
		for range room - (g.end - g.first) {
			h.Groups = append(h.Groups, None, uint32(len(h.Adj)))
		}
		h.Groups = append(h.Groups, g.next, uint32(len(h.Adj)))
	}
	return h, nil
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
