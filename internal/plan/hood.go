package plan

import "slices"

// Hood is what a plan for the local method asks of the neighbourhood of level 0's vertex,
// the root: all other vertices are its neighbours, inside, except at most one, the outside
// vertex, which is level 1.
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

// Hood returns what the plan, which LocalOK accepts, asks of neighbourhoods, where so many
// levels are walked and the others are closed by arithmetic.
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
