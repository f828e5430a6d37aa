package expr

import (
	"cmp"
	"math"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weftgraph/weft/internal/pattern"
)

// fastCheck compiles the conditions that searches meet most often, without making values.
// These are EXISTS and NOT EXISTS, and comparisons of names, ids, degrees, and number and string
// columns with each other or with a constant. It returns nil for other expressions.
func (s *Scope) fastCheck(x pattern.Expr) func(m []uint32, e []uint64) bool {
	if s.Err != nil {
		return nil
	}
	switch y := x.(type) {
	case pattern.Exists:
		return s.exists(y)
	case pattern.Unary:
		if sub, ok := y.X.(pattern.Exists); ok && y.Op == pattern.OpNot {
			found := s.exists(sub)
			return func(m []uint32, e []uint64) bool { return !found(m, e) }
		}
	}
	y, ok := x.(pattern.Binary)
	if !ok {
		return nil
	}
	if y.Op < pattern.OpEq || y.Op > pattern.OpGe {
		return nil
	}
	if f := s.compareIntegers(y); f != nil {
		return f
	}
	if a, ok := y.X.(pattern.ID); ok {
		if b, ok := y.Y.(pattern.ID); ok && s.Source == nil && s.Graph.IDs.Numeric() {
			ids := s.Graph.IDs.Num
			return compareRows(y.Op, ids, s.vertex(a.Vertex), s.vertex(b.Vertex))
		}
		return nil
	}
	if a, ok := y.X.(pattern.RefExpr); ok {
		if b, ok := y.Y.(pattern.RefExpr); ok && a.Of.Kind == pattern.VertexRef && b.Of.Kind == pattern.VertexRef {
			i, j := s.vertex(a.Of.Index), s.vertex(b.Of.Index)
			switch y.Op {
			case pattern.OpEq:
				return func(m []uint32, _ []uint64) bool { return m[i] == m[j] }
			case pattern.OpNe:
				return func(m []uint32, _ []uint64) bool { return m[i] != m[j] }
			}
		}
		return nil
	}
	a, ok := y.X.(pattern.Prop)
	if !ok || a.Of.Kind != pattern.VertexRef || s.Source != nil {
		return nil
	}
	col := VertexColumn(s.Graph, a.Key)
	if col == nil || col.array == nil || col.array.NullN() != 0 {
		return nil
	}
	i := s.vertex(a.Of.Index)
	if b, ok := y.Y.(pattern.Prop); ok && b.Of.Kind == pattern.VertexRef && b.Key == a.Key {
		return sameColumn(y.Op, col, i, s.vertex(b.Of.Index))
	}
	if v, ok := Constant(y.Y); ok {
		return withConstant(y.Op, col, i, v)
	}
	return nil
}

// compareRows compares two rows of one column of ordered values without NaN.
func compareRows[T cmp.Ordered](op pattern.Op, col []T, i, j int) func(m []uint32, e []uint64) bool {
	switch op {
	case pattern.OpEq:
		return func(m []uint32, _ []uint64) bool { return col[m[i]] == col[m[j]] }
	case pattern.OpNe:
		return func(m []uint32, _ []uint64) bool { return col[m[i]] != col[m[j]] }
	case pattern.OpLt:
		return func(m []uint32, _ []uint64) bool { return col[m[i]] < col[m[j]] }
	case pattern.OpLe:
		return func(m []uint32, _ []uint64) bool { return col[m[i]] <= col[m[j]] }
	case pattern.OpGt:
		return func(m []uint32, _ []uint64) bool { return col[m[i]] > col[m[j]] }
	}
	return func(m []uint32, _ []uint64) bool { return col[m[i]] >= col[m[j]] }
}

func sameColumn(op pattern.Op, c *Column, i, j int) func(m []uint32, e []uint64) bool {
	switch a := c.array.(type) {
	case *array.Int64:
		return compareRows(op, a.Values(), i, j)
	case *array.Int32:
		return compareRows(op, a.Values(), i, j)
	case *array.Float64:
		return compareRows(op, a.Values(), i, j)
	case *array.String:
		holds := comparison(op)
		return func(m []uint32, _ []uint64) bool { return holds(cmp.Compare(a.Value(int(m[i])), a.Value(int(m[j])))) }
	case *array.Dictionary:
		if a.Dictionary().NullN() != 0 {
			return nil
		}
		// Arrow's builders make dictionaries that hold each value once. If one does not, its
		// codes cannot represent values.
		if !distinctStrings(a.Dictionary()) {
			return nil
		}
		switch op {
		case pattern.OpEq:
			return func(m []uint32, _ []uint64) bool { return a.GetValueIndex(int(m[i])) == a.GetValueIndex(int(m[j])) }
		case pattern.OpNe:
			return func(m []uint32, _ []uint64) bool { return a.GetValueIndex(int(m[i])) != a.GetValueIndex(int(m[j])) }
		}
	}
	return nil
}

// distinctStrings reports whether a is a string array without repetition.
func distinctStrings(a any) bool {
	s, ok := a.(*array.String)
	if !ok {
		return false
	}
	seen := make(map[string]bool, s.Len())
	for i := range s.Len() {
		if seen[s.Value(i)] {
			return false
		}
		seen[s.Value(i)] = true
	}
	return true
}

// withConstant compares a column with a constant.
func withConstant(op pattern.Op, c *Column, i int, v Value) func(m []uint32, e []uint64) bool {
	holds := comparison(op)
	switch a := c.array.(type) {
	case *array.Int64:
		if v.Kind == Int {
			col := a.Values()
			return func(m []uint32, _ []uint64) bool { return holds(cmp.Compare(col[m[i]], v.I)) }
		}
	case *array.Float64:
		// Not for a whole number that a float64 may not hold.
		if x, ok := v.number(); ok && !math.IsNaN(x) && (v.Kind == Float || math.Abs(x) < 1<<53) {
			col := a.Values()
			ne := op == pattern.OpNe
			return func(m []uint32, _ []uint64) bool {
				y := col[m[i]]
				if y != y {
					return ne
				}
				return holds(cmp.Compare(y, x))
			}
		}
	case *array.String:
		if v.Kind == Text {
			return func(m []uint32, _ []uint64) bool { return holds(cmp.Compare(a.Value(int(m[i])), v.S)) }
		}
	case *array.Dictionary:
		words, ok := a.Dictionary().(*array.String)
		if ok && v.Kind == Text && words.NullN() == 0 {
			pass := make([]bool, words.Len())
			for k := range pass {
				pass[k] = holds(cmp.Compare(words.Value(k), v.S))
			}
			return func(m []uint32, _ []uint64) bool { return pass[a.GetValueIndex(int(m[i]))] }
		}
	}
	return nil
}
