package graph

import (
	"context"
	"testing"
)

// TestRangesAreNarrow: few edges among billions of vertices are cut into ranges whose
// groups fit memory, and every vertex is in the range that its number says.
func TestRangesAreNarrow(t *testing.T) {
	const n = 1<<32 - 2
	p := []uint64{7<<32 | n - 1, (n-3)<<32 | (n - 2)}
	r, err := cutRanges(context.Background(), 1, []*segment{{p: p}}, n, uint64(len(p)))
	if err != nil {
		t.Fatal(err)
	}
	last := len(r.lo) - 1
	if r.lo[0] != 0 || r.lo[last] != n || last > 2*mostRanges {
		t.Errorf("%d ranges from %d to %d", last, r.lo[0], r.lo[last])
	}
	for i := range last {
		lo, hi := uint64(r.lo[i]), uint64(r.lo[i+1])
		if hi <= lo || hi-lo > n/mostRanges+2<<r.shift {
			t.Errorf("range %d: %d to %d", i, lo, hi)
		}
		for _, v := range []uint64{lo, hi - 1} {
			if int(r.of[v>>r.shift]) != i {
				t.Errorf("vertex %d is in range %d, not %d", v, r.of[v>>r.shift], i)
			}
		}
	}
}
