package oracle

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/weftgraph/weft/internal/pattern"
)

// evaluator gives values to expressions: nil (NULL), bool, int64, float64, string or []any.
// Logic has three values. A comparison of values that cannot be compared is NULL.
type evaluator struct {
	s     *search
	edges map[int]*edge // by pattern edge
}

func (v evaluator) value(x pattern.Expr) any {
	switch x := x.(type) {
	case pattern.Lit:
		return normal(x.Value)
	case pattern.Prop:
		if x.Of.Kind == pattern.VertexRef {
			return v.s.w.vertexProp(v.s.m[x.Of.Index], x.Key)
		}
		if d := v.edges[x.Of.Index]; d != nil {
			return d.props[x.Key]
		}
		return nil
	case pattern.ID:
		ids := &v.s.w.g.IDs
		if ids.Numeric() {
			return ids.Int(v.s.m[x.Vertex])
		}
		return ids.String(v.s.m[x.Vertex])
	case pattern.Deg:
		return int64(len(v.s.w.neighbours[v.s.m[x.Vertex]]))
	case pattern.AllDifferent:
		seen := map[any]bool{}
		for _, r := range x.Refs {
			seen[v.identity(r)] = true
		}
		return len(seen) == len(x.Refs)
	case pattern.Exists:
		return v.s.exists(x)
	case pattern.List:
		out := []any{}
		for _, i := range x.Items {
			out = append(out, v.value(i))
		}
		return out
	case pattern.Unary:
		return v.unary(x)
	case pattern.Binary:
		return v.binary(x)
	}
	return nil
}

// identity tells data vertices and data edges apart.
func (v evaluator) identity(r pattern.Ref) any {
	if r.Kind == pattern.VertexRef {
		return v.s.m[r.Index]
	}
	return v.edges[r.Index].id
}

func (v evaluator) unary(x pattern.Unary) any {
	val := v.value(x.X)
	switch x.Op {
	case pattern.OpIsNull:
		return val == nil
	case pattern.OpIsNotNull:
		return val != nil
	case pattern.OpNot:
		if b, ok := val.(bool); ok {
			return !b
		}
	case pattern.OpNeg:
		switch n := val.(type) {
		case int64:
			return whole(new(big.Int).Neg(big.NewInt(n)))
		case float64:
			return -n
		case timed:
			if n.span {
				m := timeArithmetic(pattern.OpMul, n, int64(-1)).(timed)
				m.literal = n.literal
				return m
			}
			return arithmetic(pattern.OpSub, int64(0), n.raw)
		}
	}
	return nil
}

func (v evaluator) binary(x pattern.Binary) any {
	if a, ok := x.X.(pattern.RefExpr); ok {
		b, ok := x.Y.(pattern.RefExpr)
		if !ok {
			return nil
		}
		same := a.Of.Kind == b.Of.Kind && v.identity(a.Of) == v.identity(b.Of)
		switch x.Op {
		case pattern.OpEq:
			return same
		case pattern.OpNe:
			return !same
		}
		return nil
	}
	a, b := v.beside(x.X, x.Y), v.beside(x.Y, x.X)
	switch x.Op {
	case pattern.OpAnd:
		switch {
		case a == false || b == false:
			return false
		case a == true && b == true:
			return true
		}
		return nil
	case pattern.OpOr:
		switch {
		case a == true || b == true:
			return true
		case a == false && b == false:
			return false
		}
		return nil
	case pattern.OpIn:
		list, ok := b.([]any)
		if !ok || a == nil {
			return nil
		}
		var found any = false
		for _, item := range list {
			switch equal(a, item) {
			case true:
				return true
			case nil:
				found = nil
			}
		}
		return found
	case pattern.OpEq:
		return equal(a, b)
	case pattern.OpNe:
		if e, ok := equal(a, b).(bool); ok {
			return !e
		}
		return nil
	case pattern.OpLt, pattern.OpLe, pattern.OpGt, pattern.OpGe:
		c, ok := compare(a, b)
		if !ok {
			return nil
		}
		switch x.Op {
		case pattern.OpLt:
			return c < 0
		case pattern.OpLe:
			return c <= 0
		case pattern.OpGt:
			return c > 0
		default:
			return c >= 0
		}
	}
	return arithmetic(x.Op, a, b)
}

// beside is the value of x when it is compared with other. A constant that is compared with an
// id is a number if the graph's ids are numbers, and a text if they are texts.
func (v evaluator) beside(x, other pattern.Expr) any {
	val := v.value(x)
	if _, id := other.(pattern.ID); !id || len(pattern.Refs(x)) > 0 {
		return val
	}
	numeric := v.s.w.g.IDs.Numeric()
	var convert func(any) any
	convert = func(val any) any {
		switch c := val.(type) {
		case []any:
			out := make([]any, len(c))
			for i := range c {
				out[i] = convert(c[i])
			}
			return out
		case string:
			if n, ok := new(big.Int).SetString(c, 10); ok && numeric && n.IsInt64() {
				return n.Int64()
			}
		case int64:
			if !numeric {
				return strconv.FormatInt(c, 10)
			}
		}
		return val
	}
	switch x.(type) {
	case pattern.Lit, pattern.List:
		return convert(val)
	}
	return val
}

// equal is true, false or NULL; values of different kinds are not equal.
func equal(a, b any) any {
	if a == nil || b == nil {
		return nil
	}
	if p, ok := a.(bool); ok {
		q, ok := b.(bool)
		return ok && p == q
	}
	c, ok := compare(a, b)
	return ok && c == 0
}

// compare orders two numbers or two strings; anything else, and NaN, has no
// order.
func compare(a, b any) (int, bool) {
	if s, ok := a.(string); ok {
		t, ok := b.(string)
		return strings.Compare(s, t), ok
	}
	s, timed1 := a.(timed)
	t, timed2 := b.(timed)
	switch {
	case timed1 && timed2:
		return compareTimes(s, t)
	case timed1:
		a = s.raw
	case timed2:
		b = t.raw
	}
	x, y := precise(a), precise(b)
	if x == nil || y == nil {
		return 0, false
	}
	return x.Cmp(y), true
}

// precise is a number without rounding, or nil for NaN and for other values.
func precise(a any) *big.Float {
	switch a := a.(type) {
	case int64:
		return new(big.Float).SetInt64(a)
	case float64:
		if !math.IsNaN(a) {
			return big.NewFloat(a)
		}
	}
	return nil
}

// whole is z, as a float64 where 63 bits do not hold it.
func whole(z *big.Int) any {
	if z.IsInt64() {
		return z.Int64()
	}
	f, _ := z.Float64()
	return f
}

func float(a any) (float64, bool) {
	switch a := a.(type) {
	case int64:
		return float64(a), true
	case float64:
		return a, true
	}
	return 0, false
}

// arithmetic stays in integers between integers, as long as 63 bits hold the
// result; division by zero is NULL.
func arithmetic(op pattern.Op, a, b any) any {
	if s, ok := a.(string); ok && op == pattern.OpAdd {
		if t, ok := b.(string); ok {
			return s + t
		}
		return nil
	}
	if _, ok := a.(timed); ok {
		return timeArithmetic(op, a, b)
	}
	if _, ok := b.(timed); ok {
		return timeArithmetic(op, a, b)
	}
	x, ok1 := float(a)
	y, ok2 := float(b)
	divides := op == pattern.OpDiv || op == pattern.OpMod
	if !ok1 || !ok2 || divides && y == 0 {
		return nil
	}
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	if ok1 && ok2 {
		p, q, z := big.NewInt(i), big.NewInt(j), new(big.Int)
		switch op {
		case pattern.OpAdd:
			z.Add(p, q)
		case pattern.OpSub:
			z.Sub(p, q)
		case pattern.OpMul:
			z.Mul(p, q)
		case pattern.OpDiv:
			z.Quo(p, q)
		default:
			z.Rem(p, q)
		}
		if z.IsInt64() {
			return z.Int64()
		}
	}
	switch op {
	case pattern.OpAdd:
		return x + y
	case pattern.OpSub:
		return x - y
	case pattern.OpMul:
		return x * y
	case pattern.OpDiv:
		return x / y
	}
	return math.Mod(x, y)
}

// normal widens the numbers that a caller may have put into a literal.
func normal(x any) any {
	switch x := x.(type) {
	case int:
		return int64(x)
	case int32:
		return int64(x)
	case uint32:
		return int64(x)
	case float32:
		return float64(x)
	case pattern.Timestamp:
		return timed{raw: x.Nanos, unit: big.NewRat(1, 1), known: true, literal: true}
	case pattern.Duration:
		return timed{raw: x.Nanos, unit: big.NewRat(1, 1), span: true, known: true, literal: true}
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = normal(x[i])
		}
		return out
	}
	return x
}
