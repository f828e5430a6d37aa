package gen

import (
	"context"
	"math"
)

// rgg is the random geometric graph in the unit square: vertices closer than a
// radius are joined. Coordinates are integers, so the result is exact.
var rgg = model{
	uses: "Scale Degree",
	check: func(s *Spec) error {
		if s.Scale < 0 || s.Scale > 31 {
			return bad("rgg: scale %d: want 0 … 31", s.Scale)
		}
		r2 := radius2(s)
		if !(s.Degree > 0) || r2 < 1 || r2 > side*side/4 {
			return bad("rgg: mean degree %v is out of reach with 2^%d vertices", s.Degree, s.Scale)
		}
		return nil
	},
	size:    func(s *Spec) (uint64, uint64) { return 1 << s.Scale, 1 << s.Scale },
	edges:   func(s *Spec) uint64 { return uint64(s.Degree / 4 * float64(uint64(1)<<s.Scale)) },
	grain:   4096,
	prepare: prepareRGG,
}

// side is the length of the square.
const side = 1 << 20

func radius2(s *Spec) float64 {
	return math.Floor(s.Degree / (math.Pi * float64(uint64(1)<<s.Scale)) * side * side)
}

func prepareRGG(_ context.Context, s *Spec, _ int) (func(*Spec, uint64, uint64, func(u, v uint64)), error) {
	n := uint32(1) << s.Scale
	r2 := uint64(radius2(s))
	cells := uint32(side / uint32(math.Ceil(math.Sqrt(float64(r2)))))
	width := (side + cells - 1) / cells
	seed := mix(s.Seed)
	at := func(i uint32) (x, y uint32) {
		h := mix(seed ^ uint64(i))
		return uint32(h & (side - 1)), uint32(h >> 32 & (side - 1))
	}
	cell := func(x, y uint32) uint64 { return uint64(y/width)*uint64(cells) + uint64(x/width) }
	head := make([]uint32, uint64(cells)*uint64(cells)+1)
	for i := range n {
		head[cell(at(i))+1]++
	}
	for k := 1; k < len(head); k++ {
		head[k] += head[k-1]
	}
	next := append([]uint32(nil), head...)
	members := make([]uint32, n)
	for i := range n {
		c := &next[cell(at(i))]
		members[*c] = i
		*c++
	}
	return func(_ *Spec, lo, hi uint64, emit func(u, v uint64)) {
		for i := uint32(lo); uint64(i) < hi; i++ {
			x, y := at(i)
			for cy := max(y/width, 1) - 1; cy <= min(y/width+1, cells-1); cy++ {
				for cx := max(x/width, 1) - 1; cx <= min(x/width+1, cells-1); cx++ {
					k := uint64(cy)*uint64(cells) + uint64(cx)
					for _, j := range members[head[k]:head[k+1]] {
						if j <= i {
							continue
						}
						u, v := at(j)
						dx, dy := int64(x)-int64(u), int64(y)-int64(v)
						if uint64(dx*dx+dy*dy) <= r2 {
							emit(uint64(i), uint64(j))
						}
					}
				}
			}
		}
	}, nil
}
