package plan

import "slices"

// Member says how to find out whether the vertex of an earlier level lies in a level's set.
// Besides the level's bounds it has the tests that are not known to pass: the vertex has
// passed those of its own level, and those of levels between the two that name it.
type Member struct {
	Level  int    // the earlier level
	Back   []Back // backward neighbours to test
	Ranges bool   // the label ranges are to be tested
	Bits   bool   // the bitmap of predicates is to be tested
}

// Member says how to find out whether the vertex of level d, which is before l, lies in the
// set of level l.
func (p *Plan) Member(l, d int) Member {
	lv, at := &p.Levels[l], &p.Levels[d]
	m := Member{
		Level:  d,
		Ranges: lv.Ranges != nil && !slices.Equal(lv.Ranges, at.Ranges),
		Bits:   lv.Bits != nil && !SameBits(lv.Bits, at.Bits),
	}
	for _, b := range lv.Back {
		known := false
		switch {
		case b.Level < d:
			known = slices.Contains(at.Back, b)
		case b.Level > d:
			known = slices.Contains(p.Levels[b.Level].Back, Back{Level: d, Adj: p.Adjs[b.Adj].Rev, Neg: b.Neg})
		}
		if !known {
			m.Back = append(m.Back, b)
		}
	}
	return m
}

// Unread reports for each set node whether no element of it is read, if the first levels are
// walked and the others are closed by groups. Nothing is then made of the node, and no level
// needs more of it than its size. reads reports whether a group reads the elements of its set
// rather than the size. A SetList is always read, as it is a part of a neighbour list.
func (p *Plan) Unread(walked int, groups []TailGroup, reads func(group int) bool) []bool {
	unread := make([]bool, len(p.Sets))
	for i := range unread {
		unread[i] = true
	}
	read := func(i int) {
		for ; i >= 0; i = p.Sets[i].Base {
			unread[i] = false
		}
	}
	for l := range walked {
		read(p.Levels[l].Set)
	}
	for r, g := range groups {
		i := p.Levels[g.Levels[0]].Set
		if i >= 0 && p.Sets[i].Op != SetList && !reads(r) {
			i = p.Sets[i].Base
		}
		read(i)
	}
	return unread
}
