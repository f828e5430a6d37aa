package plan

import (
	"fmt"
	"math/bits"
	"slices"
)

// addSets writes the set program: each level's candidate set is a chain of set
// operations over the neighbour lists of its backward neighbours in the order
// of their levels, so that chains share their beginnings; equal nodes are one
// (hash-consing), and a node is computed at the level at which its last operand
// is known, which lifts it out of the loops below (code motion; STMatch, SC
// 2022, where hoisted nodes are the intermediate sets).
//
// A bound or label range goes into a node only where everything that is made of
// the node wants it. Levels with disjoint ranges get nodes of their own, which
// together read no more than one for both; other users share one node over the
// hull of their ranges (the multi-label merging of STMatch's §1.7).
//
// Without motion, for comparison, each level computes its whole chain just
// before it is entered; the levels from tail on are entered together.
func addSets(pl *Plan, less *poset, tail int, noMotion bool) {
	b := &setBuilder{pl: pl, less: less, byKey: map[string]*chainNode{}, tail: tail, noMotion: noMotion}
	last := make([]*chainNode, len(pl.Levels))
	for l := range pl.Levels {
		last[l] = b.chain(l)
	}
	b.place(last)
}

// chainNode is a prefix of the chains of some levels.
type chainNode struct {
	parent *chainNode
	step   Back
	depth  int
	users  []int // levels whose chains pass through here
	at     int
	// parts splits the users by label range; each part becomes a node.
	parts []chainPart
}

type chainPart struct {
	users []int
	hull  Range // zero End: no limit
	set   int   // index in Plan.Sets, once placed
}

type setBuilder struct {
	pl       *Plan
	less     *poset
	nodes    []*chainNode
	byKey    map[string]*chainNode
	tail     int
	noMotion bool
}

// chain adds the chain of level l and returns its last node, nil where there is
// no positive backward neighbour.
func (b *setBuilder) chain(l int) *chainNode {
	steps := chainSteps(b.pl.Levels[l].Back)
	key := ""
	if b.noMotion {
		key = fmt.Sprintf("level %d:", l)
	}
	var n *chainNode
	for i, s := range steps {
		key += fmt.Sprintf("%d,%d,%v;", s.Level, s.Adj, s.Neg)
		next := b.byKey[key]
		if next == nil {
			next = &chainNode{parent: n, step: s, depth: i, at: s.Level}
			if n != nil {
				next.at = max(n.at, s.Level)
			}
			if b.noMotion {
				next.at = min(l, b.tail) - 1
			}
			b.byKey[key] = next
			b.nodes = append(b.nodes, next)
		}
		next.users = append(next.users, l)
		n = next
	}
	return n
}

// chainSteps orders backward neighbours, which are by level already, so that the
// first is positive: negative ones before it go right behind it.
func chainSteps(back []Back) []Back {
	first := slices.IndexFunc(back, func(x Back) bool { return !x.Neg })
	if first < 0 {
		return nil
	}
	steps := []Back{back[first]}
	steps = append(steps, back[:first]...)
	return append(steps, back[first+1:]...)
}

// split divides the users of n into parts by label range.
func (b *setBuilder) split(n *chainNode) {
	for _, l := range n.users {
		part := chainPart{users: []int{l}, hull: hull(b.pl.Levels[l].Ranges)}
		rest := n.parts[:0]
		for _, q := range n.parts {
			if part.hull.End == 0 || q.hull.End == 0 || part.hull.First < q.hull.End && q.hull.First < part.hull.End {
				part = chainPart{users: append(q.users, part.users...), hull: join(part.hull, q.hull)}
			} else {
				rest = append(rest, q)
			}
		}
		n.parts = append(rest, part)
	}
}

// hull is the least range around ranges; zero End where there is no limit. An
// empty list of ranges has an empty hull.
func hull(r []Range) Range {
	switch {
	case r == nil:
		return Range{}
	case len(r) == 0:
		return Range{0, 1} // nothing passes the level anyway
	}
	return Range{r[0].First, r[len(r)-1].End}
}

func join(x, y Range) Range {
	if x.End == 0 || y.End == 0 {
		return Range{}
	}
	return Range{min(x.First, y.First), max(x.End, y.End)}
}

// place numbers the nodes by level of evaluation, bases first, and gives levels
// their sets.
func (b *setBuilder) place(last []*chainNode) {
	for _, n := range b.nodes {
		b.split(n)
	}
	slices.SortStableFunc(b.nodes, func(x, y *chainNode) int {
		if x.at != y.at {
			return x.at - y.at
		}
		return x.depth - y.depth
	})
	for _, n := range b.nodes {
		for i := range n.parts {
			part := &n.parts[i]
			part.set = len(b.pl.Sets)
			b.pl.Sets = append(b.pl.Sets, b.set(n, part))
		}
	}
	for l, n := range last {
		if n != nil {
			b.pl.Levels[l].Set = n.partOf(l).set
		}
	}
}

func (n *chainNode) partOf(l int) *chainPart {
	i := slices.IndexFunc(n.parts, func(p chainPart) bool { return slices.Contains(p.users, l) })
	return &n.parts[i]
}

// set makes the node of one part.
func (b *setBuilder) set(n *chainNode, part *chainPart) Set {
	s := Set{Op: SetList, Base: -1, Adj: n.step.Adj, Of: n.step.Level, At: n.at, Range: part.hull}
	if n.parent != nil {
		s.Op, s.Base = SetAnd, n.parent.partOf(part.users[0]).set
		if n.step.Neg {
			s.Op = SetMinus
		}
	}
	below, above := ^uint32(0), ^uint32(0)
	for _, l := range part.users {
		below &= b.bound(b.less.below, l)
		above &= b.bound(b.less.above, l)
	}
	known := uint32(1)<<(n.at+1) - 1
	s.Below, s.Above = b.less.reduceBelow(below&known), b.less.reduceAbove(above&known)
	return s
}

// bound is the levels before l that bound it.
func (b *setBuilder) bound(side []uint32, l int) uint32 { return side[l] & (1<<l - 1) }

// setOnly reports whether the elements of level l's set, apart from those that
// Distinct names, are exactly its candidates.
func setOnly(pl *Plan, less *poset, l, tail int) bool {
	lv := &pl.Levels[l]
	if lv.Set < 0 || lv.Bits != nil || len(lv.Ranges) > 1 || lv.Ranges != nil && len(lv.Ranges) == 0 || len(lv.Checks) > 0 {
		return false
	}
	s := &pl.Sets[lv.Set]
	if lv.Ranges != nil && s.Range != lv.Ranges[0] {
		return false
	}
	prefix := uint32(1)<<tail - 1
	return implied(less.below[l]&prefix, s.Below, less.below) && implied(less.above[l]&prefix, s.Above, less.above)
}

// implied reports whether bounds by the levels in have imply those in want.
func implied(want uint32, have []int, closure []uint32) bool {
	for ; want != 0; want &= want - 1 {
		j := bits.TrailingZeros32(want)
		if !slices.ContainsFunc(have, func(h int) bool { return h == j || closure[h]>>j&1 != 0 }) {
			return false
		}
	}
	return true
}
