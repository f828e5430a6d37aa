package setops

import (
	"fmt"
	"testing"
)

// Each benchmark runs at every level the CPU offers, so that the output shows
// the ratios to the portable version. ns/elem is per value of both lists (or
// per value of the list, or per word of a row).

func benchLevels(b *testing.B, elems int, f func()) {
	for l := levelPortable; l < numLevels; l++ {
		b.Run(l.String(), func(b *testing.B) {
			setLevel(b, l)
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(elems), "ns/elem")
		})
	}
}

var sinkInt int

// benchLists returns many pairs of lists, of na and nb values that share about the given part
// of the shorter one. One pair over and over would teach the branch predictor its answer.
func benchLists(na, nb int, shared float64) [][2][]uint32 {
	pairs := make([][2][]uint32, max(1, min(256, 1<<17/(na+nb))))
	seed := uint64(na*1000003 + nb)
	for i := range pairs {
		// In a universe of u values, na*nb/u are shared by chance.
		u := uint64(float64(max(na, nb)) / shared)
		pairs[i] = [2][]uint32{pick(&seed, na, 0, u), pick(&seed, nb, 0, u)}
	}
	return pairs
}

func BenchmarkMerge(b *testing.B) {
	for _, c := range []struct {
		na, nb int
		shared float64
	}{
		{8, 8, 0.3}, {16, 16, 0.3}, {32, 32, 0.3}, {20, 100, 0.3}, {100, 100, 0.3},
		{1000, 1000, 0.01}, {1000, 1000, 0.3}, {1000, 1000, 0.9}, {1000, 8000, 0.3}, {30000, 30000, 0.3},
	} {
		pairs := benchLists(c.na, c.nb, c.shared)
		dst := make([]uint32, c.na)
		for _, op := range []struct {
			name string
			f    func(x, y []uint32) int
		}{
			{"IntersectCount", IntersectCount},
			{"Intersect", func(x, y []uint32) int { return Intersect(dst, x, y) }},
			{"Difference", func(x, y []uint32) int { return Difference(dst, x, y) }},
		} {
			b.Run(fmt.Sprintf("%s/%dx%d/shared%v", op.name, c.na, c.nb, c.shared), func(b *testing.B) {
				i := 0
				benchLevels(b, c.na+c.nb, func() {
					sinkInt += op.f(pairs[i][0], pairs[i][1])
					if i++; i == len(pairs) {
						i = 0
					}
				})
			})
		}
	}
}

// BenchmarkRatio finds the length ratio from which galloping beats merging
// (gallopShift). ns/elem is per value of the short list.
func BenchmarkRatio(b *testing.B) {
	const short = 64
	for _, ratio := range []int{4, 8, 16, 32, 64, 128, 1024} {
		pairs := benchLists(short, short*ratio, 0.3)
		for _, op := range []struct {
			name string
			f    func(x, y []uint32) int
		}{{"merge", mergeCount}, {"gallop", gallopCount}} {
			b.Run(fmt.Sprintf("%d/%s", ratio, op.name), func(b *testing.B) {
				i := 0
				benchLevels(b, short, func() {
					sinkInt += op.f(pairs[i][0], pairs[i][1])
					if i++; i == len(pairs) {
						i = 0
					}
				})
			})
		}
	}
}

func BenchmarkLowerBound(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 100_000, 10_000_000} {
		seed := uint64(1)
		list := pick(&seed, n, 0, uint64(4*n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := uint32(1)
			for b.Loop() {
				x = x*1664525 + 1013904223
				sinkInt += LowerBound(list, uint32(uint64(x)*uint64(4*n)>>32))
			}
		})
	}
}

func BenchmarkBitmap(b *testing.B) {
	for _, vertices := range []int{1 << 13, 1 << 17, 1 << 23} {
		const n = 1000
		bm := NewBitmap(vertices)
		seed := uint64(1)
		for v := range vertices {
			seed = seed*6364136223846793005 + 1442695040888963407
			if seed>>62 == 0 {
				bm.Set(uint32(v))
			}
		}
		lists := make([][]uint32, 64)
		for i := range lists {
			lists[i] = pick(&seed, n, 0, uint64(vertices))
		}
		dst := make([]uint32, n)
		i := 0
		for _, op := range []struct {
			name string
			f    func(list []uint32)
		}{
			{"CountBits", func(l []uint32) { sinkInt += CountBits(l, bm) }},
			{"FilterBits", func(l []uint32) { sinkInt += FilterBits(dst, l, bm) }},
			{"SetClear", func(l []uint32) { SetAll(bm, l); ClearAll(bm, l) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", op.name, vertices), func(b *testing.B) {
				benchLevels(b, n, func() {
					op.f(lists[i])
					i = (i + 1) % len(lists)
				})
			})
		}
	}
}

func BenchmarkRows(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8, 9, 12, 16, 24, 32, 63, 64, 128, 1024} {
		x, y, dst := make([]uint64, n), make([]uint64, n), make([]uint64, n)
		for i := range n {
			x[i], y[i] = uint64(i)*0x9E3779B97F4A7C15, uint64(i)*0xC2B2AE3D27D4EB4F
		}
		for _, op := range []struct {
			name string
			f    func()
		}{
			{"AndCount", func() { sinkInt += AndCount(x, y) }},
			{"And", func() { sinkInt += And(dst, x, y) }},
			{"AndNot", func() { sinkInt += AndNot(dst, x, y) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", op.name, n), func(b *testing.B) { benchLevels(b, n, op.f) })
		}
	}
}
