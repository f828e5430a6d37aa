package host

import (
	"strconv"

	"github.com/weftgraph/weft/internal/expr"
	"github.com/weftgraph/weft/internal/graph/dynamic"
	"github.com/weftgraph/weft/internal/pattern"
	"github.com/weftgraph/weft/internal/plan"
	"github.com/weftgraph/weft/internal/plan/delta"
)

// conditions compiles the conditions of a pattern, for the version that the searcher searches at a time.
func (s *searcher) conditions(p *pattern.Pattern, where []delta.Condition) ([]check, error) {
	scope := expr.Scope{Source: (*source)(s), Exists: func(x pattern.Exists) (func([]uint32) bool, error) {
		return func(outer []uint32) bool { return s.subs[x.Sub].any(outer) }, nil
	}}
	out := make([]check, len(where))
	for i, x := range where {
		out[i] = scope.Check(x.Expr)
	}
	if scope.Err != nil {
		return nil, plan.Errorf("%s", scope.Err)
	}
	return out, nil
}

// source gives conditions the graph.
type source searcher

// NumericIDs implements expr.Source.
func (s *source) NumericIDs() bool { return !s.m.g.TextIDs() }

// ID implements expr.Source.
func (s *source) ID(v uint32) expr.Value {
	id := s.m.g.IDOf(v)
	if s.m.g.TextIDs() {
		return expr.Value{Kind: expr.Text, S: id.String()}
	}
	n, _ := strconv.ParseInt(id.String(), 10, 64) // below 2^63
	return expr.Value{Kind: expr.Int, I: n}
}

// Degree implements expr.Source.
func (s *source) Degree(v uint32) int64 {
	return int64(s.view.Len(v, dynamic.Either, dynamic.AnyLabel, nil, &s.degree))
}

// subSearch decides EXISTS for one sub-pattern.
type subSearch struct {
	s      *searcher
	sub    *sub
	a      [pattern.MaxVertices]uint32
	bufs   [pattern.MaxVertices][]uint32
	checks []check
}

// any reports whether the outer vertices can be continued at the version that is searched.
func (x *subSearch) any(outer []uint32) bool {
	copy(x.a[:], outer)
	return x.level(0)
}

func (x *subSearch) level(l int) bool {
	n := &x.sub.nest
	if l == len(n.levels) {
		return x.chooses()
	}
	lv := &n.levels[l]
	if l < x.sub.Outer {
		return x.fits(lv) && x.level(l+1)
	}
	first := &lv.pos[0]
next:
	for _, c := range x.s.fetch(x.a[first.of], &first.rel, lv.ranges, &x.bufs[l]) {
		for _, u := range lv.Apart {
			if x.a[u] == c {
				continue next
			}
		}
		x.a[lv.v] = c
		if x.fits(lv) && x.level(l+1) {
			return true
		}
	}
	return false
}

// fits reports whether the vertex of a level fits its label, its edges to earlier ones, and the conditions.
func (x *subSearch) fits(lv *level) bool {
	c := x.a[lv.v]
	if a := x.sub.allowed[lv.v]; a != nil && !a[x.s.m.g.ClassOf(c)] {
		return false
	}
	for i := range lv.all {
		b := &lv.all[i]
		if has(x.s.view, x.a[b.of], c, &b.rel) == b.neg {
			return false
		}
	}
	for _, i := range lv.Checks {
		if !x.checks[i](x.a[:], nil) {
			return false
		}
	}
	return true
}

// chooses reports whether data edges can be chosen for the edges of the sub-pattern.
func (x *subSearch) chooses() bool {
	if len(x.sub.Choices) == 0 {
		return true
	}
	was := x.s.chosen
	x.s.chosen = nil
	found := false
	x.s.choose(x.sub.Pattern, x.sub.pairs, x.sub.Choices, x.sub.Where, x.checks, x.a[:len(x.sub.Pattern.Vertices)], true, nil, func() bool {
		found = true
		return false
	})
	x.s.chosen = was
	return found
}
