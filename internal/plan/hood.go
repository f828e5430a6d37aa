package plan

import "slices"

// Hood says which parts of a root's neighbourhood a plan for the local method needs. The root
// is level 0's vertex. All other vertices are inside: they are neighbours of the root. Only
// level 1 may be the outside vertex, which is not.
type Hood struct {
	Outside bool
	First   int // the first inside level
	// Universe is the side of the root's neighbours that inside vertices are on.
	Universe Side
	// Share is how many inside vertices are neighbours of the outside vertex.
	Share int
	// SizesOnly: of the neighbours that root and outside vertex share only the number
	// matters (a 4-cycle, say).
	SizesOnly bool
}

// Hood returns the parts of neighbourhoods that the plan needs. LocalOK must accept the plan.
// The first walked levels are enumerated, and arithmetic closes the others.
func (p *Plan) Hood(walked int) Hood {
	h := Hood{Outside: p.Levels[1].Set < 0, First: 1, Universe: LocalSide(p)}
	if h.Outside {
		h.First = 2
	}
	for l := h.First; l < len(p.Levels); l++ {
		if h.Outside && p.Levels[l].adjacent(1) {
			h.Share++
		}
	}
	h.SizesOnly = h.Outside && walked == 2 && h.Share == len(p.Levels)-2 && len(p.Tail.Groups) == 1
	for l := 2; l < len(p.Levels) && h.SizesOnly; l++ {
		lv := &p.Levels[l]
		h.SizesOnly = lv.Ranges == nil && lv.Bits == nil && len(lv.Distinct) == 0 &&
			!slices.Contains(lv.Below, 1) && !slices.Contains(lv.Above, 1)
	}
	return h
}

// adjacent reports whether lv's vertex is a neighbour of level j's.
func (lv *Level) adjacent(j int) bool {
	return slices.ContainsFunc(lv.Back, func(b Back) bool { return b.Level == j && !b.Neg })
}

// Turned returns the plan with its restrictions turned round: any total order of the
// vertices breaks a symmetry as well as any other.
func (p *Plan) Turned() *Plan {
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
