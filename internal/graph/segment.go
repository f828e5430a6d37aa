package graph

import (
	"fmt"
	"sync"
)

// segEdges is how many edges a full segment holds: 8 MiB of packed pairs.
const segEdges = 1 << 20

// segment is a run of edges by raw ids, later by compact and then internal ones.
type segment struct {
	p    []uint64 // source<<32 | target
	wide []uint64 // source, target, source, …: when an id needs more than 32 bits; p is nil then
}

func (s *segment) free() {
	freeBig(&s.p)
	freeBig(&s.wide)
}

// pairStore collects plain edges in segments that are filled by one goroutine
// at a time.
type pairStore struct {
	mu           sync.Mutex
	open, opened []*segment // narrow ones with room, and all of them
	wide         []*segment
	size         uint64 // of the next segment
	most         uint64 // largest raw id of the narrow segments
	edges        uint64
}

// take returns a segment with room for n edges; give returns it to the store.
func (s *pairStore) take(n int) *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := len(s.open); k > 0; k = len(s.open) {
		g := s.open[k-1]
		s.open = s.open[:k-1]
		if cap(g.p)-len(g.p) >= n {
			return g
		}
	}
	s.size = min(max(4096, 2*s.size), segEdges)
	g := &segment{p: makeTemp[uint64](max(s.size, uint64(n)))[:0]}
	s.opened = append(s.opened, g)
	return g
}

func (s *pairStore) give(g *segment) {
	if len(g.p) < cap(g.p) {
		s.mu.Lock()
		s.open = append(s.open, g)
		s.mu.Unlock()
	}
}

// counted says that n edges more are there, with ids of at most most.
func (s *pairStore) counted(n, most uint64) {
	s.mu.Lock()
	s.edges += n
	s.most = max(s.most, most)
	s.mu.Unlock()
}

// spread looks at the ids of a chunk: the largest, and all bits that occur.
func spread(a, b []uint64) (most, all uint64) {
	for i := range a {
		most = max(most, a[i], b[i])
		all |= a[i] | b[i]
	}
	return most, all
}

func tooLong(a, b []uint64) error {
	for i := range a {
		if x := max(a[i], b[i]); x>>63 != 0 {
			return fmt.Errorf("%w: vertex id %d in row %d is 2^63 or more", ErrColumns, x, i)
		}
	}
	return nil
}

// add copies edges in.
func (s *pairStore) add(src, dst []uint64) error {
	most, all := spread(src, dst)
	if all>>63 != 0 {
		return tooLong(src, dst)
	}
	if all>>32 != 0 {
		g := wideSegment(src, dst)
		s.mu.Lock()
		s.wide = append(s.wide, g)
		s.edges += uint64(len(src))
		s.mu.Unlock()
		return nil
	}
	s.counted(uint64(len(src)), most)
	for len(src) > 0 {
		g := s.take(1)
		k := min(cap(g.p)-len(g.p), len(src))
		at := len(g.p)
		g.p = g.p[:at+k]
		pack(g.p[at:], src[:k], dst[:k])
		src, dst = src[k:], dst[k:]
		s.give(g)
	}
	return nil
}

func pack(p, src, dst []uint64) {
	dst = dst[:len(src)]
	p = p[:len(src)]
	for i, x := range src {
		p[i] = x<<32 | dst[i]
	}
}

func wideSegment(src, dst []uint64) *segment {
	g := &segment{wide: makeTemp[uint64](2 * uint64(len(src)))}
	for i := range src {
		g.wide[2*i], g.wide[2*i+1] = src[i], dst[i]
	}
	return g
}

// newSegment makes a segment of its own for one chunk's edges.
func newSegment(src, dst []uint64) (g *segment, most uint64, err error) {
	most, all := spread(src, dst)
	switch {
	case all>>63 != 0:
		return nil, 0, tooLong(src, dst)
	case all>>32 != 0:
		return wideSegment(src, dst), 0, nil
	}
	g = &segment{p: makeTemp[uint64](uint64(len(src)))}
	pack(g.p, src, dst)
	return g, most, nil
}

// packed copies the edges of narrow segments to full ones.
func packed(segs []*segment) []*segment {
	var all []*segment
	left := uint64(0)
	for _, s := range segs {
		left += uint64(len(s.p))
	}
	var to *segment
	for _, s := range segs {
		for p := s.p; len(p) > 0; {
			if to == nil || len(to.p) == cap(to.p) {
				to = &segment{p: makeTemp[uint64](min(left, segEdges))[:0]}
				all = append(all, to)
			}
			k := min(len(p), cap(to.p)-len(to.p))
			to.p = append(to.p, p[:k]...)
			p = p[k:]
			left -= uint64(k)
		}
	}
	return all
}
