package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDistinct compares the lists of distinct numbers with a set, for tables that overflow and tables that do not.
func TestDistinct(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{64, 1 << 12} {
		d := distinct{most: most}
		var want []uint64
		for range 20_000 {
			x := rng.Uint64N(3000)
			if x%3 == 0 {
				x = x<<40 | 1<<62
			}
			d.add(x)
			want = append(want, x)
		}
		d.flush()
		slices.Sort(want)
		want = slices.Compact(want)
		var got []uint64
		for _, l := range d.lists {
			if len(l) > most || !slices.IsSorted(l) || len(slices.Compact(slices.Clone(l))) != len(l) {
				t.Fatalf("a list of %d numbers is too long, not in order, or not distinct", len(l))
			}
			got = append(got, l...)
		}
		if most > len(want) && len(d.lists) != 1 {
			t.Errorf("%d numbers are in %d lists", len(want), len(d.lists))
		}
		slices.Sort(got)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("tables of %d numbers find %d distinct ones, not %d", most, len(got), len(want))
		}
	}
}

// TestRenumber compares renumbered lists with sorted ones: orders that hardly differ, and orders that have nothing in
// common.
func TestRenumber(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 5000
	var tmp []uint32
	for _, swaps := range []int{0, 1, 50, 100_000} {
		final := make([]uint32, n)
		for v := range final {
			final[v] = uint32(v)
		}
		for range swaps {
			i, j := rng.IntN(n), rng.IntN(n)
			final[i], final[j] = final[j], final[i]
		}
		for _, size := range []int{0, 1, 2, 30, 500, n} {
			var l, want []uint32
			for _, v := range rng.Perm(n)[:size] {
				l = append(l, uint32(v))
				want = append(want, final[v])
			}
			slices.Sort(l)
			slices.Sort(want)
			renumber(l, final, &tmp)
			if !slices.Equal(l, want) {
				t.Errorf("%d swaps: a list of %d is wrong", swaps, size)
			}
		}
	}
}
