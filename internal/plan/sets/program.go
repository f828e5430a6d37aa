package sets

import (
	"github.com/weftgraph/weft/internal/plan"
	"math/bits"
	"slices"
)

// addSets writes the set program. Each level's candidate set is a chain of set operations over
// the lists of its backward neighbours, in the order of their levels, so that chains share
// their beginnings. Equal nodes are one node (hash-consing). A node is computed at the level
// that binds its last operand, which lifts it out of the loops below (code motion; STMatch, SC
// 2022, where hoisted nodes are the intermediate sets).
//
// A bound or label range goes into a node only if all nodes and levels that use the node want
// it. Levels with disjoint ranges get separate nodes, which together read no more than one node
// for both. Other users share one node over the hull of their ranges (the multi-label merging
// of STMatch's §1.7).
//
// Without motion, for comparison, each level computes its whole chain just before it is
// entered; the levels from tail on are entered together.
func addSets(pl *plan.Plan, less *Poset, tail int, noMotion bool) {
	b := &setBuilder{pl: pl, less: less, tail: tail, noMotion: noMotion}
	steps := 0
	for l := range pl.Levels {
		steps += len(pl.Levels[l].Back)
	}
	b.slab = make([]chainNode, 0, steps)
	b.nodes = make([]*chainNode, 0, steps)
	last := make([]*chainNode, len(pl.Levels))
	for l := range pl.Levels {
		last[l] = b.chain(l)
	}
	b.place(last)
}

// chainNode is a prefix of the chains of some levels.
type chainNode struct {
	parent        *chainNode
	first, beside *chainNode // the first that goes on from here; the next of the same parent
	step          plan.Back
	depth         int
	users         uint32 // levels whose chains pass through here
	at            int
	// parts splits the users by label range; each part becomes a node.
	parts []chainPart
}

type chainPart struct {
	users uint32
	hull  plan.Range // zero End: no limit
	set   int        // index in Plan.Sets, once placed
}

type setBuilder struct {
	pl       *plan.Plan
	less     *Poset
	slab     []chainNode // of all nodes
	nodes    []*chainNode
	root     chainNode // the parent of all beginnings
	tail     int
	noMotion bool
}

// chain adds the chain of level l and returns its last node, nil where there is
// no positive backward neighbour.
func (b *setBuilder) chain(l int) *chainNode {
	back := b.pl.Levels[l].Back
	// Backward neighbours are by level already; the first has to be positive, so
	// that negative ones before it go right behind it.
	first := slices.IndexFunc(back, func(x plan.Back) bool { return !x.Neg })
	if first < 0 {
		return nil
	}
	n := &b.root
	if b.noMotion {
		n = &chainNode{}
	}
	for i := range back {
		s := back[i]
		switch {
		case i == 0:
			s = back[first]
		case i <= first:
			s = back[i-1]
		}
		n = b.child(n, s, i)
		if b.noMotion {
			n.at = min(l, b.tail) - 1
		}
		n.users |= 1 << l
	}
	return n
}

// child returns the node that step makes of n.
func (b *setBuilder) child(n *chainNode, step plan.Back, depth int) *chainNode {
	for c := n.first; c != nil; c = c.beside {
		if c.step == step {
			return c
		}
	}
	b.slab = append(b.slab, chainNode{step: step, depth: depth, at: step.Level, beside: n.first})
	c := &b.slab[len(b.slab)-1] // the slab holds all nodes
	if depth > 0 {
		c.parent, c.at = n, max(n.at, step.Level)
	}
	n.first = c
	b.nodes = append(b.nodes, c)
	return c
}

// split divides the users of n into parts by label range.
func (b *setBuilder) split(n *chainNode) {
	for m := n.users; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		part := chainPart{users: 1 << l, hull: hull(b.pl.Levels[l].Ranges)}
		rest := n.parts[:0]
		for _, q := range n.parts {
			if part.hull.End == 0 || q.hull.End == 0 || part.hull.First < q.hull.End && q.hull.First < part.hull.End {
				part = chainPart{users: q.users | part.users, hull: join(part.hull, q.hull)}
			} else {
				rest = append(rest, q)
			}
		}
		n.parts = append(rest, part)
	}
}

// hull is the least range around ranges; zero End where there is no limit. An
// empty list of ranges has an empty hull.
func hull(r []plan.Range) plan.Range {
	switch {
	case r == nil:
		return plan.Range{}
	case len(r) == 0:
		return plan.Range{First: 0, End: 1} // nothing passes the level anyway
	}
	return plan.Range{First: r[0].First, End: r[len(r)-1].End}
}

func join(x, y plan.Range) plan.Range {
	if x.End == 0 || y.End == 0 {
		return plan.Range{}
	}
	return plan.Range{First: min(x.First, y.First), End: max(x.End, y.End)}
}

// place numbers the nodes by level of evaluation, bases first, and gives levels
// their sets.
func (b *setBuilder) place(last []*chainNode) {
	parts := 0
	for _, n := range b.nodes {
		b.split(n)
		parts += len(n.parts)
	}
	b.pl.Sets = make([]plan.Set, 0, parts)
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
	i := slices.IndexFunc(n.parts, func(p chainPart) bool { return p.users>>l&1 != 0 })
	return &n.parts[i]
}

// set makes the node of one part.
func (b *setBuilder) set(n *chainNode, part *chainPart) plan.Set {
	s := plan.Set{Op: plan.SetList, Base: -1, Adj: n.step.Adj, Of: n.step.Level, At: n.at, Range: part.hull}
	if n.parent != nil {
		s.Op, s.Base = plan.SetAnd, n.parent.partOf(bits.TrailingZeros32(part.users)).set
		if n.step.Neg {
			s.Op = plan.SetMinus
		}
	}
	below, above := ^uint32(0), ^uint32(0)
	for m := part.users; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
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
func setOnly(pl *plan.Plan, less *Poset, l, tail int) bool {
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
