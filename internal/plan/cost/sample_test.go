package cost

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSampleBits: a sample of a bitmap has each step-th of its vertices, from most to twice as many, or all of few.
func TestSampleBits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, share := range []int{1, 2, 9, 400} {
		for _, n := range []int{0, 1, 64, 65, 5000, 40000} {
			words := make([]uint64, (n+63)/64)
			var members []uint32
			for v := range n {
				if r.IntN(share) == 0 {
					words[v/64] |= 1 << (v % 64)
					members = append(members, uint32(v))
				}
			}
			for _, most := range []int{1, 7, 96, 512} {
				var want []uint32
				for i := 0; i < len(members); i += max(len(members)/most, 1) {
					want = append(want, members[i])
				}
				got := sampleBits(nil, words, len(members), most)
				if !slices.Equal(got, want) || len(members) >= most && (len(got) < most || len(got) > 2*most) {
					t.Errorf("%d vertices, a share of %d, at most %d: %v, want %v", n, share, most, got, want)
				}
			}
		}
	}
}
