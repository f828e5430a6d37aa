package join

import "testing"

// TestLayerLimits: rows that are all short are for single warps, and all long ones for blocks; one row
// that is far longer than the others is for the grid, if a launch costs less than it does in a block.
func TestLayerLimits(t *testing.T) {
	const blocks, warps = 500, 8
	for _, c := range []struct {
		name          string
		rows          map[int]uint32 // by interval
		several, grid func(int) bool
	}{
		{"many short rows", map[int]uint32{0: 1e6}, func(x int) bool { return x > 0 }, func(int) bool { return true }},
		{"few rows of 900 elements", map[int]uint32{28: 3}, func(x int) bool { return x <= 28 }, func(int) bool { return true }},
		{"many rows of 2000 elements", map[int]uint32{62: 1e5}, func(int) bool { return true }, func(x int) bool { return x > 62 }},
		{"one row of 64000 elements", map[int]uint32{0: 1e6, 2000: 1}, func(x int) bool { return x > 0 }, func(x int) bool { return x <= 2000 }},
		{"many rows of 64000 elements", map[int]uint32{2000: 1e5}, func(int) bool { return true }, func(x int) bool { return x > 2000 }},
	} {
		h := make([]uint32, intervals)
		for i, n := range c.rows {
			h[i] = n
		}
		several, grid := layerLimits(h, blocks, warps)
		if several < 0 || several > poolLimit || grid < poolLimit || grid > intervals || !c.several(several) || !c.grid(grid) {
			t.Errorf("%s: several warps from interval %d on, the grid from %d on", c.name, several, grid)
		}
	}
}
