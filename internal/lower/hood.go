package lower

import (
	"slices"

	"github.com/weftgraph/weft/internal/plan"
)

// hood is the part of neighbourhoods that the plan needs, and of rows.
type hood struct {
	plan.Hood
	inside int // levels
	// rows is the side of each position's neighbours that the plan reads.
	rows plan.Side
}

// hoodOf analyses a plan that plan.LocalOK accepts, with its levels from tail on
// closed by arithmetic.
func hoodOf(p *plan.Plan, tail int) hood {
	h := hood{Hood: p.Hood(tail)}
	h.inside = len(p.Levels) - h.First
	h.rows = h.readSide(p)
	return h
}

// readSide finds the side of rows that is enough: the lower one, say, where every
// set made of a position's row is bounded by that position.
func (h *hood) readSide(p *plan.Plan) plan.Side {
	lower, upper := true, true
	for i := range p.Sets {
		if s := &p.Sets[i]; s.Of >= h.First {
			lower = lower && slices.Contains(s.Below, s.Of)
			upper = upper && slices.Contains(s.Above, s.Of)
		}
	}
	switch {
	case lower:
		return plan.LowerSide
	case upper:
		return plan.UpperSide
	}
	return plan.AllSides
}

// facing turns the restrictions of a plan round where that lets wedges be walked
// from the end of higher degree, which are the fewest (Chiba and Nishizeki 1985). So it is
// with an outside vertex of which only the number of shared neighbours matters,
// and with an inside one whose whole neighbourhood is asked for.
func facing(p *plan.Plan) *plan.Plan {
	if len(p.Levels[1].Below) == 0 {
		return p
	}
	tail := len(p.Levels) - p.Tail.K
	h := hoodOf(p, tail)
	if !h.SizesOnly && (h.Outside || tail != 2 || len(p.Tail.Groups) != 1 || h.Universe != plan.AllSides || h.rows != plan.AllSides) {
		return p
	}
	return p.Turned()
}
