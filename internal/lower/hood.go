package lower

import (
	"slices"

	"github.com/weftgraph/weft/internal/plan"
)

// side says which neighbours of a vertex something is about.
type side uint8

// Sides, as W_UNIVERSE and W_ROWS have them.
const (
	bothSides side = iota
	lowerSide      // ids below the vertex's own
	upperSide      // ids above it
	noRows         // of W_ROWS: only how many neighbours each position has
)

// hood is what a plan for the local method asks of the neighbourhood of level
// 0's vertex, the root: all other vertices are its neighbours, inside, but one at
// most, the outside vertex, which is level 1.
type hood struct {
	outside bool
	first   int // the first inside level
	inside  int // how many there are
	// universe is the side of the root's neighbours that inside vertices are on.
	universe side
	// rows is the side of each position's neighbours that the plan reads.
	rows side
	// share is how many inside vertices are neighbours of the outside vertex.
	share int
	// sizesOnly: of the neighbours that root and outside vertex share only the
	// number matters (a 4-cycle, say).
	sizesOnly bool
}

// hoodOf analyses a plan that plan.LocalOK accepts, with its levels from tail on
// closed by arithmetic.
func hoodOf(p *plan.Plan, tail int) hood {
	h := hood{outside: p.Levels[1].Set < 0, first: 1}
	if h.outside {
		h.first = 2
	}
	h.inside = len(p.Levels) - h.first
	lower, upper := true, true
	for l := h.first; l < len(p.Levels); l++ {
		lower = lower && leads(p, l, func(lv *plan.Level) []int { return lv.Below })
		upper = upper && leads(p, l, func(lv *plan.Level) []int { return lv.Above })
		if h.outside && slices.Contains(p.Levels[l].Back, plan.Back{Level: 1, Adj: p.Levels[l].Back[0].Adj}) {
			h.share++
		}
	}
	switch {
	case lower:
		h.universe = lowerSide
	case upper:
		h.universe = upperSide
	}
	h.rows = h.readSide(p)
	h.sizesOnly = h.outside && tail == 2 && h.share == h.inside && len(p.Tail.Groups) == 1
	for l := 2; l < len(p.Levels) && h.sizesOnly; l++ {
		lv := &p.Levels[l]
		h.sizesOnly = lv.Ranges == nil && lv.Bits == nil && len(lv.Distinct) == 0 &&
			!slices.Contains(lv.Below, 1) && !slices.Contains(lv.Above, 1)
	}
	return h
}

// leads reports whether bounds lead from level l to level 0, directly or over
// other levels.
func leads(p *plan.Plan, l int, bounds func(*plan.Level) []int) bool {
	for _, j := range bounds(&p.Levels[l]) {
		if j == 0 || leads(p, j, bounds) {
			return true
		}
	}
	return false
}

// readSide finds the side of rows that is enough: the lower one, say, where every
// set made of a position's row is bounded by that position.
func (h *hood) readSide(p *plan.Plan) side {
	lower, upper := true, true
	for i := range p.Sets {
		if s := &p.Sets[i]; s.Of >= h.first {
			lower = lower && slices.Contains(s.Below, s.Of)
			upper = upper && slices.Contains(s.Above, s.Of)
		}
	}
	switch {
	case lower:
		return lowerSide
	case upper:
		return upperSide
	}
	return bothSides
}

// facing turns the restrictions of a plan round where that lets wedges be walked
// from the end of higher degree, which are the fewest (Chiba and Nishizeki 1985):
// any total order of the vertices breaks a symmetry as well as any other. So it is
// with an outside vertex of which only the number of shared neighbours matters,
// and with an inside one whose whole neighbourhood is asked for.
func facing(p *plan.Plan) *plan.Plan {
	if len(p.Levels[1].Below) == 0 {
		return p
	}
	tail := len(p.Levels) - p.Tail.K
	h := hoodOf(p, tail)
	if !h.sizesOnly && (h.outside || tail != 2 || len(p.Tail.Groups) != 1 || h.universe != bothSides || h.rows != bothSides) {
		return p
	}
	q := *p
	q.Levels, q.Sets = slices.Clone(p.Levels), slices.Clone(p.Sets)
	for i := range q.Levels {
		q.Levels[i].Below, q.Levels[i].Above = q.Levels[i].Above, q.Levels[i].Below
	}
	for i := range q.Sets {
		q.Sets[i].Below, q.Sets[i].Above = q.Sets[i].Above, q.Sets[i].Below
	}
	return &q
}
