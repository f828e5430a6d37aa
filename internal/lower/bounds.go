package lower

import (
	"fmt"
	"slices"

	"github.com/weftgraph/weft/internal/kir"
	"github.com/weftgraph/weft/internal/plan"
)

// bounds are the ids lo ≤ x < hi that a set or a level allows: the ids of
// earlier vertices and a range.
type bounds struct {
	below, above []int
	first, end   *kir.GlobalDef // nil: no limit
}

// nodeBounds are those that node i names.
func (x *lowering) nodeBounds(i int) bounds {
	s := &x.nodes[i]
	b := bounds{below: s.Below, above: s.Above}
	if s.Range.End != 0 {
		b.first, b.end = x.rangeLimits(s.Range)
	}
	return b
}

// levelBounds are level l's own, with those restrictions only that refer to a
// level before end.
func (x *lowering) levelBounds(l, end int) bounds {
	lv := &x.p.Levels[l]
	before := func(levels []int) []int {
		return slices.DeleteFunc(slices.Clone(levels), func(j int) bool { return j >= end })
	}
	b := bounds{below: before(lv.Below), above: before(lv.Above)}
	r := x.oneRange(l)
	if lv.Ranges != nil {
		b.first, b.end = x.rangeLimits(r)
	}
	if d, ok := x.degreeEnd(l); ok && !slices.ContainsFunc(b.below, func(j int) bool { return x.degreeImplied(l, j) }) {
		b.end = d
	}
	return b
}

// oneRange is the range around all that level l's labels allow.
func (x *lowering) oneRange(l int) plan.Range {
	rs := x.p.Levels[l].Ranges
	switch {
	case rs == nil:
		return plan.Range{First: 0, End: uint32(x.p.Graph.NumVertices())}
	case len(rs) == 0:
		return plan.Range{}
	}
	return plan.Range{First: rs[0].First, End: rs[len(rs)-1].End}
}

func (x *lowering) rangeLimits(r plan.Range) (first, end *kir.GlobalDef) {
	name := x.rangeName(r)
	return x.limitOf(name+" first", r.First), x.limitOf(name+" end", r.End)
}

// rangeName tells ranges apart by the order in which the plan names them, and
// not by their ids, which are the graph's.
func (x *lowering) rangeName(r plan.Range) string {
	n := x.ranges[r]
	if n == 0 {
		n = len(x.ranges) + 1
		x.ranges[r] = n
	}
	return fmt.Sprintf("range %d", n)
}

// without drops bounds that inner bounds imply.
func (b bounds) without(inner bounds) bounds {
	drop := func(levels, have []int) []int {
		return slices.DeleteFunc(slices.Clone(levels), func(j int) bool { return slices.Contains(have, j) })
	}
	b.below, b.above = drop(b.below, inner.below), drop(b.above, inner.above)
	if b.first == inner.first {
		b.first = nil
	}
	if b.end == inner.end {
		b.end = nil
	}
	return b
}

// and is b with further bounds. A range of c is inside b's.
func (b bounds) and(c bounds) bounds {
	more := c.without(b)
	b.below, b.above = append(slices.Clone(b.below), more.below...), append(slices.Clone(b.above), more.above...)
	if more.first != nil {
		b.first = more.first
	}
	if more.end != nil {
		b.end = more.end
	}
	return b
}

func (b bounds) none() bool {
	return len(b.below)+len(b.above) == 0 && b.first == nil && b.end == nil
}

// vertices gives the vertex matched at a level.
type vertices func(level int) kir.Expr

// limits are the expressions lo and hi, nil for no limit.
func (b bounds) limits(m vertices) (lo, hi kir.Expr) {
	if b.first != nil {
		lo = kir.G(b.first)
	}
	if b.end != nil {
		hi = kir.G(b.end)
	}
	for _, j := range b.below {
		hi = narrow(kir.Min, hi, m(j))
	}
	for _, j := range b.above {
		lo = narrow(kir.Max, lo, kir.Op2(kir.Add, m(j), kir.C(1)))
	}
	return lo, hi
}

func narrow(op kir.Op, x, y kir.Expr) kir.Expr {
	if x == nil {
		return y
	}
	return kir.Op2(op, x, y)
}

// cut is the part of a set within b.
func (b bounds) cut(set kir.Expr, m vertices) kir.Expr {
	if b.none() {
		return set
	}
	lo, hi := b.limits(m)
	if lo == nil {
		lo = kir.C(0)
	}
	if hi == nil {
		hi = kir.C(^uint32(0))
	}
	return kir.Fn(kir.Slice, set, lo, hi)
}

// holds are the tests that b makes of one vertex.
func (b bounds) holds(v kir.Expr, m vertices) (out []kir.Expr) {
	if b.first != nil {
		out = append(out, kir.Op2(kir.Ge, v, kir.G(b.first)))
	}
	if b.end != nil {
		out = append(out, kir.Op2(kir.Lt, v, kir.G(b.end)))
	}
	for _, j := range b.below {
		out = append(out, kir.Op2(kir.Lt, v, m(j)))
	}
	for _, j := range b.above {
		out = append(out, kir.Op2(kir.Gt, v, m(j)))
	}
	return out
}

// list is the neighbours of level of's vertex in adjacency a. If b bounds by that vertex, the
// list is cut there; rest is the other bounds of b.
func (x *lowering) list(a, of int, b bounds, m vertices) (set kir.Expr, rest bounds) {
	fn := kir.List
	switch {
	case slices.Contains(b.below, of):
		fn = kir.Below
		b = b.without(bounds{below: []int{of}})
	case slices.Contains(b.above, of):
		fn = kir.Above
		b = b.without(bounds{above: []int{of}})
	}
	if fn != kir.List {
		x.adjs[a].Oriented = true
	}
	return kir.Fn(fn, kir.G(x.adjs[a]), m(of)), b
}
