package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestHistogram compares quantiles with those of a sorted list.
func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 100, 100_000} {
		var h histogram
		var all []time.Duration
		for range n {
			d := time.Duration(r.Uint64() >> (1 + r.IntN(63))) // of every order of magnitude
			h.add(d)
			all = append(all, d)
		}
		slices.Sort(all)
		if h.total() != uint64(n) {
			t.Errorf("%d times of %d", h.total(), n)
		}
		for _, share := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
			got, want := h.quantile(share), quantile(all, share)
			if off := float64(got-want) / float64(max(want, 1)); off > 0.01 || off < -0.01 {
				t.Errorf("%d times, the share %v: %d, and not %d", n, share, got, want)
			}
		}
	}
	var h histogram
	h.add(-time.Second) // a clock that was set back
	if h.quantile(0.5) != 0 {
		t.Error(h.quantile(0.5))
	}
	if n := testing.AllocsPerRun(100_000, func() { h.add(time.Duration(r.Int64())) }); n != 0 {
		t.Errorf("counting a time takes %v allocations", n)
	}
}
