package expr

import (
	"math"

	"github.com/weftgraph/weft/internal/pattern"
)

// bounded is an expression that is always an integer, and in [least, most].
type bounded struct {
	of          func(m []uint32) int64
	least, most int64
}

// integer compiles degrees, whole constants, and their sums and differences, without making values. ok is false for other
// expressions, and for those that might overflow.
func (s *Scope) integer(x pattern.Expr) (n bounded, ok bool) {
	switch x := x.(type) {
	case pattern.Lit:
		v := Literal(x.Value)
		return bounded{func([]uint32) int64 { return v.I }, v.I, v.I}, v.Kind == Int
	case pattern.Deg:
		at, degree := s.vertex(x.Vertex), s.degree()
		return bounded{func(m []uint32) int64 { return degree(m[at]) }, 0, math.MaxUint32}, true
	case pattern.Binary:
		if x.Op != pattern.OpAdd && x.Op != pattern.OpSub {
			return n, false
		}
		a, ok1 := s.integer(x.X)
		b, ok2 := s.integer(x.Y)
		if !ok1 || !ok2 {
			return n, false
		}
		if x.Op == pattern.OpAdd {
			n.of = func(m []uint32) int64 { return a.of(m) + b.of(m) }
		} else {
			n.of = func(m []uint32) int64 { return a.of(m) - b.of(m) }
			b.least, b.most = b.most, b.least
		}
		n.least, ok1 = pattern.IntArithmetic(x.Op, a.least, b.least)
		n.most, ok2 = pattern.IntArithmetic(x.Op, a.most, b.most)
		return n, ok1 && ok2
	}
	return n, false
}

// degree returns the function behind deg().
func (s *Scope) degree() func(v uint32) int64 {
	switch {
	case s.Degree != nil:
		return s.Degree
	case s.Source != nil:
		return s.Source.Degree
	}
	any := s.Graph.Flat(s.Graph.Any())
	return func(v uint32) int64 { return int64(any.Degree(v)) }
}

// compareIntegers compares two such expressions. It returns nil for other expressions.
func (s *Scope) compareIntegers(x pattern.Binary) func(m []uint32, e []uint64) bool {
	a, ok := s.integer(x.X)
	if !ok {
		return nil
	}
	b, ok := s.integer(x.Y)
	if !ok {
		return nil
	}
	f, g := a.of, b.of
	switch x.Op {
	case pattern.OpEq:
		return func(m []uint32, _ []uint64) bool { return f(m) == g(m) }
	case pattern.OpNe:
		return func(m []uint32, _ []uint64) bool { return f(m) != g(m) }
	case pattern.OpLt:
		return func(m []uint32, _ []uint64) bool { return f(m) < g(m) }
	case pattern.OpLe:
		return func(m []uint32, _ []uint64) bool { return f(m) <= g(m) }
	case pattern.OpGt:
		return func(m []uint32, _ []uint64) bool { return f(m) > g(m) }
	}
	return func(m []uint32, _ []uint64) bool { return f(m) >= g(m) }
}
