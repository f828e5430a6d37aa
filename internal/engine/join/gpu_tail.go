package join

import (
	"math/bits"
	"slices"

	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/phases"
)

// The structs of kernels/join/tail.cuh.
type (
	deviceTerm struct {
		Coefficient int64
		N           uint32
		Block       [plan.MaxTail]uint32
	}

	deviceTail struct {
		Block, Term               uint64
		Blocks, Terms, Divisor, _ uint32
		Choice                    [2]struct{ Levels, How uint32 }
	}
)

// How the vertices of a choice may be: enum JoinHow.
const (
	chooseAny = iota
	chooseDistinct
	chooseOrdered
)

// tailSum is a last phase that a device counts by arithmetic.
type tailSum struct {
	blocks []*group // whose candidates are counted
	tail   deviceTail
	terms  []deviceTerm
}

// deviceTails reports whether devices count the plan's tail by arithmetic: its formula is written out, and
// its terms fit 128 bits with room for their sum.
func deviceTails(p *plan.Plan) bool {
	return p.Tail.Terms != nil && bits.Len(uint(p.Graph.NumVertices()))*p.Tail.K < 120
}

// tailBacks is the number of lists that the tail's levels read. The lanes of a warp have them.
func tailBacks(p *plan.Plan) (n int) {
	for l := len(p.Levels) - p.Tail.K; l < len(p.Levels); l++ {
		n += len(p.Levels[l].Back)
	}
	return n
}

// deviceTail is the last step's arithmetic, or nil.
func (x *prepared) deviceTail() *tailSum {
	s := &x.steps[len(x.steps)-1]
	t := &tailSum{tail: deviceTail{Divisor: 1}}
	switch {
	case s.closed:
		for k := range s.groups {
			c := &t.tail.Choice[k]
			c.Levels = uint32(len(s.groups[k].Levels))
			switch _, distinct := distinctInside(s, k); {
			case s.groups[k].ordered:
				c.How = chooseOrdered
			case distinct:
				c.How = chooseDistinct
			default:
				c.How = chooseAny
			}
			t.blocks = append(t.blocks, &s.groups[k])
		}
		return t
	case s.Pattern != phases.Sizes:
		return nil
	}
	t.tail.Divisor = uint32(x.p.Tail.Divisor)
	first := map[int]int{} // of the levels with the same candidates
	for _, g := range x.p.Tail.Groups {
		for _, l := range g.Levels {
			first[l] = g.Levels[0]
		}
	}
	var had [][]int // the levels of each block
	for _, term := range x.p.Tail.Terms {
		d := deviceTerm{Coefficient: term.Coef, N: uint32(len(term.Blocks))}
		for i, block := range term.Blocks {
			var levels []int
			for _, l := range block {
				levels = append(levels, first[l])
			}
			slices.Sort(levels)
			levels = slices.Compact(levels)
			at := slices.IndexFunc(had, func(h []int) bool { return slices.Equal(h, levels) })
			if at < 0 {
				at = len(had)
				had = append(had, levels)
				var all []*group
				for _, l := range levels {
					all = append(all, &s.groups[l-s.width])
				}
				t.blocks = append(t.blocks, x.intersection(all))
			}
			d.Block[i] = uint32(at)
		}
		t.terms = append(t.terms, d)
	}
	return t
}

// intersection is a group whose candidates are those of all the given ones.
func (x *prepared) intersection(all []*group) *group {
	if len(all) == 1 {
		return all[0]
	}
	c := *all[0]
	c.With = slices.Clone(c.With)
	tests := c.tests()
	for _, o := range all[1:] {
		backs := o.With
		if !o.Free() {
			if backs = append(slices.Clone(o.With), o.From); c.Free() {
				c.From, backs = o.From, o.With
			}
		}
		for _, b := range backs {
			if b != c.From && !slices.Contains(c.With, b) {
				c.With = append(c.With, b)
			}
		}
		c.one.First, c.one.End = max(c.one.First, o.one.First), min(c.one.End, o.one.End)
		c.below, c.above, c.distinct = slices.Concat(c.below, o.below), slices.Concat(c.above, o.above), slices.Concat(c.distinct, o.distinct)
		tests = tests || o.tests()
	}
	if !tests {
		return &c
	}
	c.ranges, c.minDegree = nil, 0
	c.bits = make([]uint64, (x.g.NumVertices()+63)/64)
	for v := c.one.First; v < c.one.End; v++ {
		if !slices.ContainsFunc(all, func(o *group) bool { return !o.allows(x.lists, v) }) {
			c.bits[v/64] |= 1 << (v % 64)
		}
	}
	return &c
}
