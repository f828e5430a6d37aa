package order

import (
	"slices"
	"sort"
)

// cheapest makes level the best prefixes of an order, at most width of them, by their costs and among equals by their orders. best has one
// for each set of vertices, and key returns both of one.
func cheapest[P any](best map[uint32]P, level []P, width int, key func(p *P) (cost float64, order []int)) []P {
	level = level[:0]
	for _, p := range best {
		level = append(level, p)
	}
	sort.Slice(level, func(i, j int) bool {
		a, x := key(&level[i])
		b, y := key(&level[j])
		if a != b {
			return a < b
		}
		return slices.Compare(x, y) < 0
	})
	return level[:min(len(level), width)]
}
