package large

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestLeaves compares leafCount with a sum over the columns: how many ways to
// give each of the first vertices to at most one leaf.
func TestLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 14).Draw(t, "leaves")
		classes := rapid.IntRange(1, k).Draw(t, "classes")
		words := rapid.IntRange(1, 3).Draw(t, "words")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		keep := rapid.IntRange(1, 60).Draw(t, "keep")
		sets := make([][]uint64, classes)
		for i := range sets {
			sets[i] = make([]uint64, words)
			for j := range words * 64 {
				if rng.IntN(64) < keep {
					sets[i][j>>6] |= 1 << (j & 63)
				}
			}
		}
		sp := &space{total: k * words}
		w := &worker{sp: sp, frames: []*frame{{}}}
		f := w.frames[0]
		leaves := make([][]uint64, k)
		for v := range k {
			leaves[v] = sets[rng.IntN(classes)]
			sp.off[v], sp.words[v] = v*words, words
			f.sets = append(f.sets, leaves[v]...)
			f.size[v] = int32(countBits(leaves[v]))
		}
		got, ok := w.leafCount(1<<k - 1)
		if !ok {
			if classes <= 3 {
				t.Fatalf("%d leaves in %d classes are refused", k, classes)
			}
			t.Skip("too many classes")
		}
		ways := make([]*big.Int, 1<<k)
		for s := range ways {
			ways[s] = new(big.Int)
		}
		ways[0].SetInt64(1)
		for j := range words * 64 {
			for s := len(ways) - 1; s >= 0; s-- {
				if ways[s].Sign() == 0 {
					continue
				}
				for v := range k {
					if s>>v&1 == 0 && leaves[v][j>>6]>>(j&63)&1 != 0 {
						ways[s|1<<v].Add(ways[s|1<<v], ways[s])
					}
				}
			}
		}
		if want := ways[1<<k-1]; got.Big().Cmp(want) != 0 {
			t.Fatalf("%d leaves: %v, want %v", k, got, want)
		}
	})
}
