package layout

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRanks: each id of a set has its rank, and no other id has one, where all words are stored and where they
// are found by one or more bitmaps above.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	above := map[int]bool{}
	for _, n := range []uint32{1, 31, 32, 33, 1000, 1024, 5000, 1 << 20, 1 << 31, None} {
		for _, m := range []int{0, 1, 3, 100, 3000} {
			var ids []uint32
			for range m {
				ids = append(ids, r.Uint32N(n))
			}
			ids = append(ids, n-1)
			slices.Sort(ids)
			if ids = slices.Compact(ids); m == 0 {
				ids = nil
			}
			for _, room := range []int{0, 1 << 10, 1 << 18} {
				x, err := newRanks(t.Context(), ids, n, room, 2)
				if err != nil {
					t.Fatal(err)
				}
				above[len(x.above)] = true
				if most := uint64(max(room+8*wholeWords+64, 16*(len(ids)+1)*(1+len(x.above))+8*wholeWords+64)); x.bytes() > most {
					t.Errorf("%d of %d ids take %d bytes, with %d bitmaps above; want at most %d", len(ids), n, x.bytes(), len(x.above), most)
				}
				lists := &Interval{rows: x, Off: []uint32{0}} // the list of each id is its rank
				for rank := range ids {
					lists.Off, lists.Adj = append(lists.Off, uint32(rank+1)), append(lists.Adj, uint32(rank))
				}
				near := []uint32{0, 1, n / 2, n, None}
				for _, id := range ids {
					near = append(near, id-1, id, id+1)
				}
				for _, id := range near {
					want, had := slices.BinarySearch(ids, id)
					got := lists.List(id)
					if had && !slices.Equal(got, []uint32{uint32(want)}) || !had && len(got) > 0 {
						t.Fatalf("%d of %d ids, %d bitmaps above: %d has ranks %v; want %d, %v", len(ids), n, len(x.above), id, got, want, had)
					}
				}
			}
		}
	}
	if !above[0] || !above[1] || !above[3] {
		t.Errorf("bitmaps above: %v", above)
	}
}
