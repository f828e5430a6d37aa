package tail

import (
	"math/bits"

	"github.com/weftgraph/weft/internal/engine"
	"github.com/weftgraph/weft/internal/engine/tasks"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
)

// choices counts the ways to close a tail of many levels: to take a given number of vertices
// from each of a few sets, no vertex twice. The sets cut each other into cells. A cell has the
// vertices that lie in exactly these sets. With a variable t_g for each set, the number of ways is a
// coefficient of a product over the cells:
//
//	[Π_g t_g^take(g)]  Π_cells (1 + Σ_{g in cell} t_g)^size(cell)
//
// A single set gives the binomial coefficient. The product is multiplied out cell by cell,
// keeping for each set how many vertices are still to be taken.
type choices struct {
	take   []int        // vertices that each set gives
	orders engine.Tally // sequences for one choice, over the groups that count them
	repeat bool         // vertices may recur: Π size^take

	cells      []uint64 // by set of groups; first the sizes of the intersections
	stride     []int    // of a group in ways
	ways, next []engine.Tally
}

func (c *choices) init(p *plan.Plan) {
	c.repeat = p.Mode != pattern.Iso
	c.orders = engine.One
	states := 1
	for _, g := range p.Tail.Groups {
		k := len(g.Levels)
		c.take = append(c.take, k)
		c.stride = append(c.stride, states)
		states *= k + 1
		for i := 2; i <= k && !g.Ordered; i++ {
			c.orders = c.orders.Times(engine.Tally64(uint64(i)))
		}
	}
	c.cells = tasks.Padded[uint64](1 << len(c.take))
	c.ways, c.next = tasks.Padded[engine.Tally](states), tasks.Padded[engine.Tally](states)
}

// size says how many vertices the sets in a mask have in common.
func (c *choices) size(mask uint32, n uint64) { c.cells[mask] = n }

// count is the number of ways. The sizes given are used up.
func (c *choices) count() engine.Tally {
	if c.repeat {
		n := engine.One
		for g, k := range c.take {
			for range k {
				n = n.Times(engine.Tally64(c.cells[1<<g]))
			}
		}
		return n
	}
	for g, k := range c.take {
		if c.cells[1<<g] < uint64(k) {
			clear(c.cells)
			return engine.Tally{}
		}
	}
	// From intersections to cells: subtract the vertices that are in more sets.
	last := 0
	for g := range c.take {
		for m := range c.cells {
			if m>>g&1 == 0 {
				c.cells[m] -= c.cells[m|1<<g]
			}
		}
	}
	for m, n := range c.cells[1:] {
		if n > 0 {
			last = m + 1
		}
	}
	clear(c.ways)
	c.ways[len(c.ways)-1] = engine.One
	for m := 1; m <= last; m++ {
		if c.cells[m] == 0 {
			continue
		}
		clear(c.next)
		for s, n := range c.ways {
			if !n.IsZero() {
				c.spread(uint32(m), s, c.cells[m], n, m == last)
			}
		}
		c.ways, c.next = c.next, c.ways
	}
	clear(c.cells)
	return c.ways[0].Times(c.orders)
}

// spread takes vertices of one cell, of which left are free, for the groups in
// mask, in all numbers; from the last cell all that is still to be taken.
func (c *choices) spread(mask uint32, state int, left uint64, n engine.Tally, last bool) {
	if mask == 0 {
		if !last || state == 0 {
			c.next[state] = c.next[state].Plus(n)
		}
		return
	}
	g := bits.TrailingZeros32(mask)
	todo := state / c.stride[g] % (c.take[g] + 1)
	binomial := engine.One
	for k := 0; ; k++ {
		if !last || k == todo {
			c.spread(mask&(mask-1), state-k*c.stride[g], left-uint64(k), n.Times(binomial), last)
		}
		if k == todo || uint64(k) == left {
			return
		}
		binomial = binomial.MulDiv(left-uint64(k), uint64(k+1))
	}
}
