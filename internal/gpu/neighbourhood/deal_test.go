package neighbourhood

import (
	"testing"
	"time"
)

// TestDeal plays devices of different speeds: each part is dealt once, and all
// devices end at about the same time.
func TestDeal(t *testing.T) {
	for _, speeds := range [][]float64{{1}, {1, 1}, {1, 3}, {1, 1, 1, 1, 1, 1, 1, 2}} {
		d := newDealer(len(speeds))
		sum := 0.0
		for _, v := range speeds {
			sum += v
		}
		// All parts take a second on all devices together.
		cost := func(n, i int) float64 { return float64(n) * sum / float64(d.parts) / speeds[i] }
		seen := make([]int, d.parts)
		ends, last := make([]float64, len(speeds)), make([]float64, len(speeds))
		done := make([]bool, len(speeds))
		take := func(i, from, n int) {
			for k := from; k < from+n; k++ {
				seen[k]++
			}
			last[i] = cost(n, i)
			ends[i] += last[i]
			done[i] = n == 0
		}
		for i := range speeds {
			from, n := d.first()
			take(i, from, n)
		}
		for {
			i := -1
			for k := range speeds {
				if !done[k] && (i < 0 || ends[k] < ends[i]) {
					i = k
				}
			}
			if i < 0 {
				break
			}
			from, n := d.another(time.Duration(last[i] * 1e9))
			take(i, from, n)
		}
		latest := 0.0
		for i := range speeds {
			latest = max(latest, ends[i])
		}
		if latest > 1.1 {
			t.Errorf("speeds %v: the last device ends after %.2f s of 1", speeds, latest)
		}
		for k, n := range seen {
			if n != 1 {
				t.Errorf("speeds %v: part %d was dealt %d times", speeds, k, n)
			}
		}
	}
}

// TestDealShort: rounds that are over at once are two a device.
func TestDealShort(t *testing.T) {
	d := newDealer(4)
	rounds := 0
	for range 4 {
		if _, n := d.first(); n > 0 {
			rounds++
		}
	}
	for _, n := d.another(time.Microsecond); n > 0; _, n = d.another(time.Microsecond) {
		rounds++
	}
	if d.next != d.parts || rounds > 4+16 {
		t.Errorf("%d of %d parts in %d rounds", d.next, d.parts, rounds)
	}
}
