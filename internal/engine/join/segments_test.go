package join

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCut: segments have all entries once, none is larger than there is room for, and those of a relation with short lists are of about
// the same size. A pair of vertices belongs to the one segment in which its entry is, or would be.
func TestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		n := 1 + rng.IntN(2000)
		r := &relation{off: make([]uint64, n+1), kind: []uint32{layoutCSR, layoutHashed, layoutInterval}[round%3]}
		long := round%2 == 0
		for v := range n {
			length := rng.IntN(6)
			if long && rng.IntN(300) == 0 {
				length = rng.IntN(5000)
			}
			list := make([]uint32, length)
			for k := range list {
				list[k] = rng.Uint32N(1 << 20)
			}
			slices.Sort(list)
			list = slices.Compact(list)
			r.adj = append(r.adj, list...)
			r.off[v+1] = r.off[v] + uint64(len(list))
		}
		r.list = func(v uint32) []uint32 { return r.adj[r.off[v]:r.off[v+1]] }
		for _, room := range []int64{leastSegment, 3000, 20000, 1 << 30} {
			r.cut(room, 1)
			at := uint64(0)
			for i, s := range r.segments {
				if s.begin != at || s.end <= s.begin || s.bytes > room || r.off[s.first] > s.begin || r.off[s.first+1] <= s.begin || r.off[s.last+1] < s.end {
					t.Fatalf("room %d, segment %d of %d behind entry %d: %+v", room, i, len(r.segments), at, s)
				}
				if next := i + 1; !long && room > 3000 && next < len(r.segments)-1 && 2*s.bytes < r.segments[next].bytes {
					t.Errorf("room %d: segments of %d and %d bytes", room, s.bytes, r.segments[next].bytes)
				}
				if to := make([]byte, s.bytes); r.fill(t.Context(), i, to) != nil {
					t.Errorf("segment %d was not written", i)
				}
				at = s.end
			}
			if at != r.off[n] {
				t.Fatalf("room %d: %d entries of %d", room, at, r.off[n])
			}
			for range 300 {
				v := rng.Uint32N(uint32(n))
				list := r.list(v)
				x := rng.Uint32N(1 << 20)
				if len(list) > 0 && rng.IntN(2) == 0 {
					x = list[rng.IntN(len(list))]
				}
				i, where := r.owner(v, x), r.off[v]
				k, in := slices.BinarySearch(list, x)
				where += uint64(k)
				switch {
				case len(list) == 0:
					if !r.empty(v) {
						t.Errorf("vertex %d has a list", v)
					}
				case in && (where < r.segments[i].begin || where >= r.segments[i].end), slices.Contains(r.piece(i, v), x) != in:
					t.Errorf("vertex %d: %d is entry %d, in the list %v, and not in segment %d", v, x, where, in, i)
				}
				sum := uint32(0)
				for from, to := r.holding(v); from < to; from++ {
					sum += r.length(from, v)
				}
				if int(sum) != len(list) {
					t.Errorf("vertex %d: segments have %d entries of %d", v, sum, len(list))
				}
			}
		}
		r.cut(1<<30, 7)
		if got := len(r.segments); len(r.adj) > 2000 && (got < 5 || got > 8) {
			t.Errorf("%d segments, want 7", got)
		}
	}
}
