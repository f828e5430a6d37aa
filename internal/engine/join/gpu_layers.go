package join

import (
	"math"

	"github.com/weftgraph/weft/internal/cuda"
)

// layerKernels begin the names of the kernels of layers, the longest rows first.
var layerKernels = [...]string{"join_grid_", "join_block_", "join_pool_", "join_"}

// layers is a phase's way through the rows of a table by layers.
type layers struct {
	sorted  bool // order has the rows of the table that is joined
	order   cuda.Buffer
	lengths cuda.Buffer
	at, end [len(layerKernels)]uint32 // rows of each layer that are left
}

// intervals is the number of intervals of the histogram, of 32 elements each. The last one is open.
const intervals = 2048

// poolLimit is the length, in intervals, from which a list has a block by itself, as in SGSI.
const poolLimit = 32

// Costs in steps of a warp, which are 32 elements: of a barrier of a block, and of a launch with the
// reading of its counters. They are estimates.
const (
	barrierCost = 0.1
	launchCost  = 30
)

// layerLimits returns the lengths, in intervals, from which rows are for several warps and for the whole
// grid: those for which the sum of the costs of all intervals is the least (SGSI, section 7). blocks
// of `warps` warps are resident.
func layerLimits(histogram []uint32, blocks, warps int) (several, grid int) {
	ceil := func(a, b float64) float64 { return math.Ceil(a / b) }
	b, w := float64(blocks), float64(warps)
	choose := func(from, to int, short, long func(i int, n float64) float64) int {
		sum := 0.0 // with the limit at from, all are long
		for i := from; i < to; i++ {
			sum += long(i, float64(histogram[i]))
		}
		best, least := from, sum
		for i := from; i < to; i++ {
			n := float64(histogram[i])
			if sum += short(i, n) - long(i, n); sum <= least {
				best, least = i+1, sum
			}
		}
		return best
	}
	steps := func(i int) float64 { return float64(i + 1) }
	several = choose(0, poolLimit, func(i int, n float64) float64 {
		return steps(i) * ceil(n, b*w)
	}, func(i int, n float64) float64 {
		return (1 + 2*barrierCost) * ceil(steps(i)*ceil(n, b), w)
	})
	grid = choose(poolLimit, len(histogram), func(i int, n float64) float64 {
		return (1 + barrierCost) * ceil(n, b) * ceil(steps(i), w)
	}, func(i int, n float64) float64 {
		return n * (launchCost + ceil(steps(i), b*w))
	})
	return several, grid
}

// layerBytes is the memory that phase i needs for each row of a table besides the table.
func (t *tables) layerBytes(i int) int64 {
	if t.phase[i].layered {
		return 4 + 4
	}
	return 0
}

// allocateLayers takes memory for a phase.
func (t *tables) allocateLayers(p *phase) (err error) {
	if !p.layered {
		return nil
	}
	if t.histogram.Ptr == 0 {
		if t.histogram, err = t.x.Scratch("a histogram", 4*intervals); err != nil {
			return err
		}
	}
	if p.order, err = t.x.Scratch("rows by layer", 4*int64(t.room)); err != nil {
		return err
	}
	p.lengths, err = t.x.Scratch("lengths of lists", 4*int64(t.room))
	return err
}

// sort puts the rows of the table that phase i joins in the order of layers.
func (t *tables) sort(i int, a deviceArgs) error {
	p, c := &t.phase[i], t.x.Context()
	a.Chunk, a.Intervals, a.Order = uint32(min(max(uint64(a.Count)/(4*t.warps), 1), 16)), intervals, p.order.Ptr
	rows := uint64(a.Count)
	if err := t.launch(i, "join_bounds", &a, rows/uint64(a.Chunk)+1); err != nil || t.x.Stopped() {
		return err
	}
	if err := c.Clear(t.histogram, t.x.Stream()); err != nil {
		return err
	}
	if err := t.launch(i, "join_histogram", &a, rows/32+1); err != nil {
		return err
	}
	h := make([]uint32, intervals)
	if err := cuda.Download(c, h, t.histogram, 0); err != nil {
		return err
	}
	k := t.kernel["join_block_"+p.goal]
	several, grid := layerLimits(h, k.blocks, k.threads/32)
	limits := [...]int{0, several, poolLimit, grid, intervals} // ascending, the shortest rows first
	var begin [len(layerKernels)]uint32
	sum := uint32(0)
	for l := range begin {
		begin[l] = sum
		for _, n := range h[limits[l]:max(limits[l], limits[l+1])] {
			sum += n
		}
		a.Layer[l] = 32 * uint32(limits[l+1])
		if limits[l+1] == intervals { // the last interval is open
			a.Layer[l] = math.MaxUint32
		}
	}
	if err := cuda.Upload(c, t.histogram, 0, begin[:]); err != nil {
		return err
	}
	if err := t.launch(i, "join_deal", &a, rows/32+1); err != nil {
		return err
	}
	end := make([]uint32, len(begin))
	if err := cuda.Download(c, end, t.histogram, 0); err != nil {
		return err
	}
	for l := range end { // rows without candidates are in no layer
		k := len(end) - 1 - l
		p.at[k], p.end[k] = begin[l], end[l]
	}
	p.sorted = true
	return nil
}

// layer joins rows of one layer in phase i, or pieces of rows, until the table is full.
func (t *tables) layer(i int) error {
	p, in := &t.phase[i], &t.phase[i-1]
	a := t.args(i)
	a.Sizes = p.lengths.Ptr
	if p.head < p.tail {
		a.Count, a.Base, a.Chunk = 0, 0, 1 // pieces alone
		_, err := t.join(i, p.name, &a, 0)
		return err
	}
	if !p.sorted {
		if err := t.sort(i, a); err != nil || t.x.Stopped() {
			return err
		}
	}
	a.Order, a.Chunk = p.order.Ptr, 1
	for l := range p.at {
		if p.at[l] == p.end[l] {
			continue
		}
		a.Base, a.Count = p.at[l], p.end[l]
		rows := uint64(a.Count - a.Base)
		name := layerKernels[l] + p.goal
		units := rows
		switch layerKernels[l] {
		case "join_grid_":
			a.Count, units = a.Base+1, t.warps
		case "join_block_", "join_pool_":
			units = min(rows, t.warps) * uint64(t.kernel[name].threads/32)
		}
		taken, err := t.join(i, name, &a, units)
		if layerKernels[l] == "join_grid_" {
			taken = 1
		}
		p.at[l] += uint32(min(taken, rows))
		return err
	}
	in.base = in.count
	return nil
}
